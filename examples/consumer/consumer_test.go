package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/pgtest"
)

const token = "edigw_t_viewer"

// told is a CloudEvent as docs/reference/events.md has it.
func told(id int, kind, data string) string {
	return fmt.Sprintf(`{"specversion":"1.0","id":"event-%d","source":"/partners/acme","type":"io.edigw.%s","subject":"acme/x",`+
		`"time":"2026-11-29T22:24:36.771Z","partnerid":"acme","datacontenttype":"application/json","data":%s}`, id, kind, data)
}

func created(id int, document string) string {
	return told(id, "document.created", `{"document_id":"`+document+`","class":"invoice"}`)
}

// edigwAPI answers as edigw's API does: the feed, two events at a time, and each
// document as an invoice of its name.
type edigwAPI struct {
	mu     sync.Mutex
	events []string
	void   map[string]bool // documents that do not stand
	purged map[string]bool // documents that are no longer kept
	fails  int             // how often a document cannot be told
}

func (a *edigwAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer "+token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if id, ok := strings.CutPrefix(r.URL.Path, "/api/v1/documents/"); ok {
		if a.fails > 0 {
			a.fails--
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if a.purged[id] {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"type":"https://edigw.dev/problems/not-found","title":"There is no such thing","status":404,"detail":"no document `+"`+id+`"+`"}`)
			return
		}
		fmt.Fprintf(w, `{"document_id":%q,"class":"invoice","number":"N-%s","live":%v,"currency":"EUR","totals":{"payable":"119.00"}}`, id, id, !a.void[id])
		return
	}
	from := 0
	if v := r.URL.Query().Get("after"); v != "" {
		var err error
		if from, err = strconv.Atoi(v); err != nil || r.URL.Query().Get("type") != "document.*" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if from > len(a.events) { // restored from a backup
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"type":"https://edigw.dev/problems/bad-parameter","title":"A parameter cannot be understood","status":400,"detail":"the cursor stands ahead"}`)
			return
		}
	}
	to := min(from+2, len(a.events))
	items := make([]json.RawMessage, 0, 2)
	for _, e := range a.events[from:to] {
		items = append(items, json.RawMessage(e))
	}
	if err := json.NewEncoder(w).Encode(page{Items: items, Next: strconv.Itoa(to), More: to-from == 2}); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// rig is a consumer on a database of its own.
type rig struct {
	*consumer
	t   *testing.T
	api *edigwAPI
	gw  *gateway
}

func newRig(t *testing.T) *rig {
	t.Helper()
	pool := pgtest.Pool(t, pgtest.EmptyURL(t))
	for range 2 { // as at each start
		if err := prepare(t.Context(), pool); err != nil {
			t.Fatal(err)
		}
	}
	r := &rig{t: t, api: &edigwAPI{void: map[string]bool{}, purged: map[string]bool{}}}
	s := httptest.NewServer(r.api)
	t.Cleanup(s.Close)
	r.gw = &gateway{url: s.URL, token: token, http: s.Client()}
	r.consumer = &consumer{pool: pool, document: r.gw.document}
	return r
}

// payables lists the ledger.
func (r *rig) payables() []string {
	r.t.Helper()
	return lines(r.t, r.pool, `select document_id || ' ' || partner || ' ' || number || ' ' || amount || ' ' || currency || ' ' || state from payable order by 1`)
}

