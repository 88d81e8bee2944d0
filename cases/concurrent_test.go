package cases_test

import (
	"bytes"
	"context"
	"sync/atomic"
	"testing"
	"time"
)

const copies = 20

// hold stops the first delivery with its key claimed until the func it gives is
// called; reached is closed when it stands there. then is done to it, and to its
// second try: what fails in a group goes alone.
func (r *rig) hold(then func()) (reached <-chan struct{}, release func()) {
	at, go_on := make(chan struct{}), make(chan struct{})
	var tries atomic.Int32
	r.gateway.Hook = func(point string) {
		if point != "claim" {
			return
		}
		n := tries.Add(1)
		if n == 1 {
			close(at)
			<-go_on
		}
		if n <= 2 && then != nil {
			then()
		}
	}
	return at, func() { close(go_on) }
}

// cut ends the connection of every transaction that stands still.
func (r *rig) cut() {
	_, err := r.pool.Exec(context.Background(),
		`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`)
	if err != nil {
		r.t.Error(err)
	}
}

// sendAll sends copies at once and gives each answer as it comes.
func (r *rig) sendAll(n int, q request) <-chan *answer {
	answers := make(chan *answer, n)
	for range n {
		go func() { answers <- send(r.t, r.url, q) }()
	}
	return answers
}

func race(t *testing.T) request { return request{body: input(t, "44-concurrent-duplicate.http")} }

func copiesWait(t *testing.T, r *rig) {
	q := race(t)
	r.gateway.Wait = time.Minute
	reached, release := r.hold(nil)
	first := r.sendAll(1, q)
	<-reached
	others := r.sendAll(copies-1, q)
	time.Sleep(100 * time.Millisecond) // for them to arrive; one that comes later finds the same
	release()
	one := <-first
	if one.status != 201 || one.verdict() != "first" {
		t.Fatalf("the first was answered %v", one.lines(t))
	}
	for range copies - 1 {
		if a := <-others; a.status != 200 || a.verdict() != "duplicate" || !bytes.Equal(a.body, one.body) {
			t.Fatalf("a copy was answered %d %s:\n%s\nthe first\n%s", a.status, a.verdict(), a.body, one.body)
		}
	}
	r.postedOnce("RG-29")
}

// copiesAreBusy holds the first until every other copy has its answer: under its
// Idempotency-Key, and without one past the wait.
func copiesAreBusy(t *testing.T, r *rig) {
	q := race(t)
	r.gateway.Wait = 20 * time.Millisecond
	reached, release := r.hold(nil)
	keyed := q
	keyed.id = "race-1"
	first := r.sendAll(1, keyed)
	<-reached
	under, without := r.sendAll(copies/2, keyed), r.sendAll(copies/2-1, q)
	for i := range copies - 1 {
		var a *answer
		if i < copies/2 {
			a = <-under
		} else {
			a = <-without
		}
		never(t, a)
		if a.status != 409 || a.header.Get("Retry-After") == "" {
			t.Fatalf("a copy was answered %d: %s", a.status, a.body)
		}
	}
	release()
	one := <-first
	if one.status != 201 {
		t.Fatalf("the first was answered %v", one.lines(t))
	}
	for range copies - 1 {
		if a := send(t, r.url, keyed); a.status != 200 || !bytes.Equal(a.body, one.body) {
			t.Fatalf("a copy that came again was answered %d: %s", a.status, a.body)
		}
	}
	r.postedOnce("RG-29")
}

func oneCopyTakesOver(t *testing.T, r *rig) {
	q := race(t)
	r.gateway.Wait = time.Minute
	reached, release := r.hold(r.cut)
	first := r.sendAll(1, q)
	<-reached
	others := r.sendAll(copies-1, q)
	time.Sleep(100 * time.Millisecond)
	release()
	if a := <-first; a.status != 503 || a.header.Get("Retry-After") == "" {
		t.Fatalf("the first, rolled back, was answered %d: %s", a.status, a.body)
	}
	told := map[int]int{}
	for range copies - 1 {
		a := <-others
		never(t, a)
		told[a.status]++
	}
	if told[201] != 1 || told[200] != copies-2 {
		t.Fatalf("the others were answered %v, want one 201 and the rest 200", told)
	}
	r.postedOnce("RG-29")
}

func (r *rig) postedOnce(number string) {
	r.t.Helper()
	if n := r.count(`select count(*) from document where number = $1`, number); n != 1 {
		r.t.Fatalf("%s was posted %d times", number, n)
	}
}

// rolledBackGoesThrough loses the connection at each point before COMMIT.
func rolledBackGoesThrough(t *testing.T, r *rig) {
	q := request{id: "46", body: input(t, "46-failed-then-resent.edi")}
	for _, lost := range []string{"begin", "claim", "first document", "last document", "acknowledgement", "before commit"} {
		r.gateway.Hook = func(point string) { // of both tries: what fails in a group goes alone
			if point == lost {
				r.cut()
			}
		}
		a := send(t, r.url, q)
		never(t, a)
		if a.status != 503 || a.header.Get("Retry-After") == "" {
			t.Fatalf("lost at %q: answered %d: %s", lost, a.status, a.body)
		}
		for _, table := range []string{"inbox", "document", "document_key", "payload", "acknowledgement", "delivery", "outbox"} {
			if n := r.count(`select count(*) from ` + table); n != 0 {
				t.Fatalf("lost at %q: %d rows stay in %s", lost, n, table)
			}
		}
	}
	r.gateway.Hook = nil
	r.step(step{send: "46-failed-then-resent.edi", id: q.id, want: accepted("REF000412", "RG-32"), stored: invoice("RG-32", "")})
}
