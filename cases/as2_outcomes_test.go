package cases_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
)

// invoic is an INVOIC under a reference and with a number and an amount.
func invoic(ref, number, amount string) string {
	return fmt.Sprintf("UNB+UNOC:3+9520001000010:14+9520002000019:14+261129:1015+%s'UNH+1+INVOIC:D:96A:UN:EAN008'BGM+380+%s+9'DTM+137:20261127:102'RFF+ON:BE-55012'"+
		"NAD+SU+9520001000010::9'NAD+BY+9520002000019::9'CUX+2:EUR:4'LIN+1++9520001000018:EN'QTY+47:10'MOA+203:%[3]s'PRI+AAA:10.00'UNS+S'MOA+77:119.00'MOA+79:%[3]s'TAX+7+VAT+++:::19+S'MOA+124:19.00'UNT+17+1'UNZ+1+%[1]s'", ref, number, amount)
}

// asks are further header fields of a request.
const (
	asksMDN    = "Disposition-Notification-To: edi@talquist.example\r\n"
	asksSigned = asksMDN + "Disposition-Notification-Options: signed-receipt-protocol=optional, pkcs7-signature; signed-receipt-micalg=optional, sha-512\r\n"
)

// post sends a payload as talquist's message of an id.
func (r *rig) post(id, fields, payload string) *mdn {
	r.t.Helper()
	return r.rawBytes(fmt.Appendf(nil, "POST /as2 HTTP/1.1\r\nHost: gw\r\nAS2-From: TALQUIST-AS2\r\nAS2-To: NORDHAFEN-AS2\r\nMessage-ID: <%s@talquist.example>\r\nContent-Type: application/EDIFACT\r\n%sContent-Length: %d\r\n\r\n%s",
		id, fields, len(payload), payload))
}

// breaks has the handlers fail on documents whose number begins so, while it is on.
func (r *rig) breaks(begins string) (mend func()) {
	whole := r.gateway.Handlers
	r.gateway.Handlers = nil
	for _, h := range whole {
		inner := h.Map
		h.Map = func(ic *edi.Interchange, n int, b *edi.Body, by *documents.Reading) (*documents.Document, []*edi.Error) {
			d, errs := inner(ic, n, b, by)
			if d != nil && strings.HasPrefix(d.Number, begins) {
				panic("a fault was asked for")
			}
			return d, errs
		}
		r.gateway.Handlers = append(r.gateway.Handlers, h)
	}
	return func() { r.gateway.Handlers = whole }
}

const (
	positive = "200 unsigned processed"
	negative = "200 unsigned processed/error: unexpected-processing-error"
)