func lines(t *testing.T, pool *pgxpool.Pool, sql string) []string {
	t.Helper()
	rows, err := pool.Query(context.Background(), sql)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// all takes pages until there is no more.
func (r *rig) all() error {
	for {
		more, err := step(r.t.Context(), r.consumer, r.gw)
		if err != nil || !more {
			return err
		}
	}
}

func TestFeed(t *testing.T) {
	t.Run("each invoice is payable once, and what superseded it is heeded", func(t *testing.T) {
		r := newRig(t)
		r.api.events = []string{created(1, "a"), created(2, "b"), told(3, "document.superseded", `{"document_id":"a","by":"b","cancelled":false}`),
			created(4, "c"), told(5, "document.superseded", `{"document_id":"c","cancelled":true}`)}
		if err := r.all(); err != nil {
			t.Fatal(err)
		}
		want := []string{"a acme N-a 119.00 EUR replaced", "b acme N-b 119.00 EUR due", "c acme N-c 119.00 EUR cancelled"}
		if diff := cmp.Diff(want, r.payables()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("an event that comes again causes nothing", func(t *testing.T) {
		r := newRig(t)
		r.api.events = []string{created(1, "a"), created(1, "a"), told(2, "document.superseded", `{"document_id":"a","cancelled":true}`), created(1, "a")}
		if err := r.all(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"a acme N-a 119.00 EUR cancelled"}, r.payables()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a page that broke off is read again, and goes on", func(t *testing.T) {
		r := newRig(t)
		r.api.events = []string{created(1, "a"), created(2, "b"), created(3, "c")}
		broken := errors.New("the process died")
		r.document = func(ctx context.Context, id string) (document, error) {
			if id == "b" {
				return document{}, broken
			}
			return r.gw.document(ctx, id)
		}
		if err := r.all(); !errors.Is(err, broken) || len(r.payables()) != 1 {
			t.Fatalf("%v, %v", err, r.payables())
		}
		if place := lines(t, r.pool, `select after from feed_place`); len(place) != 0 {
			t.Errorf("the place went on to %v", place)
		}
		r.document = r.gw.document
		if err := r.all(); err != nil || len(r.payables()) != 3 {
			t.Errorf("%v, %v", err, r.payables())
		}
		if place := lines(t, r.pool, `select after from feed_place`); place[0] != "3" {
			t.Errorf("the place is %v", place)
		}
	})
	t.Run("an effect that fails leaves no id behind", func(t *testing.T) {
		r := newRig(t)
		r.api.events = []string{created(1, "a")}
		if _, err := r.pool.Exec(t.Context(), `alter table payable add constraint no_a check (document_id <> 'a')`); err != nil {
			t.Fatal(err)
		}
		if err := r.all(); err == nil || len(lines(t, r.pool, `select event_id from consumed_event`)) != 0 {
			t.Errorf("%v", err)
		}
		if _, err := r.pool.Exec(t.Context(), `alter table payable drop constraint no_a`); err != nil {
			t.Fatal(err)
		}
		if err := r.all(); err != nil || len(r.payables()) != 1 {
			t.Errorf("%v, %v", err, r.payables())
		}
	})
	t.Run("copies at once: one has the effect", func(t *testing.T) {
		r := newRig(t)
		e, err := readEvent([]byte(created(1, "a")))
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if err := r.consume(t.Context(), e, nil); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(r.payables()) != 1 {
			t.Errorf("%v", r.payables())
		}
	})
	t.Run("a document that is no longer kept stops nobody", func(t *testing.T) {
		r := newRig(t)
		r.api.purged["a"] = true
		r.api.events = []string{created(1, "a"), created(2, "b")}
		if err := r.all(); err != nil || len(r.payables()) != 1 {
			t.Errorf("%v, %v", err, r.payables())
		}
		if ids := lines(t, r.pool, `select event_id from consumed_event order by 1`); len(ids) != 2 {
			t.Errorf("%v are kept", ids)
		}
	})
	t.Run("a page that is not edigw's own says nothing of a document", func(t *testing.T) {
		r := newRig(t)
		s := httptest.NewServer(http.NotFoundHandler())
		defer s.Close()
		r.gw.url = s.URL
		if _, err := r.gw.document(t.Context(), "a"); err == nil || errors.Is(err, errNotKept) {
			t.Errorf("%v", err)
		}
	})
	t.Run("a place that edigw does not know after a restore begins anew, and nothing is done twice", func(t *testing.T) {
		r := newRig(t)
		r.api.events = []string{created(1, "a"), created(2, "b"), created(3, "c")}
		if err := r.all(); err != nil {
			t.Fatal(err)
		}
		r.api.events = []string{created(1, "a"), created(4, "d")}
		if err := r.all(); err != nil {
			t.Fatal(err)
		}
		want := []string{"a acme N-a 119.00 EUR due", "b acme N-b 119.00 EUR due", "c acme N-c 119.00 EUR due", "d acme N-d 119.00 EUR due"}
		if diff := cmp.Diff(want, r.payables()); diff != "" {
			t.Error(diff)
		}
		if place := lines(t, r.pool, `select after from feed_place`); len(place) != 1 || place[0] != "2" {
			t.Errorf("the place is %v", place)
		}
	})
	t.Run("what does not stand is not payable, and a type that is not known stops nobody", func(t *testing.T) {
		r := newRig(t)
		r.api.void["a"] = true
		r.api.events = []string{created(1, "a"), told(2, "document.printed", `{"copies":1}`), created(3, "b")}
		if err := r.all(); err != nil || len(r.payables()) != 1 {
			t.Errorf("%v, %v", err, r.payables())
		}
	})
}

func TestWebhook(t *testing.T) {
	r := newRig(t)
	old, current := []byte(strings.Repeat("o", 32)), []byte(strings.Repeat("c", 32))
	secrets, err := readSecrets("whsec_" + base64.StdEncoding.EncodeToString(old) + " whsec_" + base64.StdEncoding.EncodeToString(current))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_800_000_000, 0)
	h := &webhook{consumer: r.consumer, secrets: secrets, now: func() time.Time { return now }}
	sign := func(id, stamp, body string, keys ...[]byte) string {
		var all []string
		for _, k := range keys {
			mac := hmac.New(sha256.New, k)
			mac.Write([]byte(id + "." + stamp + "." + body))
			all = append(all, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		}
		return strings.Join(all, " ")
	}
	at := func(d time.Duration) string { return strconv.FormatInt(now.Add(d).Unix(), 10) }
	body := created(1, "a")
	stranger := []byte(strings.Repeat("s", 32))
	for _, c := range []struct {
		name, id, stamp, signature, body string
		fails, status, payables          int
	}{
		{"nobody has signed", "event-1", at(0), "", body, 0, 401, 0},
		{"a stranger has", "event-1", at(0), sign("event-1", at(0), body, stranger), body, 0, 401, 0},
		{"another body was signed", "event-1", at(0), sign("event-1", at(0), body+" ", current), body, 0, 401, 0},
		{"it was kept for an hour", "event-1", at(-time.Hour), sign("event-1", at(-time.Hour), body, current), body, 0, 401, 0},
		{"it comes from the future", "event-1", at(time.Hour), sign("event-1", at(time.Hour), body, current), body, 0, 401, 0},
		{"an older version of signatures", "event-1", at(0), strings.ReplaceAll(sign("event-1", at(0), body, current), "v1,", "v0,"), body, 0, 401, 0},
		{"it is no event", "event-1", at(0), sign("event-1", at(0), "{}", current), "{}", 0, 400, 0},
		{"the id is another's", "event-2", at(0), sign("event-2", at(0), body, current), body, 0, 400, 0},
		{"the API does not answer", "event-1", at(0), sign("event-1", at(0), body, current), body, 1, 503, 0},
		{"then it comes again", "event-1", at(0), sign("event-1", at(0), body, current), body, 0, 204, 1},
		{"and again: the answer was lost", "event-1", at(time.Minute), sign("event-1", at(time.Minute), body, current), body, 0, 204, 1},
		{"two signatures, while a secret is replaced", "event-3", at(0), sign("event-3", at(0), created(3, "b"), stranger, old), created(3, "b"), 0, 204, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			r.api.fails = c.fails
			req := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(c.body))
			req.Header.Set("webhook-id", c.id)
			req.Header.Set("webhook-timestamp", c.stamp)
			req.Header.Set("webhook-signature", c.signature)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req)
			if w.Code != c.status || len(r.payables()) != c.payables {
				t.Errorf("%d %s; payable: %v", w.Code, w.Body, r.payables())
			}
		})
	}
	t.Run("without a secret it does not start", func(t *testing.T) {
		if _, err := readSecrets(""); err == nil {
			t.Error("anybody could tell it anything")
		}
	})
}
