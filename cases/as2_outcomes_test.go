package cases_test

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

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
		h.Map = func(ic *edi.Interchange, n int, b *edi.Body) (*documents.Document, []*edi.Error) {
			d, errs := inner(ic, n, b)
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
// partner is told", each time, and again.
func TestAS2Outcomes(t *testing.T) {
	broken := strings.Replace(invoic("1", "R-1", "100.00"), "UNT+17+1", "UNT+18+1", 1)
	for _, c := range []struct {
		name, settings string
		first          []string // payloads that came before, each under an id of its own
		payload        string
		want, again    string
		says           string // one of its Error fields, in part
		run            func(t *testing.T, r *rig)
	}{
		{name: "accepted", payload: invoic("1", "R-1", "100.00"), want: positive, again: positive},
		{name: "partly, and nothing else says so", settings: "acceptance: message\n", payload: twoMessages(), want: negative, again: negative, says: "UNT"},
		{name: "partly, and a functional acknowledgement says so", settings: "acceptance: message\nacknowledge_by: folder\n", payload: twoMessages(), want: positive, again: positive},
		{name: "rejected, and nothing else says so", payload: broken, want: negative, again: negative, says: "UNT"},
		{name: "rejected, and a functional acknowledgement says so", settings: "acknowledge_by: folder\n", payload: broken, want: positive, again: positive},
		{name: "unreadable", payload: "This is no EDI at all.", want: negative, again: negative},
		{name: "drift, on_drift: reject", first: []string{invoic("1", "R-1", "100.00")}, payload: invoic("1", "R-1", "200.00"), want: negative, again: negative, says: "name alert"},
		{name: "drift, on_drift: hold", settings: "on_drift: hold\n", first: []string{invoic("1", "R-1", "100.00")}, payload: invoic("1", "R-1", "200.00"), want: positive, again: positive},
		{name: "deferred", settings: "processing: deferred\n", payload: invoic("1", "R-1", "100.00"), want: positive, again: positive},
		{name: "dead, on_dead: hold", payload: invoic("1", "BAD-1", "100.00"), want: positive, again: positive},
		{name: "dead, on_dead: refuse, attempts left, then used up", settings: "on_dead: refuse\nattempts: 2\n", payload: invoic("1", "BAD-1", "100.00"), want: `503 ""`, again: negative},
		{name: "sender not allowed", payload: strings.Replace(invoic("1", "R-1", "100.00"), "UNB+UNOC:3+9520001000010", "UNB+UNOC:3+9520001000027", 1),
			want: "200 unsigned processed/error: authentication-failed", again: "200 unsigned processed/error: authentication-failed"},
		{name: "type not in types", settings: "types: [DESADV]\n", payload: invoic("1", "R-1", "100.00"), want: negative, again: negative},
		{name: "replaced: it only ever got 503, and was corrected since", settings: "on_dead: refuse\n", payload: invoic("1", "BAD-1", "100.00"), want: `503 ""`, again: negative,
			run: func(t *testing.T, r *rig) {
				r.told(r.post("other", asksMDN, invoic("1", "R-1", "100.00")), positive, "")
			}},
		{name: "empty", payload: " \r\n", want: negative, again: negative, says: "empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, unsignedAS2+c.settings)
			r.breaks("BAD")
			for i, p := range c.first {
				r.told(r.post(fmt.Sprint("before-", i), asksMDN, p), positive, "")
			}
			one := r.post("m-1", asksMDN, c.payload)
			r.told(one, c.want, "")
			if c.says != "" && !strings.Contains(strings.Join(one.says.Errors, "\n"), c.says) {
				t.Errorf("it says %q, which holds no %q", one.says.Errors, c.says)
			}
			if one.says != nil && one.says.MIC.Digest == nil && c.name != "empty" {
				t.Error("it has no check")
			}
			if c.run != nil {
				c.run(t, r)
			}
			again := r.post("m-1", asksMDN, c.payload)
			r.told(again, c.again, "")
			if c.want == c.again && !bytes.Equal(one.body, again.body) {
				t.Errorf("again it is told in other bytes:\n%s\n%s", one.body, again.body)
			}
			if c.want == positive {
				if none := r.post("m-2", "", c.payload); none.status != 200 || len(none.body) != 0 {
					t.Errorf("under a new id, and no MDN asked for: %s", none)
				}
			}
		})
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

// TestAS2HangUp is a sender whose connection is cut when his message is committed, and
// whose MDN is lost: the retry gets it.
func TestAS2HangUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, unsignedAS2)
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	cut := make(chan error, 1)
	var once sync.Once
	r.gateway.Hook = func(point string) {
		if point == "claim" {
			once.Do(func() { cut <- conn.Close() })
		}
	}
	text := invoic("1", "R-1", "100.00")
	if _, err := fmt.Fprintf(conn, "POST /as2 HTTP/1.1\r\nHost: gw\r\nAS2-From: TALQUIST-AS2\r\nAS2-To: NORDHAFEN-AS2\r\nMessage-ID: <m-1@talquist.example>\r\nContent-Type: application/EDIFACT\r\n%sContent-Length: %d\r\n\r\n%s", asksSigned, len(text), text); err != nil {
		t.Fatal(err)
	}
	if err := <-cut; err != nil {
		t.Fatal(err)
	}
	again := r.post("m-1", asksSigned, text) // waits for the first
	r.told(again, asSigned, "")
	third := r.post("m-1", asksSigned, text)
	if !bytes.Equal(again.body, third.body) {
		t.Error("the MDN is another one")
	}
	if rows := r.deliveries(3); len(rows) != 3 || rows[2].Verdict != string(gateway.First) || rows[0].Verdict != string(gateway.Duplicate) || rows[1].Verdict != string(gateway.Duplicate) {
		t.Errorf("got %d deliveries", len(rows))
	}
	r.postedOnce("R-1")
}

