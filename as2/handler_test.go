package as2

import (
	"bytes"
	"context"
	"crypto"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/edigw/edigw/entity"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ingress is a handler behind a real socket, with what it was given to receive.
type ingress struct {
	*Handler
	t       *testing.T
	url     string
	partner *partners.Partner

	serving  sync.RWMutex // read-locked while a request is served: the log has a line of it after its answer
	mu       sync.Mutex
	got      []*gateway.Delivery
	payloads []string
	answer   gateway.Answer // of the one interchange of each
	fails    error
	capped   bool // no more faults are kept
	log      bytes.Buffer
}

func newIngress(t *testing.T, change ...func(*partners.Partner)) *ingress {
	t.Helper()
	in := &ingress{t: t, partner: rules(change...), answer: gateway.ToldAccepted}
	in.Handler = &Handler{
		ByName: func(from, to string) *partners.Partner {
			if from == "TALQUIST-AS2" && (to == "NORDHAFEN-AS2" || to == `Nordhafen "Port" AS2` || to == from) {
				return in.partner
			}
			return nil
		},
		Keys: func(_ context.Context, organisation string, _ Purpose) ([]Key, error) {
			return []Key{{Label: "ours", Private: known().us.key, Certificates: []*x509.Certificate{known().us.x509}}}, nil
		},
		Receive: in.receive, Leads: begins, Spool: &gateway.Spool{Dir: t.TempDir(), Threshold: 64 << 10}, Now: func() time.Time { return noon },
		Log: slog.New(slog.NewTextHandler(&lockedLog{in}, nil)),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		in.serving.RLock()
		defer in.serving.RUnlock()
		in.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	in.url = server.URL
	return in
}

type lockedLog struct{ in *ingress }

func (l *lockedLog) Write(p []byte) (int, error) {
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	return l.in.log.Write(p)
}

// logged gives the log, with the lines of all that was answered.
func (in *ingress) logged() string {
	in.serving.Lock()
	defer in.serving.Unlock()
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.log.String()
}

// receive does what the gateway does, without its memory.
func (in *ingress) receive(_ context.Context, d *gateway.Delivery) (*gateway.Receipt, error) {
	text, err := io.ReadAll(d.Payload.Reader(0, d.Payload.Size()))
	if err != nil {
		return nil, err
	}
	in.mu.Lock()
	in.got, in.payloads = append(in.got, d), append(in.payloads, string(text))
	in.mu.Unlock()
	if d.Fault != nil {
		if in.capped {
			d.Elsewhere = nil
		}
		return nil, d.Fault
	}
	if in.fails != nil {
		return nil, in.fails
	}
	raw, err := json.Marshal(gateway.InterchangeReceipt{Detail: "It is not as it should be", Findings: []gateway.Finding{{Severity: "error", Message: "BGM is missing"}}})
	if err != nil {
		return nil, err
	}
	r := &gateway.Receipt{Partner: d.Partner.ID, MessageID: d.TransportID, Answer: in.answer, Items: []gateway.Item{{Answer: in.answer, JSON: raw}}}
	r.Rendered, err = d.Render(r)
	return r, err
}

// reply is an answer as it came.
type reply struct {
	status int
	header http.Header
	body   []byte
	report *Notification
	opened *Opened
}

// send posts a message under the usual names, with further header fields over them; a
// field that is - is left out.
func (in *ingress) send(c Composed, fields ...string) reply {
	in.t.Helper()
	return in.do(http.MethodPost, c, fields...)
}

func (in *ingress) do(method string, c Composed, fields ...string) reply {
	in.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, in.url, bytes.NewReader(c.Body))
	if err != nil {
		in.t.Fatal(err)
	}
	for name, value := range map[string]string{"AS2-From": "TALQUIST-AS2", "AS2-To": "NORDHAFEN-AS2", "AS2-Version": "1.2", "Message-ID": "<m1@talquist.example>",
		"Content-Type": c.ContentType, "Content-Transfer-Encoding": c.Encoding, "Content-Disposition": c.Disposition, "Disposition-Notification-To": "edi@talquist.example"} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		if value == "-" {
			r.Header.Del(name)
			continue
		}
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		in.t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	return in.read(resp)
}

func (in *ingress) read(resp *http.Response) reply {
	in.t.Helper()
	body, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		in.t.Fatal(err)
	}
	a := reply{status: resp.StatusCode, header: resp.Header, body: body}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "multipart/") {
		o := opener(rules(unsigned, func(p *partners.Partner) { p.Certificates = []*partners.Certificate{certificate("us", known().us)} }))
		if a.opened, err = o.Open(outerEntity(resp.Header, bytes.Clone(body)), Wanted{}); err != nil {
			in.t.Fatal(err)
		}
		if a.report, err = ParseReport(a.opened.Report); err != nil {
			in.t.Fatal(err)
		}
	}
	return a
}

