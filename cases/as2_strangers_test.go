package cases_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/edigw/edigw/as2"
)

// What the gateway keeps of one partner's and day's deliveries that fail verification.
const (
	quarantineRows  = 1000
	quarantineBytes = 64 << 20
)

// atOnce posts requests by so many senders at a time, and hands each answer to told.
func (r *rig) atOnce(senders, n int, request func(i int) []byte, told func(i int, m *mdn)) {
	r.t.Helper()
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := s; i < n; i += senders {
				told(i, r.rawBytes(request(i)))
			}
		})
	}
	wg.Wait()
}

// TestAS2Strangers sends under names that are nobody's: whatever it is, they are told one
// thing and leave nothing.
func TestAS2Strangers(t *testing.T) {
	t.Parallel()
	talquist := newSigner(t, "talquist")
	sound := talquist.signed(invoic("1", "R-1", "100.00"))
	r := newRig(t, talquist.settings(`mdn_hosts: ["mdn.talquist.example"]`))
	plain := as2.Composed{ContentType: "application/EDIFACT", Body: []byte(invoic("1", "R-1", "100.00"))}
	request := func(i int) []byte {
		fields, c := asksSigned, sound
		if i%3 == 0 {
			c = plain
		}
		if i%5 == 0 {
			fields += "Receipt-Delivery-Option: http://mdn.talquist.example/\r\n"
		}
		text := string(posting("TALQUIST-AS2", fmt.Sprint("m-", i), fields, c))
		if i%2 == 0 {
			return []byte(strings.Replace(text, "AS2-From: TALQUIST-AS2", fmt.Sprint("AS2-From: NOBODY-", i), 1))
		}
		return []byte(strings.Replace(text, "AS2-To: NORDHAFEN-AS2", fmt.Sprint("AS2-To: NOBODY-", i), 1))
	}
	t.Run("1,000 messages under unknown names leave no row", func(t *testing.T) {
		r.atOnce(8, 1000, request, func(_ int, m *mdn) {
			if m.String() != "200 unsigned processed/error: unknown-trading-partner" {
				t.Errorf("told %s", m)
			}
		})
		r.empty("of strangers")
	})
	t.Run("by setting they are told 403, without an MDN", func(t *testing.T) {
		r.as2.UnknownBy403 = true
		defer func() { r.as2.UnknownBy403 = false }()
		var bodies []string
		for i := range 10 {
			m := r.rawBytes(request(i))
			if m.status != http.StatusForbidden || m.says != nil {
				t.Errorf("told %s", m)
			}
			bodies = append(bodies, string(m.body))
		}
		for _, b := range bodies {
			if b != bodies[0] {
				t.Errorf("one is told %q, another %q", bodies[0], b)
			}
		}
		r.empty("of strangers")
	})
	t.Run("the message under its names is First", func(t *testing.T) {
		r.told(r.composed("m-1", asksSigned, sound), asSigned, "")
		r.postedOnce("R-1")
	})
}

// TestAS2Forged sends what somebody else made under a name that is somebody's. It fills
// the quarantine to its cap and no further, however many come at once; makes no key; and
// the genuine message is First.
func TestAS2Forged(t *testing.T) {
	t.Parallel()
	talquist, other := newSigner(t, "talquist"), newSigner(t, "somebody else")
	t.Run("1,000 forged messages and more, by eight at a time", func(t *testing.T) {
		r := newRig(t, talquist.settings())
		genuine := talquist.wrap(as2.Wrapping{Signature: talquist.signature(), Envelope: toUs(t)}, invoic("1", "R-1", "100.00"))
		forgeries := []struct {
			c    as2.Composed
			told string
		}{
			{other.signed(invoic("1", "F-1", "100.00")), "200 signed processed/error: authentication-failed"},
			{broken(talquist.signed(invoic("1", "F-2", "100.00"))), "200 signed processed/error: integrity-check-failed"},
			{as2.Composed{ContentType: "application/EDIFACT", Body: []byte(invoic("1", "F-3", "100.00"))}, "200 signed processed/error: insufficient-message-security"},
			{other.wrap(as2.Wrapping{Envelope: toUs(t)}, invoic("1", "F-4", "100.00")), "200 signed processed/error: decryption-failed"},
			{as2.Composed{ContentType: "application/pkcs7-mime; smime-type=enveloped-data", Body: []byte("garbage")}, "200 signed processed/error: decryption-failed"},
		}
		r.atOnce(8, quarantineRows+40, func(i int) []byte {
			return posting("TALQUIST-AS2", fmt.Sprint("m-", i%3), asksSigned, forgeries[i%len(forgeries)].c)
		}, func(i int, m *mdn) {
			if want := forgeries[i%len(forgeries)].told; m.String() != want && !t.Failed() {
				t.Errorf("told %s, want %s", m, want)
			}
		})
		kept := r.tables()
		if kept["delivery"] != quarantineRows || kept["payload"] > quarantineRows {
			t.Errorf("%d lines in the journal, with %d payloads", kept["delivery"], kept["payload"])
		}
		delete(kept, "delivery")
		delete(kept, "payload")
		for table, n := range kept {
			if n != 0 {
				t.Errorf("%d rows in %s", n, table)
			}
		}
		r.told(r.composed("m-1", asksSigned, genuine), asSigned, "")
		if r.rows() != "T1 I1b" {
			t.Errorf("the genuine message is judged by %s", r.rows())
		}
		r.postedOnce("R-1")
	})
	t.Run("large ones fill no more than its bytes", func(t *testing.T) {
		r := newRig(t, talquist.settings())
		large := as2.Composed{ContentType: "application/EDIFACT", Body: []byte(strings.Repeat("UNB+forged'", 90_000))}
		r.atOnce(4, quarantineBytes/len(large.Body)+10, func(i int) []byte { return posting("TALQUIST-AS2", fmt.Sprint("m-", i), asksMDN, large) },
			func(_ int, m *mdn) {
				if m.String() != "200 unsigned processed/error: insufficient-message-security" {
					t.Errorf("told %s", m)
				}
			})
		if n := r.count(`select coalesce(sum(bytes) filter (where payload_id is not null), 0) from delivery`); n > quarantineBytes || n < quarantineBytes-2*len(large.Body) {
			t.Errorf("%d bytes are kept", n)
		}
	})
}
