package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
)

// signed is a delivery over a transport whose answers are signed.
type signed struct {
	rig     *rig
	renders int // made, not remembered
}

// delivery is one whose answer is tied to mic.
func (s *signed) delivery(id, mic, payload string) *gateway.Delivery {
	p := s.rig.Partner("acme")
	made := map[string]gateway.Rendered{}
	return &gateway.Delivery{Transport: "as2", Partner: p, Payload: edi.Bytes([]byte(payload)), SHA256: sha(payload), Received: time.Now(),
		TransportID: dedup.TransportKey("as2", p.Organisation, id), Signs: true, Binding: []byte(mic),
		Render: func(r *gateway.Receipt) (gateway.Rendered, error) {
			signal, told := r.Signal()
			key := fmt.Sprint(signal, told.AS2, r.AlertID)
			if known, ok := made[key]; ok {
				return known, nil
			}
			s.renders++
			made[key] = gateway.Rendered{Status: 200, ContentType: "multipart/report", Fields: gateway.Fields{{Name: "Message-ID", Value: fmt.Sprintf("<%d@edigw>", s.renders)}},
				Body: fmt.Appendf(nil, "%s; %s; MDN %d", key, mic, s.renders)}
			return made[key], nil
		}}
}

func (s *signed) receive(d *gateway.Delivery) *gateway.Receipt {
	s.rig.t.Helper()
	r, err := s.rig.Receive(context.Background(), d)
	if err != nil {
		s.rig.t.Fatal(err)
	}
	return r
}