// TestAS2Strangers sends under names that are nobody's, and forged messages under a name
// that is somebody's: neither burns an id, and what they leave is bounded.
func TestAS2Strangers(t *testing.T) {
	t.Parallel()
	t.Run("unknown names leave no row", func(t *testing.T) {
		r := newRig(t, signedBy("48-resigned-resend"))
		text := invoic("1", "R-1", "100.00")
		for i := range 1000 {
			from := "TALQUIST-AS2"
			to := fmt.Sprint("NOBODY-", i)
			if i%2 == 0 {
				from, to = to, "NORDHAFEN-AS2"
			}
			m := r.rawBytes(fmt.Appendf(nil, "POST /as2 HTTP/1.1\r\nHost: gw\r\nAS2-From: %s\r\nAS2-To: %s\r\nMessage-ID: <%d@x>\r\n%sContent-Length: %d\r\n\r\n%s", from, to, i, asksMDN, len(text), text))
			if m.String() != "200 unsigned processed/error: unknown-trading-partner" {
				t.Fatalf("got %s", m)
			}
		}
		for _, table := range []string{"inbox", "delivery", "payload", "outbox", "document"} {
			if n := r.count(`select count(*) from ` + table); n != 0 {
				t.Errorf("%d rows in %s", n, table)
			}
		}
	})
	t.Run("forged messages under a known name fill the quarantine to its cap, and the genuine one is First", func(t *testing.T) {
		r := newRig(t, signedBy("48-resigned-resend"))
		for i := range 1010 {
			m := r.post("resigned-1", asksMDN, invoic("1", fmt.Sprint("F-", i), "100.00"))
			if m.String() != "200 unsigned processed/error: insufficient-message-security" {
				t.Fatalf("got %s", m)
			}
		}
		if n := r.count(`select count(*) from delivery`); n != 1000 {
			t.Errorf("%d rows", n)
		}
		for _, table := range []string{"inbox", "outbox", "document"} {
			if n := r.count(`select count(*) from ` + table); n != 0 {
				t.Errorf("%d rows in %s", n, table)
			}
		}
		r.told(r.raw("48-resigned-resend-a.http"), asSigned, "")
		if rows := r.deliveries(1); rows[0].Verdict != string(gateway.First) {
			t.Errorf("the genuine message is %s", rows[0].Verdict)
		}
		r.postedOnce("RG-34")
	})
}