// TestAS2Outcomes holds what partners are told over AS2 to outcomes.md, "What the
// partner is told", each time, and again. Together they are told every answer there is.
func TestAS2Outcomes(t *testing.T) {
	broken := func(ref, number string) string {
		return strings.Replace(invoic(ref, number, "100.00"), "UNT+17+1", "UNT+18+1", 1)
	}
	foreign := func(ref, number string) string {
		return strings.Replace(invoic(ref, number, "100.00"), "UNB+UNOC:3+9520001000010", "UNB+UNOC:3+9520001000027", 1)
	}
	good, changed, dead := invoic("1", "R-1", "100.00"), invoic("1", "R-1", "200.00"), invoic("1", "BAD-1", "100.00")
	const unauthenticated = "200 unsigned processed/error: authentication-failed"
	cases := []struct {
		name, settings string
		first          []string // payloads that came before, each under an id of its own
		payload        string
		send           func(r *rig) *mdn // in place of a plain message of payload
		want, again    string
		says           string // one of its Error fields, in part
		run            func(r *rig, t *testing.T)
	}{
		{name: "accepted", payload: good, want: positive, again: positive},
		{name: "accepted, with a message held since its document is known", first: []string{good}, payload: invoic("2", "R-1", "200.00"), want: positive, again: positive},
		{name: "partly, and nothing else says so", settings: "acceptance: message\n", payload: twoMessages(), want: negative, again: negative, says: "UNT"},
		{name: "partly, and a functional acknowledgement says so", settings: "acceptance: message\nacknowledge_by: folder\n", payload: twoMessages(), want: positive, again: positive},
		{name: "rejected, and nothing else says so", payload: broken("1", "R-1"), want: negative, again: negative, says: "UNT"},
		{name: "rejected, and a functional acknowledgement says so", settings: "acknowledge_by: folder\n", payload: broken("1", "R-1"), want: positive, again: positive},
		{name: "unreadable", payload: "This is no EDI at all.", want: negative, again: negative},
		{name: "drift, on_drift: reject", first: []string{good}, payload: changed, want: negative, again: negative, says: "name alert"},
		{name: "drift, on_drift: hold", settings: "on_drift: hold\n", first: []string{good}, payload: changed, want: positive, again: positive},
		{name: "deferred", settings: "processing: deferred\n", payload: good, want: positive, again: positive, run: (*rig).work},
		{name: "dead, on_dead: refuse, of whom anything is deferred", settings: "processing: {default: inline, DESADV: deferred}\non_dead: refuse\n", payload: dead, want: positive, again: positive},
		{name: "dead, on_dead: hold", payload: dead, want: positive, again: positive},
		{name: "dead, on_dead: hold, attempts used up", settings: "attempts: 1\n", payload: dead, want: positive, again: positive},
		{name: "dead, on_dead: refuse, attempts left, then used up", settings: "on_dead: refuse\nattempts: 2\n", payload: dead, want: `503 ""`, again: negative},
		{name: "sender not allowed", payload: foreign("1", "R-1"), want: unauthenticated, again: unauthenticated},
		{name: "type not in types", settings: "types: [DESADV]\n", payload: good, want: negative, again: negative},
		{name: "type not in types, whatever a functional acknowledgement says", settings: "types: [DESADV]\nacknowledge_by: folder\n", payload: good, want: negative, again: negative},
		{name: "replaced: it only ever got 503, and was corrected since", settings: "on_dead: refuse\n", payload: dead, want: `503 ""`, again: negative,
			run: func(r *rig, _ *testing.T) {
				r.told(r.post("other", asksMDN, good), positive, "")
			}},
		{name: "empty", payload: " \r\n", want: negative, again: negative, says: "empty"},
		{name: "a security fault of a named partner", settings: "as2: {names: [TALQUIST-AS2]}\n", payload: good,
			want: "200 unsigned processed/error: insufficient-message-security", again: "200 unsigned processed/error: insufficient-message-security", says: "signed"},
		{name: "a named partner's certificate that has ended", settings: signedBy("65-as2-expired-cert"), send: func(r *rig) *mdn { return r.raw("65-as2-expired-cert.http") },
			want: "200 signed processed/error: authentication-failed", again: "200 signed processed/error: authentication-failed"},

		{name: "several, all good, one of them known", first: []string{good}, payload: good + invoic("2", "R-2", "100.00"), want: positive, again: positive},
		{name: "several, one rejected", payload: good + broken("2", "R-2"), want: negative, again: negative, says: "Interchange 2 of 2"},
		{name: "several, one rejected, which a functional acknowledgement says", settings: "acknowledge_by: folder\n", payload: good + broken("2", "R-2"), want: positive, again: positive},
		{name: "several, the code is that of the first negative one", payload: good + foreign("2", "R-2") + broken("3", "R-3"), want: unauthenticated, again: unauthenticated, says: "Interchange 3 of 3"},
		{name: "several, the other way round", payload: broken("3", "R-3") + foreign("2", "R-2"), want: negative, again: negative, says: "Interchange 2 of 2"},
		{name: "several, one to come again, which outweighs what is negative", settings: "on_dead: refuse\nattempts: 2\n", payload: broken("2", "R-2") + dead + invoic("3", "R-3", "100.00"), want: `503 ""`, again: negative, says: "Interchange 1 of 3"},
		{name: "several, one a drift", first: []string{good}, payload: changed + invoic("2", "R-2", "100.00"), want: negative, again: negative, says: "Interchange 1 of 2"},
		{name: "several, one a drift, on_drift: hold", settings: "on_drift: hold\n", first: []string{good}, payload: changed + invoic("2", "R-2", "100.00"), want: positive, again: positive},
	}
	var mu sync.Mutex
	reached := map[gateway.Answer]bool{}
	t.Run("outcome", func(t *testing.T) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				settings := c.settings
				if !strings.Contains(settings, "as2:") {
					settings = unsignedAS2 + settings
				}
				r := newRig(t, settings)
				r.breaks("BAD")
				for i, p := range c.first {
					r.told(r.post(fmt.Sprint("before-", i), asksMDN, p), positive, "")
				}
				send := c.send
				if send == nil {
					send = func(r *rig) *mdn { return r.post("m-1", asksMDN, c.payload) }
				}
				one := send(r)
				r.told(one, c.want, "")
				if c.says != "" && one.says != nil && !strings.Contains(strings.Join(one.says.Errors, "\n"), c.says) {
					t.Errorf("it says %q, which holds no %q", one.says.Errors, c.says)
				}
				if one.says != nil && one.says.MIC.Digest == nil && c.name != "empty" && c.send == nil {
					t.Error("it has no check")
				}
				if c.run != nil {
					c.run(r, t)
				}
				again := send(r)
				r.told(again, c.again, "")
				if c.says != "" && one.says == nil && !strings.Contains(strings.Join(again.says.Errors, "\n"), c.says) {
					t.Errorf("again it says %q, which holds no %q", again.says.Errors, c.says)
				}
				if c.want == c.again && c.send == nil && !bytes.Equal(one.body, again.body) {
					t.Errorf("again it is told in other bytes:\n%s\n%s", one.body, again.body)
				}
				if c.want == positive {
					if none := r.post("m-2", "", c.payload); none.status != 200 || len(none.body) != 0 {
						t.Errorf("under a new id, and no MDN asked for: %s", none)
					}
				}
				mu.Lock()
				defer mu.Unlock()
				for _, a := range r.answers() {
					reached[a] = true
				}
			})
		}
	})
	for _, told := range gateway.Answers {
		if !reached[told.Answer] {
			t.Errorf("nobody was told %d, %s, HTTP %d %s", told.Answer, told.Word, told.HTTP, told.Problem)
		}
	}
}