const signedMDN = "Disposition-Notification-Options: signed-receipt-protocol=required, pkcs7-signature; signed-receipt-micalg=optional, sha512, sha256"

func (a reply) says() string {
	switch {
	case a.report == nil:
		return fmt.Sprint(a.status)
	case a.opened.Signed:
		return fmt.Sprint(a.status, " signed ", strings.TrimPrefix(a.report.Disposition.String(), "automatic-action/MDN-sent-automatically; "))
	}
	return fmt.Sprint(a.status, " ", strings.TrimPrefix(a.report.Disposition.String(), "automatic-action/MDN-sent-automatically; "))
}

func TestServe(t *testing.T) {
	all := known()
	signed := Wrapping{Signature: signature(all.partner)}
	t.Run("a signed and encrypted message gets a signed MDN with its check", func(t *testing.T) {
		in := newIngress(t)
		c, mic := wrap(t, Wrapping{Signature: signature(all.partner), Compress: true, Envelope: envelope(all.us)}, edifact, 0)
		a := in.send(c, signedMDN)
		if a.says() != "200 signed processed" {
			t.Fatalf("got %s: %s", a.says(), a.body)
		}
		if !a.report.MIC.Equal(mic) || a.report.MIC.Algorithm != "sha256" || a.report.Original != "<m1@talquist.example>" {
			t.Errorf("got %+v", a.report)
		}
		want := []string{"NORDHAFEN-AS2", "TALQUIST-AS2", "1.2"}
		if diff := cmp.Diff(want, []string{a.header.Get("AS2-From"), a.header.Get("AS2-To"), a.header.Get("AS2-Version")}); diff != "" {
			t.Error(diff)
		}
		d := in.got[0]
		if in.payloads[0] != string(edifact.Body) || d.Transport != "as2" || d.TransportID != "as2:NORDHAFEN-AS2:m1@talquist.example" || d.Filename != "invoic.edi" || !d.Signs || d.Elsewhere != nil {
			t.Errorf("got %+v", d)
		}
		if len(d.Evidence) != 2 || d.Evidence[0].Name != "signed-entity.eml" || d.Evidence[1].Name != "certificate.pem" {
			t.Errorf("evidence %+v", d.Evidence)
		}
	})
	t.Run("what is signed is kept once: the payload's bytes stand in the payload", func(t *testing.T) {
		for name, w := range map[string]Wrapping{"signed": signed, "signed and encrypted": {Signature: signature(all.partner), Envelope: envelope(all.us)}} {
			in := newIngress(t)
			c, _ := wrap(t, w, edifact, 0)
			in.send(c)
			x := in.got[0].Evidence[0]
			if len(x.Stretches) != 1 || x.Stretches[0].Length != int64(len(edifact.Body)) {
				t.Fatalf("%s: %+v", name, x.Stretches)
			}
			rest, err := x.Body.Slice(0, x.Body.Size())
			if err != nil {
				t.Fatal(err)
			}
			at := x.Stretches[0].At
			whole := string(rest[:at]) + in.payloads[0] + string(rest[at:])
			e, err := entity.Parse([]byte(whole))
			if err != nil {
				t.Fatal(err)
			}
			m, err := opener(rules()).Open(e, Wanted{})
			if err != nil || !m.Signed {
				t.Errorf("%s: put together it is not verified: %v", name, err)
			}
		}
	})
	t.Run("what is signed around an encryption is kept as it was signed", func(t *testing.T) {
		in := newIngress(t)
		inner, _ := wrap(t, Wrapping{Envelope: envelope(all.us)}, edifact, crypto.SHA256)
		c, err := sign(*signature(all.partner), inner.bytes())
		if err != nil {
			t.Fatal(err)
		}
		if a := in.send(c); a.says() != "200 processed" || in.payloads[0] != string(edifact.Body) {
			t.Fatalf("got %s, %q", a.says(), in.payloads)
		}
		kept, err := in.got[0].Evidence[0].Body.Slice(0, in.got[0].Evidence[0].Body.Size())
		if err != nil {
			t.Fatal(err)
		}
		e, err := entity.Parse(kept)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := opener(rules()).Open(e, Wanted{}); err != nil || !m.Signed {
			t.Errorf("it is not verified: %v", err)
		}
	})
	t.Run("an MDN names us as the sender does, and the names' quotation marks stay", func(t *testing.T) {
		in := newIngress(t, unsigned)
		a := in.send(edifact, `AS2-To: "Nordhafen \"Port\" AS2"`, `AS2-From: "TALQUIST-AS2"`)
		want := []string{`"Nordhafen \"Port\" AS2"`, `"TALQUIST-AS2"`}
		if diff := cmp.Diff(want, []string{a.header.Get("AS2-From"), a.header.Get("AS2-To")}); diff != "" {
			t.Error(diff)
		}
		if got := in.got[0].TransportID; got != `as2:Nordhafen "Port" AS2:m1@talquist.example` {
			t.Errorf("got %s", got)
		}
	})
	t.Run("what a sender asks for decides which MDN it gets", func(t *testing.T) {
		for name, c := range map[string]struct {
			fields []string
			want   string
		}{
			"unsigned":                       {nil, "200 processed"},
			"signed":                         {[]string{signedMDN}, "200 signed processed"},
			"options alone ask for none":     {[]string{signedMDN, "Disposition-Notification-To: -"}, "200"},
			"none":                           {[]string{"Disposition-Notification-To: -"}, "200"},
			"a protocol that is not known":   {[]string{"Disposition-Notification-Options: signed-receipt-protocol=required, pgp-signature"}, "200 failed/failure: unsupported format"},
			"an algorithm that is not known": {[]string{"Disposition-Notification-Options: signed-receipt-protocol=optional, pkcs7-signature; signed-receipt-micalg=required, tiger"}, "200 signed failed/failure: unsupported mic-algorithms"},
			"a protocol that is not known, and need not be": {[]string{"Disposition-Notification-Options: signed-receipt-protocol=optional, pgp-signature"}, "200 processed"},
		} {
			in := newIngress(t, unsigned)
			a := in.send(edifact, c.fields...)
			if a.says() != c.want {
				t.Errorf("%s: got %s, want %s: %s", name, a.says(), c.want, a.body)
			}
			if c.want == "200" && len(a.body) != 0 {
				t.Errorf("%s: %q", name, a.body)
			}
		}
	})
	t.Run("an asynchronous one is left to the outbox", func(t *testing.T) {
		in := newIngress(t, unsigned, func(p *partners.Partner) { p.AS2.MDNHosts = []string{"as2.talquist.example"} })
		a := in.send(edifact, "Receipt-Delivery-Option: https://as2.talquist.example/mdn?a=b")
		if a.status != http.StatusNoContent || len(a.body) != 0 {
			t.Errorf("got %d %s", a.status, a.body)
		}
		if diff := cmp.Diff(&gateway.Elsewhere{Type: "MDN", Target: "as2-mdn", Address: "https://as2.talquist.example/mdn?a=b"}, in.got[0].Elsewhere); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("an address that the partner may not name is not used: the MDN is in the response, and says so", func(t *testing.T) {
		for _, address := range []string{"http://169.254.169.254/latest", "file:///etc/passwd", "https://user:secret@as2.talquist.example/mdn"} {
			in := newIngress(t, unsigned, func(p *partners.Partner) { p.AS2.MDNHosts = []string{"as2.talquist.example"} })
			a := in.send(edifact, "Receipt-Delivery-Option: "+address)
			if a.says() != "200 processed" || in.got[0].Elsewhere != nil || !strings.Contains(a.report.Text, "ask us to") || !strings.Contains(in.logged(), "the address for the MDN") {
				t.Errorf("%s: got %s, %+v, %s", address, a.says(), in.got[0].Elsewhere, in.logged())
			}
		}
	})
	t.Run("the two kinds of answer, and other keys, are other bindings; the same is the same", func(t *testing.T) {
		in := newIngress(t, unsigned, func(p *partners.Partner) { p.AS2.MDNHosts = []string{"as2.talquist.example"} })
		in.send(edifact)
		in.send(edifact)
		in.send(edifact, signedMDN)
		in.send(edifact, "Receipt-Delivery-Option: https://as2.talquist.example/")
		in.send(edifact, "Disposition-Notification-To: -")
		c := edifact
		c.Body = append(bytes.Clone(c.Body), '\n')
		in.send(c)
		var kinds []int
		for _, d := range in.got {
			for i, o := range in.got {
				if bytes.Equal(d.Binding, o.Binding) {
					kinds = append(kinds, i)
					break
				}
			}
		}
		if diff := cmp.Diff([]int{0, 0, 2, 3, 4, 5}, kinds); diff != "" {
			t.Error(diff)
		}
		if in.got[4].Binding != nil {
			t.Error("an answer without an MDN is tied to something")
		}
	})
	t.Run("a message without an id has no transport key, and its MDN names none", func(t *testing.T) {
		in := newIngress(t, unsigned)
		a := in.send(edifact, "Message-ID: -")
		if a.says() != "200 processed" || in.got[0].TransportID != "" || a.report.Original != "" {
			t.Errorf("got %s, %+v", a.says(), a.report)
		}
	})
	t.Run("a large plain body stays in its file, and its check is right", func(t *testing.T) {
		in := newIngress(t, unsigned)
		c := Composed{ContentType: "application/EDIFACT", Body: bytes.Repeat([]byte("UNB+x'"), 100_000)}
		a := in.send(c, "Disposition-Notification-Options: signed-receipt-micalg=optional, sha-384")
		_, mic := wrap(t, Wrapping{}, c, crypto.SHA384)
		if a.says() != "200 processed" || !a.report.MIC.Equal(mic) || in.payloads[0] != string(c.Body) {
			t.Errorf("got %s, %v", a.says(), a.report)
		}
		if _, memory := in.got[0].Payload.InMemory(); memory {
			t.Error("it is in memory")
		}
	})
	t.Run("several attachments are one payload in parts, and those that are no EDI are kept beside it", func(t *testing.T) {
		in := newIngress(t, unsigned)
		second := "ISA*00*x~"
		c := Composed{ContentType: "multipart/related; boundary=b", Body: []byte("--b\r\n" + string(edifact.bytes()) + "\r\n--b\r\nContent-Type: application/pdf; name=a.pdf\r\n\r\n%PDF\r\n--b\r\nContent-Type: application/EDI-X12\r\n\r\n" + second + "\r\n--b--\r\n")}
		a := in.send(c)
		d := in.got[0]
		if a.says() != "200 processed" || in.payloads[0] != string(edifact.Body)+second {
			t.Fatalf("got %s, %q", a.says(), in.payloads)
		}
		if diff := cmp.Diff([]int64{int64(len(edifact.Body)), int64(len(edifact.Body) + len(second))}, d.Parts); diff != "" {
			t.Error(diff)
		}
		if len(d.Evidence) != 1 || d.Evidence[0].Name != "part-2-a.pdf" {
			t.Errorf("got %+v", d.Evidence)
		}
	})
}

func TestNotify(t *testing.T) {
	r, err := given().Render(signature(known().partner))
	if err != nil {
		t.Fatal(err)
	}
	c := Composed{ContentType: r.ContentType, Body: r.Body}
	t.Run("an MDN is handed on, is no message, and gets no MDN", func(t *testing.T) {
		in := newIngress(t)
		var got []string
		in.Notify = func(_ context.Context, p *partners.Partner, n *Notification, o *Opened) (bool, error, error) {
			got = append(got, p.ID, n.Original, fmt.Sprint(o.Signed))
			return true, nil, nil
		}
		for _, fields := range [][]string{{}, {"Message-ID: -"}} {
			if a := in.send(c, fields...); a.status != http.StatusOK || len(a.body) != 0 {
				t.Errorf("got %d %s", a.status, a.body)
			}
		}
		if diff := cmp.Diff([]string{"talquist", "<a@b>", "true", "talquist", "<a@b>", "true"}, got); diff != "" {
			t.Error(diff)
		}
		if log := in.logged(); strings.Count(log, "an MDN came") != 2 || strings.Contains(log, "level=ERROR") || strings.Contains(log, "msg=delivery") {
			t.Errorf("the log says %s", log)
		}
		if len(in.got) != 0 {
			t.Error("it was received as a message")
		}
	})
	t.Run("one that does not acknowledge what was sent is logged, with the reason", func(t *testing.T) {
		in := newIngress(t)
		in.Notify = func(context.Context, *partners.Partner, *Notification, *Opened) (bool, error, error) {
			return true, errors.New("it has another check"), nil
		}
		if a := in.send(c); a.status != http.StatusOK || !strings.Contains(in.logged(), "does not acknowledge") || !strings.Contains(in.logged(), "it has another check") {
			t.Errorf("got %d, %s", a.status, in.logged())
		}
	})
	t.Run("one that cannot be noted now comes again", func(t *testing.T) {
		in := newIngress(t)
		in.Notify = func(context.Context, *partners.Partner, *Notification, *Opened) (bool, error, error) {
			return false, nil, errors.New("the database is away")
		}
		if a := in.send(c); a.status != http.StatusServiceUnavailable {
			t.Errorf("got %d", a.status)
		}
	})
	t.Run("one that nobody waits for is logged", func(t *testing.T) {
		in := newIngress(t)
		if a := in.send(c); a.status != http.StatusOK || !strings.Contains(in.logged(), "nobody waits for") {
			t.Errorf("got %d, %s", a.status, in.logged())
		}
	})
	t.Run("one that cannot be read is 400", func(t *testing.T) {
		in := newIngress(t)
		if a := in.send(Composed{ContentType: "multipart/report; boundary=b", Body: []byte("--b\r\n\r\nx\r\n--b--")}); a.status != http.StatusBadRequest {
			t.Errorf("got %d", a.status)
		}
	})
}

func TestMethods(t *testing.T) {
	in := newIngress(t)
	for method, want := range map[string]int{http.MethodHead: 200, http.MethodGet: 200, http.MethodOptions: 204, http.MethodPut: 405, http.MethodDelete: 405} {
		a := in.do(method, Composed{})
		if a.status != want {
			t.Errorf("%s: got %d", method, a.status)
		}
		if method == http.MethodHead && a.header.Get("Content-Length") != "0" {
			t.Errorf("HEAD has the length %q: it would mean that a transfer may be resumed", a.header.Get("Content-Length"))
		}
	}
	if len(in.got) != 0 {
		t.Error("something was received")
	}
}
