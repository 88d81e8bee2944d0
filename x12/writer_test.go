package x12

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

func TestWriter(t *testing.T) {
	e := Envelope{Version: "00501", Sender: edi.Party{ID: "A", Qualifier: "ZZ"}, Recipient: edi.Party{ID: "B", Qualifier: "01"},
		Prepared: time.Date(2026, 11, 29, 10, 15, 0, 0, time.UTC), Reference: "7", AckRequested: true, Test: true}
	t.Run("what is written is read as the same", func(t *testing.T) {
		e := e
		e.LineEnd = "\n"
		w, err := NewWriter(e)
		if err != nil {
			t.Fatal(err)
		}
		w.Group("IN", "APP", "OUR", "3", "005010")
		w.Message("810", "0001", "")
		w.Segment("BIG", E("20261129"), E("RE*1~2"), E(), E(""), Element{{"a", "b", ""}, {"", "c"}}, E("", ""))
		w.Segment("TDS")
		w.EndMessage()
		w.Message("275", "0002", "X")
		w.Binary([]byte("~SE*\x00"))
		w.EndMessage()
		w.EndGroup()
		written, err := w.Close()
		if err != nil {
			t.Fatal(err)
		}
		got := string(written)
		want := "ISA*00*          *00*          *ZZ*A              *01*B              *261129*1015*^*00501*000000007*1*T*:~\n" +
			"GS*IN*APP*OUR*20261129*1015*3*X*005010~\nST*810*0001~\nBIG*20261129*RE 1 2***a:b^:c~\nTDS~\nSE*4*0001~\n" +
			"ST*275*0002*X~\nBIN*5*~SE*\x00~\nSE*3*0002~\nGE*2*3~\nIEA*1*000000007~\n"
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		ic := read(t, Reader{}, got)
		if d := cmp.Diff([]string(nil), findings(ic)); d != "" {
			t.Error(d)
		}
		if ic.Sender != e.Sender || ic.Recipient != e.Recipient || ic.ControlReference != "000000007" || !ic.Test || !ic.AckRequested {
			t.Errorf("%+v", ic)
		}
	})
	t.Run("before 00402 ISA11 is U, and an element that occurs again is an error", func(t *testing.T) {
		e := e
		e.Version = ""
		w, err := NewWriter(e)
		if err != nil {
			t.Fatal(err)
		}
		w.Segment("REF", Element{{"a"}, {"b"}})
		got, err := w.Close()
		if err == nil {
			t.Error("the second occurrence is lost without a word")
		}
		if want := "ISA*00*          *00*          *ZZ*A              *01*B              *261129*1015*U*00401*000000007*1*T*:~REF*a~IEA*0*000000007~"; string(got) != want {
			t.Errorf("got %s", got)
		}
	})
	t.Run("what ISA cannot hold is an error", func(t *testing.T) {
		for name, change := range map[string]func(*Envelope){
			"a long sender":         func(e *Envelope) { e.Sender.ID = "ABCDEFGHIJKLMNOP" },
			"a long qualifier":      func(e *Envelope) { e.Recipient.Qualifier = "ZZZ" },
			"no control number":     func(e *Envelope) { e.Reference = "" },
			"a long control number": func(e *Envelope) { e.Reference = "1234567890" },
			"one that is none":      func(e *Envelope) { e.Reference = "A1" },
		} {
			e := e
			change(&e)
			if _, err := NewWriter(e); err == nil {
				t.Errorf("%s was written", name)
			}
		}
	})
}
