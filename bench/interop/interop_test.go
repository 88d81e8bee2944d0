package main

import (
	"errors"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/edigw/edigw/bench/peers"
	"github.com/edigw/edigw/structure"
)

// What the peers say needs them, and is `make interop-edi`. Here stands what is ours.

func newRun(t *testing.T) *run {
	t.Helper()
	tables, err := structure.BuiltIn()
	if err == nil {
		tables, err = withGuides(tables)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &run{out: io.Discard, tables: tables}
}

func TestWhatWeSayOfTheSituations(t *testing.T) {
	r := newRun(t)
	texts, err := r.write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, x := range texts {
		if x.us.Read != x.sound {
			t.Errorf("%s %s is %s by %s; we say %+v", x.syntax, x.name, word(x.sound), x.clause, x.us)
		}
		if kind, _, is := strings.Cut(strings.TrimPrefix(x.name, "our "), " for: "); is {
			kinds[kind]++
		}
	}
	for _, kind := range []string{"CONTRL", "TA1", "997", "999"} {
		if kinds[kind] < 2 {
			t.Errorf("%d %s of ours are read by peers, want some", kinds[kind], kind)
		}
	}
}

func TestWhatOur997And999Say(t *testing.T) {
	r := newRun(t)
	list, err := r.writeSets(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if !fits(s.us.verdict, s.flaw.verdict) {
			t.Errorf("%s: the acknowledgement says %s, the standard %s", s.name(), s.us.verdict, s.flaw.verdict)
		}
		list, code, _ := strings.Cut(s.flaw.clause, " ")
		if list == "716" || s.flaw.name == "nothing wrong" {
			continue // of the group, or of nothing
		}
		lists := []string{list, map[string]string{"718": "618", "720": "620", "723": "621"}[list]}
		told := slices.ContainsFunc(s.us.errors, func(e string) bool {
			f := strings.Fields(e)
			return slices.Contains(lists, f[0]) && slices.Contains(strings.Fields(code), f[1])
		})
		if !told {
			t.Errorf("%s: the acknowledgement says %v, not %s", s.name(), s.us.errors, s.flaw.clause)
		}
	}
}

func TestDeparturesNameWhatThereIs(t *testing.T) {
	peer := func(name string) bool {
		return slices.ContainsFunc(peers.All, func(p peers.Peer) bool { return p.Name == name })
	}
	named := map[string]bool{"our CONTRL": true, "our TA1": true}
	for _, s := range slices.Concat(situations, inside) {
		named[s.name], named["our 997 for: "+s.name] = true, true
	}
	for p, of := range known {
		if !peer(p) {
			t.Errorf("known.go: there is no peer %q", p)
		}
		for name := range of {
			if !named[name] {
				t.Errorf("known.go: %s: there is no situation %q", p, name)
			}
		}
	}
	for _, u := range unread {
		if _, err := regexp.Compile(u.says); err != nil || !peer(u.peer) {
			t.Errorf("known.go: %s: %v", u.peer, err)
		}
	}
	for _, j := range judgements {
		for p := range strings.FieldsSeq(j.peers) {
			if !peer(p) {
				t.Errorf("judged.go: %s: there is no peer %q", j.sample, p)
			}
		}
	}
}

func TestAnswersToBrokenInterchanges(t *testing.T) {
	r := newRun(t)
	r.root = "../.."
	list, err := r.writeAnswers(t.TempDir())
	if err != nil {
		t.Fatal(err) // one that we do not read ourselves
	}
	answers := map[string]int{}
	for _, a := range list {
		if a.segments > 0 {
			answers[a.syntax]++
		}
	}
	if answers["edifact"] < 30 || answers["x12"] < 60 {
		t.Errorf("%v answers", answers)
	}
}

func TestUnfolding(t *testing.T) {
	const file = "# what it shows\n! structure refuse\nUNB+A\nUNO+1+4\\\na\\x00b'\\\nUNZ+1\n"
	if got := string(unfold(file, "'")); got != "UNB+A'UNO+1+4'a\x00b'UNZ+1'" {
		t.Errorf("%q", got)
	}
}

func TestJudging(t *testing.T) {
	bots := &peers.Peer{Name: "bots"}
	read, refused := peers.Answer{Read: true, Segments: 8}, peers.Answer{Reason: "no"}
	for _, c := range []struct {
		name, column string
		fails        bool
		says         func(r *run) string
	}{
		{"what the standard says is ok", "sound", false, func(r *run) string { return r.judge("bots", situations[0], read, true) }},
		{"another word of a peer fails", "FAILED", true, func(r *run) string { return r.judge("bots", situations[0], refused, true) }},
		{"no answer fails", "FAILED", true, func(r *run) string { return r.judge("bots", situations[0], peers.Answer{}, false) }},
		{"a departure that is known is ok", "sound *", false, func(r *run) string {
			return r.judge("node-x12", situation{name: "no IEA", syntax: "x12"}, read, true)
		}},
		{"one that no longer holds fails", "FAILED", true, func(r *run) string {
			return r.judge("node-x12", situation{name: "no IEA", syntax: "x12"}, refused, true)
		}},
		{"a sample of which we say the same is ok", "8", false, func(r *run) string { return r.compare(bots, "any", read, read) }},
		{"another number of segments fails", "8 FAILED", true, func(r *run) string {
			return r.compare(bots, "any", peers.Answer{Read: true, Segments: 7}, read)
		}},
		{"a difference that is judged is ok", "8 *", false, func(r *run) string { return r.compare(bots, "04_invoic_d97b.edi", refused, read) }},
		{"one that is gone fails", "8 FAILED", true, func(r *run) string { return r.compare(bots, "04_invoic_d97b.edi", read, read) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &run{}
			if got := c.says(r); got != c.column || (r.failed == 1) != c.fails || r.ok+r.failed != 1 {
				t.Errorf("%q, %d ok, %d failed", got, r.ok, r.failed)
			}
		})
	}
}

// The samples are read where they are; nothing of ours may fail on one.
func TestSamplesAreRead(t *testing.T) {
	r := newRun(t)
	r.samples = "../../../shared/samples/edi"
	names, _, us, err := r.copySamples(t.TempDir())
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("shared absent")
	}
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for i := range us {
		if us[i].Read {
			read++
		} else if us[i].Reason == "" {
			t.Errorf("%s is refused without a reason", names[i])
		}
	}
	if len(names) < 40 || read < 10 {
		t.Errorf("%d samples, %d read", len(names), read)
	}
}
