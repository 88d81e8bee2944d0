package as4_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/gateway"
)

// The rows of docs/reference/outcomes.md, "What the partner is told", for AS4.
func TestWhatIsToldOverAS4(t *testing.T) {
	send := func(r *rig, id, text string) *answer { return r.send(r.compose(message(id), gzipped(text))) }
	good, bad := interchange("REF1", "R-1", "100.00"), strings.Replace(interchange("REF1", "R-1", "100.00"), "UNT+15", "UNT+99", 1)

	t.Run("accepted: a receipt", func(t *testing.T) {
		r := newRig(t, "")
		if a := send(r, "m1", good); !a.Receipt || r.posted() != 1 {
			t.Errorf("%v, %d documents", a.err, r.posted())
		}
	})
	t.Run("rejected, and nothing else says so: EBMS:0004, signed, with the place of the fault", func(t *testing.T) {
		r := newRig(t, "")
		a := send(r, "m1", bad)
		if a.codes() != as4.OtherError || !strings.Contains(a.Signal.Errors[0].Detail, "segment") || !bytes.Contains(a.body, []byte("SignatureValue")) || a.Signal.Errors[0].RefToMessage != "m1" {
			t.Errorf("%s\n%s", a.codes(), a.body)
		}
		if again := send(r, "m1", bad); again.codes() != as4.OtherError || r.posted() != 0 {
			t.Errorf("again %s, %d documents", again.codes(), r.posted())
		}
		if mended := send(r, "m1", good); !mended.Receipt || r.posted() != 1 {
			t.Errorf("mended: %v", mended.err)
		}
	})
	t.Run("rejected, and a CONTRL says so: a receipt", func(t *testing.T) {
		r := newRig(t, "---\nacknowledge_by: folder\n")
		if a := send(r, "m1", bad); !a.Receipt || r.posted() != 0 {
			t.Errorf("%v, %d documents", a.err, r.posted())
		}
	})
	t.Run("partly, and a CONTRL says which: a receipt; without one EBMS:0004", func(t *testing.T) {
		two := strings.Replace(interchange("REF1", "R-1", "100.00"), "UNZ+1", "UNH+2+INVOIC:D:96A:UN:EAN008'BGM+380+R-2+9'UNT+99+2'UNZ+2", 1)
		for by, want := range map[string]string{"folder": "<nil>", "none": as4.OtherError} {
			r := newRig(t, "---\nacceptance: message\nacknowledge_by: "+by+"\n")
			if a := send(r, "m1", two); a.codes() != want || r.posted() != 1 {
				t.Errorf("%s: %s, %d documents", by, a.codes(), r.posted())
			}
		}
	})
	t.Run("unreadable: EBMS:0004", func(t *testing.T) {
		r := newRig(t, "")
		if a := send(r, "m1", "this is no interchange"); a.codes() != as4.OtherError {
			t.Error(a.codes())
		}
	})
	t.Run("drift, on_drift: reject: a signed EBMS:0004 with the alert's id, and nothing of what came before", func(t *testing.T) {
		r := newRig(t, "")
		send(r, "m1", good)
		a := send(r, "m2", interchange("REF1", "R-9", "900.00"))
		if a.codes() != as4.OtherError || !strings.Contains(a.Signal.Errors[0].Detail, "alert") || bytes.Contains(a.body, []byte("R-1")) || r.posted() != 1 {
			t.Errorf("%s\n%s", a.codes(), a.body)
		}
	})
	t.Run("drift under a known MessageId that holds another interchange: EBMS:0004, no interchange key", func(t *testing.T) {
		r := newRig(t, "")
		send(r, "m1", good)
		keys := r.keys()
		if a := send(r, "m1", interchange("REF2", "R-2", "900.00")); a.codes() != as4.OtherError || r.posted() != 1 || r.keys() != keys {
			t.Errorf("%s, %d documents, %d keys", a.codes(), r.posted(), r.keys())
		}
	})
	t.Run("another Action under a known MessageId is another message, though the payload is the same", func(t *testing.T) {
		r := newRig(t, "services: [{service: \"urn:example:edi\"}]")
		send(r, "m1", good)
		c := r.compose(message("m1", func(u *as4.UserMessage) { u.Collaboration.Action = "Other" }), gzipped(good))
		if a := r.send(c); !a.Receipt || r.posted() != 1 || r.count(`select count(*) from drift_alert where kind = 'transport'`) != 1 {
			t.Errorf("%v, %d documents, %d alerts", a.err, r.posted(), r.count(`select count(*) from drift_alert`))
		}
	})
	t.Run("drift, on_drift: hold: a receipt", func(t *testing.T) {
		r := newRig(t, "---\non_drift: hold\n")
		send(r, "m1", good)
		if a := send(r, "m2", interchange("REF1", "R-9", "900.00")); !a.Receipt || r.posted() != 1 {
			t.Errorf("%v, %d documents", a.err, r.posted())
		}
	})
	t.Run("deferred: a receipt", func(t *testing.T) {
		r := newRig(t, "---\nprocessing: deferred\n")
		if a := send(r, "m1", good); !a.Receipt || r.posted() != 0 {
			t.Errorf("%v, %d documents", a.err, r.posted())
		}
	})
	t.Run("dead, on_dead: hold: a receipt", func(t *testing.T) {
		r := newRig(t, "")
		r.fail = func(string) bool { return true }
		if a := send(r, "m1", good); !a.Receipt || r.posted() != 0 {
			t.Errorf("%v, %d documents", a.err, r.posted())
		}
	})
	t.Run("dead, on_dead: refuse: EBMS:0202 with 503 while attempts are left, then EBMS:0004", func(t *testing.T) {
		r := newRig(t, "---\non_dead: refuse\nattempts: 2\n")
		r.fail = func(string) bool { return true }
		a := send(r, "m1", good)
		if a.codes() != as4.DeliveryFailure || a.Status != 503 || a.header.Get("Retry-After") == "" {
			t.Fatalf("%s, %d", a.codes(), a.Status)
		}
		if refused := (*as4.Refused)(nil); !errors.As(a.err, &refused) || !refused.Again {
			t.Errorf("not to be sent again: %v", a.err)
		}
		if a := send(r, "m1", good); a.codes() != as4.OtherError || a.Status != 200 {
			t.Errorf("%s, %d", a.codes(), a.Status)
		}
		r = newRig(t, "---\non_dead: refuse\n")
		r.fail = func(string) bool { return true }
		send(r, "m1", good)
		r.fail = nil
		if a := send(r, "m1", good); !a.Receipt || r.posted() != 1 {
			t.Errorf("the retry: %v, %d documents", a.err, r.posted())
		}
	})
	t.Run("a sender that the partner may not speak for: EBMS:0003", func(t *testing.T) {
		r := newRig(t, "")
		if a := send(r, "m1", strings.ReplaceAll(good, "9520001000010", "9520001000099")); a.codes() != as4.ValueInconsistent {
			t.Error(a.codes())
		}
	})
	t.Run("a type that is not accepted: EBMS:0004", func(t *testing.T) {
		r := newRig(t, "---\ntypes: [DESADV]\n")
		if a := send(r, "m1", good); a.codes() != as4.OtherError {
			t.Error(a.codes())
		}
	})
	t.Run("the first copy is still running, or the partner's share is used up: EBMS:0202 with 503, and nothing is stored", func(t *testing.T) {
		for _, err := range []error{gateway.ErrBusy, gateway.ErrCrowded, errors.New("the database is down")} {
			r := newRig(t, "")
			r.handler.Receive = func(context.Context, *gateway.Delivery) (*gateway.Receipt, error) { return nil, err }
			a := send(r, "m1", good)
			if a.codes() != as4.DeliveryFailure || a.Status != 503 || a.header.Get("Retry-After") == "" || bytes.Contains(a.body, []byte("database")) {
				t.Errorf("%v: %s, %d\n%s", err, a.codes(), a.Status, a.body)
			}
		}
		r := newRig(t, "")
		r.handler.Reserve = func(string, string) (func(), bool) { return nil, false }
		if a := send(r, "m1", good); a.codes() != as4.DeliveryFailure || r.keys() != 0 { // its length is not announced
			t.Errorf("reserved: %s, %d keys", a.codes(), r.keys())
		}
	})
	t.Run("several payloads: the code of the first negative one, and the list", func(t *testing.T) {
		r := newRig(t, "")
		c := r.compose(message("m1"), gzipped(good), gzipped(strings.ReplaceAll(interchange("REF2", "R-2", "1.00"), "9520001000010", "9520001000099")), gzipped(strings.Replace(interchange("REF3", "R-3", "1.00"), "UNT+15", "UNT+99", 1)))
		a := r.send(c)
		detail := a.Signal.Errors[0].Detail
		if a.codes() != as4.ValueInconsistent || !strings.Contains(detail, "Interchange 2 of 3") || !strings.Contains(detail, "Interchange 3 of 3") || r.posted() != 1 {
			t.Errorf("%s, %d documents: %s", a.codes(), r.posted(), detail)
		}
	})
	t.Run("errors as SOAP Faults have the signal and status 400", func(t *testing.T) {
		r := newRig(t, "errors: fault")
		a := send(r, "m1", bad)
		if a.codes() != as4.OtherError || a.Status != http.StatusBadRequest || !bytes.Contains(a.body, []byte("S12:Fault")) || !bytes.Contains(a.body, []byte("S12:Sender")) {
			t.Errorf("%s, %d\n%s", a.codes(), a.Status, a.body)
		}
	})
	t.Run("security faults of a named partner: 0101, 0102, 0103, 0303; journalled with the request as it came, and no key", func(t *testing.T) {
		r := newRig(t, "")
		for _, c := range []struct {
			code    string
			compose func() (*as4.Composed, error)
		}{
			{as4.FailedAuthentication, func() (*as4.Composed, error) {
				return as4.Compose(message("m1"), []as4.Payload{gzipped(good)}, signedBy(mallory()), encryptedTo(nordhafen()))
			}},
			{as4.FailedDecryption, func() (*as4.Composed, error) {
				return as4.Compose(message("m1"), []as4.Payload{gzipped(good)}, signedBy(talquist()), encryptedTo(mallory()))
			}},
			{as4.PolicyNoncompliance, func() (*as4.Composed, error) {
				return as4.Compose(message("m1"), []as4.Payload{gzipped(good)}, signedBy(talquist()), nil)
			}},
			{as4.PolicyNoncompliance, func() (*as4.Composed, error) {
				return as4.Compose(message("m1"), []as4.Payload{gzipped(good)}, nil, encryptedTo(nordhafen()))
			}},
			{as4.PolicyNoncompliance, func() (*as4.Composed, error) {
				return as4.Compose(message("m1"), []as4.Payload{gzipped(good)}, nil, nil)
			}},
			{as4.DecompressionFailure, func() (*as4.Composed, error) {
				return r.compose(message("m1"), saidToBeGzip(zip(good)[:100])), nil
			}},
		} {
			composed, err := c.compose()
			if err != nil {
				t.Fatal(err)
			}
			before := r.journal()
			a := r.refused(composed, c.code)
			if told := r.count(`select status from delivery order by delivery_id desc limit 1`); told != a.Status {
				t.Errorf("%s: the journal has %d, and %d was told", c.code, told, a.Status)
			}
			if r.keys() != 0 || r.journal() != before+1 || r.count(`select count(*) from payload`) != before+1 || !bytes.Contains(a.body, []byte("SignatureValue")) {
				t.Errorf("%s: %d keys, %d journal rows, %d payloads\n%s", c.code, r.keys(), r.journal(), r.count(`select count(*) from payload`), a.body)
			}
		}
		if a := r.received(r.compose(message("m1"), gzipped(good))); !a.Receipt || r.posted() != 1 {
			t.Error("the genuine message is not First")
		}
	})
	t.Run("a refusal that cannot be journalled is not told: EBMS:0202 with 503", func(t *testing.T) {
		r := newRig(t, "")
		r.handler.Receive = func(context.Context, *gateway.Delivery) (*gateway.Receipt, error) {
			return nil, errors.New("the database is down")
		}
		other := r.compose(message("m1", func(u *as4.UserMessage) { u.Collaboration.Action = "Other" }), gzipped(good))
		forged, err := as4.Compose(message("m2"), []as4.Payload{gzipped(good)}, signedBy(mallory()), encryptedTo(nordhafen()))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []*as4.Composed{other, forged, r.compose(message("m3"), saidToBeGzip(zip(good)[:100]))} {
			if a := r.refused(c, as4.DeliveryFailure); a.Status != 503 || a.header.Get("Retry-After") == "" || bytes.Contains(a.body, []byte("database")) {
				t.Errorf("%d\n%s", a.Status, a.body)
			}
		}
	})
	t.Run("a fault of the header under a known name: signed, as agreed, and journalled under its MessageId, without a key", func(t *testing.T) {
		r := newRig(t, "errors: fault")
		c := r.compose(message("m1"), gzipped(good))
		for what, change := range map[string][2]string{
			as4.InvalidHeader:        {"<eb:Action>", "<eb:Act/><eb:Action>"},
			as4.ExternalPayloadError: {`href="cid:`, `href="https://talquist.example/`},
			as4.ValueInconsistent:    {"></S12:Body>", "><x></x></S12:Body>"},
		} {
			before := r.journal()
			got := r.post(c.ContentType, bytes.Replace(r.wireOf(c), []byte(change[0]), []byte(change[1]), 1))
			if told := r.count(`select status from delivery order by delivery_id desc limit 1`); told != got.status {
				t.Errorf("%s: the journal has %d, and %d was told", what, told, got.status)
			}
			if got.told() != what+", fault Sender" || !strings.Contains(got.body, "SignatureValue") || r.journal() != before+1 || r.keys() != 0 {
				t.Errorf("%s: %s, %d journal rows, %d keys\n%s", what, got.told(), r.journal(), r.keys(), got.body)
			}
		}
		if n := r.count(`select count(*) from delivery where transport_id = 'as4:nordhafen-ap:m1' and payload_id is not null`); n != 3 {
			t.Errorf("%d of them have the id and the request", n)
		}
		stranger := bytes.Replace(r.wireOf(c), []byte("talquist-ap"), []byte("nobody"), 1)
		if got := r.post(c.ContentType, bytes.Replace(stranger, []byte("<eb:Action>"), []byte("<eb:Act/><eb:Action>"), 1)); got.told() != as4.InvalidHeader || strings.Contains(got.body, "SignatureValue") || r.journal() != 3 {
			t.Errorf("a stranger: %s, %d journal rows", got.told(), r.journal())
		}
	})
	t.Run("whoever is not known has one constant answer, and leaves no row", func(t *testing.T) {
		r := newRig(t, "")
		var first []byte
		for _, change := range []func(*as4.UserMessage){
			func(u *as4.UserMessage) { u.From.ID = "nobody" },
			func(u *as4.UserMessage) { u.From.Type = "" },
			func(u *as4.UserMessage) { u.To.ID = "elsewhere" },
			func(u *as4.UserMessage) { u.From, u.To = u.To, u.From },
		} {
			a := r.refused(r.compose(message("m1", change), gzipped(good)), as4.ValueInconsistent)
			if body := constant(a.body); first == nil {
				first = body
			} else if !bytes.Equal(first, body) {
				t.Errorf("told\n%s\nand\n%s", first, body)
			}
		}
		r.settings("---\nstate: paused\n")
		if a := r.refused(r.compose(message("m1"), gzipped(good)), as4.ValueInconsistent); !bytes.Equal(first, constant(a.body)) {
			t.Errorf("a paused partner is told\n%s", a.body)
		}
		if r.keys()+r.journal()+r.count(`select count(*) from payload`) != 0 {
			t.Errorf("%d keys, %d journal rows", r.keys(), r.journal())
		}
	})
}

// constant leaves out what every answer has of its own.
func constant(body []byte) []byte {
	s := string(body)
	for _, tag := range []string{"eb:MessageId", "eb:Timestamp"} {
		before, rest, _ := strings.Cut(s, "<"+tag+">")
		_, after, _ := strings.Cut(rest, "</"+tag+">")
		s = before + after
	}
	return []byte(s)
}