// work has a worker do what was deferred.
func (r *rig) work(t *testing.T) {
	t.Helper()
	piece, err := r.gateway.Deferred().Take(t.Context(), "talquist", time.Minute)
	if err != nil || piece == nil {
		t.Fatalf("nothing is deferred: %v", err)
	}
	if err := piece.Do(t.Context()); err != nil {
		t.Log(err) // a message that is dead: the answer tells
	}
}

// twoMessages is an interchange of which the second message is refused.
func twoMessages() string {
	text := invoic("1", "R-1", "100.00")
	from, to := strings.Index(text, "UNH+"), strings.Index(text, "UNZ+")
	second := strings.NewReplacer("UNH+1+", "UNH+2+", "R-1", "R-2", "UNT+17+1", "UNT+99+2").Replace(text[from:to])
	return text[:to] + second + strings.Replace(text[to:], "UNZ+1", "UNZ+2", 1)
}

func TestAS2Repeats(t *testing.T) {
	t.Parallel()
	r := newRig(t, unsignedAS2)
	text := invoic("1", "R-1", "100.00")
	first := r.post("m-1", asksSigned, text)
	r.told(first, asSigned, "")
	t.Run("the same again gets the same bytes, header and body", func(t *testing.T) {
		again := r.post("m-1", asksSigned, text)
		for _, name := range []string{"Message-ID", "Content-Type", "AS2-From", "AS2-To", "Subject"} {
			if first.header.Get(name) != again.header.Get(name) {
				t.Errorf("%s: %s, then %s", name, first.header.Get(name), again.header.Get(name))
			}
		}
		if !bytes.Equal(first.body, again.body) {
			t.Error("the bodies differ")
		}
	})
	t.Run("asked for by another algorithm, or unsigned, it is told afresh", func(t *testing.T) {
		other := r.post("m-1", strings.Replace(asksSigned, "sha-512", "sha1", 1), text)
		r.told(other, asSigned, "")
		if other.says.MIC.Algorithm != "sha1" || bytes.Equal(other.body, first.body) {
			t.Errorf("got %+v", other.says)
		}
		r.told(r.post("m-1", asksMDN, text), positive, "")
		r.told(r.post("m-1", "", text), `200 ""`, "")
	})
	t.Run("a new id with a known interchange is a duplicate, told plain processed", func(t *testing.T) {
		other := r.post("m-2", asksSigned, text)
		r.told(other, asSigned, "")
		if other.says.Original != "<m-2@talquist.example>" {
			t.Errorf("got %+v", other.says)
		}
	})
	t.Run("the id without its brackets is the same id", func(t *testing.T) {
		m := r.rawBytes(fmt.Appendf(nil, "POST /as2 HTTP/1.1\r\nHost: gw\r\nAS2-From: TALQUIST-AS2\r\nAS2-To: NORDHAFEN-AS2\r\nMessage-ID: m-1@talquist.example\r\nContent-Type: application/EDIFACT\r\n%sContent-Length: %d\r\n\r\n%s", asksMDN, len(text), text))
		r.told(m, positive, "")
		if rows := r.deliveries(1); rows[0].Verdict != string(gateway.Duplicate) || rows[0].TransportID != "as2:NORDHAFEN-AS2:m-1@talquist.example" {
			t.Errorf("got %+v", rows[0])
		}
	})
	t.Run("a known id with another file is drift, and the file goes through under its own", func(t *testing.T) {
		other := invoic("2", "R-2", "100.00")
		r.told(r.post("m-1", asksMDN, other), negative, "")
		r.told(r.post("m-3", asksMDN, other), positive, "")
		r.postedOnce("R-2")
	})
	r.postedOnce("R-1")
}

// TestAS2WithoutMessageID posts a message without a Message-ID: its interchange alone
// is known when it comes again.
func TestAS2WithoutMessageID(t *testing.T) {
	t.Parallel()
	r := newRig(t, unsignedAS2)
	payload := invoic("1", "R-1", "100.00")
	for _, row := range []string{"I1b", "I2"} {
		r.told(r.rawBytes(fmt.Appendf(nil, "POST /as2 HTTP/1.1\r\nHost: gw\r\nAS2-From: TALQUIST-AS2\r\nAS2-To: NORDHAFEN-AS2\r\nContent-Type: application/EDIFACT\r\n%sContent-Length: %d\r\n\r\n%s", asksMDN, len(payload), payload)), positive, "")
		if r.rows() != row {
			t.Errorf("judged by %s, want %s", r.rows(), row)
		}
	}
	r.postedOnce("R-1")
}