func TestAnswersAreTiedToWhatTheSenderSigned(t *testing.T) {
	text := interchange("1", message{number: "R-1"})
	for _, remembering := range []int64{0, 1 << 20} {
		t.Run(fmt.Sprintf("with %d bytes for what was accepted lately", remembering), func(t *testing.T) {
			s := &signed{rig: newRig(t)}
			s.rig.Recent = remembering
			first := s.receive(s.delivery("m1", "mic-a", text))
			if s.renders != 1 {
				t.Errorf("the answer to a first delivery was signed %d times", s.renders)
			}
			again := s.receive(s.delivery("m1", "mic-a", text))
			if d := cmp.Diff(first.Rendered, again.Rendered); d != "" {
				t.Errorf("a copy under the same binding is told otherwise:\n%s", d)
			}
			if s.renders != 1 {
				t.Errorf("it was signed anew for a copy under the same binding")
			}
			anew := s.receive(s.delivery("m1", "mic-b", text))
			if !bytes.Contains(anew.Rendered.Body, []byte("mic-b")) || anew.Verdict != gateway.Duplicate || anew.Answer != gateway.ToldAccepted {
				t.Errorf("a retry that was signed anew is told %s as %s", anew.Rendered.Body, anew.Verdict)
			}
			if s.rig.posted() != 1 {
				t.Errorf("%d documents", s.rig.posted())
			}
			if last := s.receive(s.delivery("m1", "mic-a", text)); !bytes.Equal(last.Rendered.Body, first.Rendered.Body) {
				t.Errorf("the stored answer changed: %s", last.Rendered.Body)
			}
		})
	}
	t.Run("a refused one is told again as it was, and afresh under another binding", func(t *testing.T) {
		s := &signed{rig: newRig(t)}
		bad := interchange("1", message{number: "R-1", bad: "count"})
		first := s.receive(s.delivery("m1", "mic-a", bad))
		if signal, told := first.Signal(); signal != gateway.SignalNegative || told.AS2 != "error: unexpected-processing-error" {
			t.Fatalf("told %v %+v", signal, told)
		}
		if again := s.receive(s.delivery("m1", "mic-a", bad)); !bytes.Equal(again.Rendered.Body, first.Rendered.Body) {
			t.Errorf("told %s, then %s", first.Rendered.Body, again.Rendered.Body)
		}
		anew := s.receive(s.delivery("m1", "mic-b", bad))
		if signal, _ := anew.Signal(); signal != gateway.SignalNegative || !bytes.Contains(anew.Rendered.Body, []byte("mic-b")) {
			t.Errorf("told %s", anew.Rendered.Body)
		}
	})
	t.Run("an open drift under another binding joins, and is told as the first time", func(t *testing.T) {
		s := &signed{rig: newRig(t)}
		s.receive(s.delivery("m1", "mic-a", text))
		other := interchange("1", message{number: "R-1", amount: "900.00"})
		first := s.receive(s.delivery("m2", "mic-c", other))
		anew := s.receive(s.delivery("m2", "mic-d", other))
		if first.Answer != gateway.ToldDrift || anew.Answer != gateway.ToldDrift || anew.AlertID != first.AlertID || !bytes.Contains(anew.Rendered.Body, []byte("mic-d")) {
			t.Errorf("%v %v, alerts %s %s: %s", first.Answer, anew.Answer, first.AlertID, anew.AlertID, anew.Rendered.Body)
		}
	})
	t.Run("in a group every answer is signed before the committer has it", func(t *testing.T) {
		s := &signed{rig: newRig(t)}
		done := make(chan error)
		for i := range 16 {
			d := s.delivery(fmt.Sprint("m", i), "mic", interchange(fmt.Sprint(i+1), message{number: fmt.Sprint("R-", i)}))
			calls := 0
			d.Render = func(r *gateway.Receipt) (gateway.Rendered, error) {
				calls++
				if calls == 1 {
					return gateway.Rendered{Status: 200, ContentType: "text/plain", Body: []byte("draft")}, nil
				}
				return gateway.Rendered{Status: 200, ContentType: "text/plain", Body: []byte("final")}, nil
			}
			go func() {
				r, err := s.rig.Receive(context.Background(), d)
				if err == nil && (string(r.Rendered.Body) != "final" || calls != 2) {
					err = fmt.Errorf("%d renderings, %s", calls, r.Rendered.Body)
				}
				done <- err
			}()
		}
		for range 16 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestSignals(t *testing.T) {
	item := func(a gateway.Answer, acknowledged bool) gateway.Item {
		return gateway.Item{Answer: a, Acknowledged: acknowledged}
	}
	for _, c := range []struct {
		name   string
		items  []gateway.Item
		signal gateway.Signal
		as4    string
	}{
		{"all accepted", []gateway.Item{item(gateway.ToldAccepted, false), item(gateway.ToldDeferred, false), item(gateway.ToldDead, false), item(gateway.ToldDriftHeld, false)}, gateway.SignalPositive, ""},
		{"partly, and a CONTRL says which", []gateway.Item{item(gateway.ToldPartly, true)}, gateway.SignalPositive, ""},
		{"partly, and nothing else says so", []gateway.Item{item(gateway.ToldPartly, false)}, gateway.SignalNegative, "EBMS:0004"},
		{"rejected, and a CONTRL says so", []gateway.Item{item(gateway.ToldRejected, true), item(gateway.ToldAccepted, false)}, gateway.SignalPositive, ""},
		{"the code is that of the first negative one", []gateway.Item{item(gateway.ToldAccepted, false), item(gateway.ToldSenderNotAllowed, false), item(gateway.ToldRejected, false)}, gateway.SignalNegative, "EBMS:0003"},
		{"unsupported stays negative, whatever is sent beside it", []gateway.Item{item(gateway.ToldUnsupported, true)}, gateway.SignalNegative, "EBMS:0004"},
		{"one to be sent again makes all so", []gateway.Item{item(gateway.ToldRejected, false), item(gateway.ToldTryAgain, false)}, gateway.SignalTryAgain, "EBMS:0202"},
	} {
		t.Run(c.name, func(t *testing.T) {
			signal, told := (&gateway.Receipt{Items: c.items}).Signal()
			if signal != c.signal || told.AS4 != c.as4 {
				t.Errorf("%v %q, want %v %q", signal, told.AS4, c.signal, c.as4)
			}
		})
	}
	t.Run("a partner who gets a CONTRL by webhook is told positively over AS2 what it says", func(t *testing.T) {
		s := &signed{rig: newRig(t)}
		s.rig.policy(func(p *partners.Policy) { p.Acknowledge = "webhook" })
		for _, id := range []string{"m1", "m2"} { // the second is a stored answer under another id
			r := s.receive(s.delivery(id, id, interchange("1", message{number: "R-1", bad: "count"})))
			if signal, _ := r.Signal(); signal != gateway.SignalPositive || r.Answer != gateway.ToldRejected {
				t.Errorf("%s: %v, %s", id, signal, r.Items[0].JSON)
			}
		}
	})
	t.Run("one who would get it in the response does not get it over AS2", func(t *testing.T) {
		s := &signed{rig: newRig(t)}
		r := s.receive(s.delivery("m1", "mic", interchange("1", message{number: "R-1", bad: "count"})))
		if signal, _ := r.Signal(); signal != gateway.SignalNegative {
			t.Errorf("%v, %s", signal, r.Items[0].JSON)
		}
	})
}

func TestEvidence(t *testing.T) {
	text := interchange("1", message{number: "R-1"})
	entity := "Content-Type: application/edifact\r\n\r\n" + text
	exhibits := func(t *testing.T, body *edi.Payload) []gateway.Exhibit {
		t.Helper()
		before := int64(len(entity) - len(text))
		return []gateway.Exhibit{
			{Name: "signed-entity", MediaType: "application/octet-stream", Body: body, Stretches: []journal.Stretch{{At: before, Offset: 0, Length: int64(len(text))}}},
			{Name: "signature", MediaType: "application/pkcs7-signature", Body: edi.Bytes([]byte("DER"))},
		}
	}
	read := func(t *testing.T, r *rig) map[string]string {
		t.Helper()
		var id uuid.UUID
		var month time.Time
		if err := r.Pool.QueryRow(t.Context(), `select payload_id, purge_month from payload`).Scan(&id, &month); err != nil {
			t.Fatal(err)
		}
		list, err := journal.ReadEvidence(t.Context(), r.Pool, "acme", id, month)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, x := range list {
			b, err := io.ReadAll(x)
			if err != nil {
				t.Fatal(err)
			}
			got[x.Name] = string(b)
		}
		return got
	}
	want := map[string]string{"signed-entity": entity + "\r\n--end", "signature": "DER"}
	stored := entity[:len(entity)-len(text)] + "\r\n--end"
	t.Run("is kept beside the payload, which it does not repeat", func(t *testing.T) {
		s := &signed{rig: newRig(t)}
		for range 2 {
			d := s.delivery("m1", "mic", text)
			d.Evidence = exhibits(t, edi.Bytes([]byte(stored)))
			s.receive(d)
		}
		if d := cmp.Diff(want, read(t, s.rig)); d != "" {
			t.Error(d)
		}
		if n := s.rig.count(`select count(*) from evidence where position(convert_to('UNB+', 'UTF8') in body) > 0`); n != 0 {
			t.Errorf("the payload stands in %d exhibits", n)
		}
	})
	t.Run("of a large entity is written from its file, in chunks", func(t *testing.T) {
		s := &signed{rig: newRig(t)}
		f, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		large := stored + strings.Repeat("x", 3<<20)
		if _, err := f.WriteString(large); err != nil {
			t.Fatal(err)
		}
		d := s.delivery("m1", "mic", text)
		body := edi.File(f, int64(len(large)))
		defer body.Close()
		d.Evidence = exhibits(t, body)
		s.receive(d)
		got := read(t, s.rig)
		if got["signed-entity"] != entity+"\r\n--end"+strings.Repeat("x", 3<<20) || got["signature"] != "DER" {
			t.Errorf("%d bytes, signature %q", len(got["signed-entity"]), got["signature"])
		}
	})
	t.Run("moves with its payload when nothing holds it any more", func(t *testing.T) {
		s := &signed{rig: newRig(t)}
		s.rig.policy(alone)
		s.receive(s.delivery("m1", "mic-a", text))
		d := s.delivery("m2", "mic-b", interchange("1", message{number: "R-1", amount: "900.00"}))
		d.Evidence = []gateway.Exhibit{{Name: "signature", Body: edi.Bytes([]byte("DER"))}}
		s.receive(d)
		held := `select count(*) from evidence where purge_month = '9999-01-01'`
		if n := s.rig.count(held); n != 1 {
			t.Fatalf("%d exhibits are held with the drift", n)
		}
		s.rig.decide(gateway.KeepOriginal)
		if n := s.rig.count(held); n != 0 {
			t.Errorf("%d exhibits stay held", n)
		}
	})
}

func TestAnswersThatLeaveElsewhere(t *testing.T) {
	text := interchange("1", message{number: "R-1"})
	deliver := func(s *signed, id, mic, payload string) *gateway.Receipt {
		d := s.delivery(id, mic, payload)
		d.Elsewhere = &gateway.Elsewhere{Type: "MDN", Target: "receipt-as2", Address: "https://partner.example/mdn"}
		return s.receive(d)
	}
	due := func(r *rig) (contents []string) {
		rows, err := r.Pool.Query(t.Context(), `
			select convert_from(decode(o.body->>'content', 'base64'), 'UTF8') from effect e join outbox o on o.partner_id = e.partner_id and o.event_id = e.event_id
			where e.state = 1 and e.target = 'receipt-as2' and o.body->>'address' = 'https://partner.example/mdn' order by e.event_id`)
		if err != nil {
			t.Fatal(err)
		}
		contents, err = pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		return contents
	}
	sent := `update effect set state = 3, ended_at = now()`
	t.Run("the row is there with the delivery, once", func(t *testing.T) {
		s := &signed{rig: newRig(t)}
		r := deliver(s, "m1", "mic-a", text)
		if d := cmp.Diff([]string{string(r.Rendered.Body)}, due(s.rig)); d != "" {
			t.Error(d)
		}
		if want := map[int]int{200: 204}[r.Rendered.Status]; want == 0 || s.rig.count(`select status from delivery`) != want {
			t.Errorf("the receipt has %d, and the journal %d: the response has nothing in it", r.Rendered.Status, s.rig.count(`select status from delivery`))
		}
		deliver(s, "m1", "mic-a", text)
		if got := due(s.rig); len(got) != 1 {
			t.Errorf("a copy made it %d", len(got))
		}
	})
	t.Run("a retry has the one that was sent sent again", func(t *testing.T) {
		s := &signed{rig: newRig(t)}
		first := deliver(s, "m1", "mic-a", text)
		if _, err := s.rig.Pool.Exec(t.Context(), sent); err != nil {
			t.Fatal(err)
		}
		deliver(s, "m1", "mic-a", text)
		if d := cmp.Diff([]string{string(first.Rendered.Body)}, due(s.rig)); d != "" {
			t.Error(d)
		}
		if n := s.rig.count(`select count(*) from functional_acknowledgement`); n != 1 {
			t.Errorf("%d receipts", n)
		}
	})
	t.Run("a retry that wants it elsewhere gets it there, at once, also while it is on its way", func(t *testing.T) {
		for _, state := range []string{sent, `update effect set attempts = 7, due_at = now() + interval '1 hour'`,
			`update effect set state = 2, started_at = now(), lease_id = gen_random_uuid(), due_at = now() + interval '30 seconds'`} {
			s := &signed{rig: newRig(t)}
			first := deliver(s, "m1", "mic-a", text)
			if _, err := s.rig.Pool.Exec(t.Context(), state); err != nil {
				t.Fatal(err)
			}
			if _, err := s.rig.Pool.Exec(t.Context(), `insert into effect_pause (partner_id, target, failures, due_at) values ('acme', 'receipt-as2', 7, now() + interval '10 minutes')`); err != nil {
				t.Fatal(err)
			}
			d := s.delivery("m1", "mic-a", text)
			d.Elsewhere = &gateway.Elsewhere{Type: "MDN", Target: "receipt-as2", Address: "https://other.example/mdn"}
			again := s.receive(d)
			if !bytes.Equal(again.Rendered.Body, first.Rendered.Body) {
				t.Error("the receipt is another one")
			}
			if n := s.rig.count(`select count(*) from effect e join outbox o on o.partner_id = e.partner_id and o.event_id = e.event_id
				where e.state = 1 and e.lease_id is null and e.attempts = 0 and e.due_at <= now() and o.body->>'address' = 'https://other.example/mdn'`); n != 1 {
				t.Errorf("%d go there", n)
			}
			if n := s.rig.count(`select count(*) from effect`); n != 1 {
				t.Errorf("%d receipts", n)
			}
			relay := &outbox.Relay{Pool: s.rig.Pool, Target: outbox.Target{Name: "receipt-as2"}}
			if list, err := relay.Source().Due(t.Context()); len(list) != 1 || err != nil {
				t.Errorf("due for %v, %v: his address failed before, and he is there again", list, err)
			}
		}
	})
	t.Run("a late retry gets one when the first is forgotten, or its bytes are gone", func(t *testing.T) {
		for name, gone := range map[string]string{
			"forgotten": sent + `, event_month = '2020-01-01'`,
			"given up, and then purged with its month": `with row as (delete from outbox where type = 'receipt.due') update effect set state = 4`,
		} {
			s := &signed{rig: newRig(t)}
			deliver(s, "m1", "mic-a", text)
			if _, err := s.rig.Pool.Exec(t.Context(), gone); err != nil {
				t.Fatal(err)
			}
			if _, err := (outbox.Effects{Pool: s.rig.Pool}).Forget(t.Context()); err != nil {
				t.Fatal(err)
			}
			again := deliver(s, "m1", "mic-a", text)
			if d := cmp.Diff([]string{string(again.Rendered.Body)}, due(s.rig)); d != "" {
				t.Errorf("%s:\n%s", name, d)
			}
			deliver(s, "m1", "mic-a", text)
			if got := due(s.rig); len(got) != 1 {
				t.Errorf("%s: another copy made it %d", name, len(got))
			}
		}
	})
	t.Run("a retry that was signed anew is told in its place", func(t *testing.T) {
		s := &signed{rig: newRig(t)}
		deliver(s, "m1", "mic-a", text)
		anew := deliver(s, "m1", "mic-b", text)
		if d := cmp.Diff([]string{string(anew.Rendered.Body)}, due(s.rig)); d != "" {
			t.Error(d)
		}
	})
	t.Run("what is refused is told so, and a copy again", func(t *testing.T) {
		s := &signed{rig: newRig(t)}
		bad := interchange("1", message{number: "R-1", bad: "count"})
		first := deliver(s, "m1", "mic-a", bad)
		if _, err := s.rig.Pool.Exec(t.Context(), sent); err != nil {
			t.Fatal(err)
		}
		deliver(s, "m1", "mic-a", bad)
		if d := cmp.Diff([]string{string(first.Rendered.Body)}, due(s.rig)); d != "" {
			t.Error(d)
		}
	})
	t.Run("a forged message under the id of a genuine one is told where the partner wants it, and takes nothing from that", func(t *testing.T) {
		s := &signed{rig: newRig(t)}
		forge := func() {
			d := s.delivery("m1", "", "forged")
			d.Fault = &gateway.Rejection{Answer: gateway.ToldUnproven, Reason: "authentication-failed", Detail: "It is signed by somebody else."}
			d.Elsewhere = &gateway.Elsewhere{Type: "MDN", Target: "receipt-as2", Address: "https://partner.example/mdn"}
			if _, err := s.rig.Receive(t.Context(), d); !errors.Is(err, error(d.Fault)) {
				t.Errorf("told %v", err)
			}
		}
		forge()
		if n, answers := s.rig.count(`select count(*) from inbox`), due(s.rig); n != 0 || len(answers) != 1 {
			t.Fatalf("%d keys and %d answers", n, len(answers))
		}
		first := deliver(s, "m1", "mic-a", text)
		forge()
		again := deliver(s, "m1", "mic-a", text)
		if !bytes.Equal(first.Rendered.Body, again.Rendered.Body) {
			t.Errorf("got %s, then %s", first.Rendered.Body, again.Rendered.Body)
		}
		if n := s.rig.count(`select count(*) from document where state = 'live'`); n != 1 {
			t.Errorf("%d documents", n)
		}
		if answers := due(s.rig); len(answers) != 3 || answers[1] != string(first.Rendered.Body) {
			t.Errorf("got %q", answers)
		}
	})
	t.Run("functional acknowledgements are found beside it", func(t *testing.T) {
		s := &signed{rig: newRig(t)}
		s.rig.policy(func(p *partners.Policy) { p.Acknowledge = "webhook" })
		deliver(s, "m1", "mic-a", text)
		list, err := outbox.Acknowledgements{Pool: s.rig.Pool}.List(t.Context(), outbox.AcknowledgementFilter{Partner: "acme", Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		types := map[string]string{}
		for _, a := range list {
			types[a.Type] = a.By
		}
		if d := cmp.Diff(map[string]string{"MDN": "as2", "CONTRL": "webhook"}, types); d != "" {
			t.Error(d)
		}
	})
}

func TestNoInterchangeGoesOverAPart(t *testing.T) {
	s := &signed{rig: newRig(t)}
	one, two := interchange("1", message{number: "R-1"}), interchange("2", message{number: "R-2"})
	cut := one[:strings.LastIndex(one, "UNZ")]
	d := s.delivery("m1", "mic", cut+two)
	d.Parts = []int64{int64(len(cut)), int64(len(cut) + len(two))}
	r := s.receive(d)
	if len(r.Items) != 2 || r.Items[0].Answer == gateway.ToldAccepted || r.Items[1].Answer != gateway.ToldAccepted {
		t.Errorf("%d interchanges: %s", len(r.Items), r.Rendered.Body)
	}
	if s.rig.posted() != 1 {
		t.Errorf("%d documents", s.rig.posted())
	}
}
