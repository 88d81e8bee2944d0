package as4_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// frame writes a multipart body of a SOAP part and others.
func frame(soap string, parts ...string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "--b\r\nContent-Type: application/soap+xml\r\nContent-ID: <root>\r\n\r\n%s\r\n", soap)
	for _, p := range parts {
		fmt.Fprintf(&b, "--b\r\n%s\r\n", p)
	}
	b.WriteString("--b--\r\n")
	return b.Bytes()
}

const framed = `multipart/related; type="application/soap+xml"; boundary=b; start="<root>"`

// envelopeOf is an unsigned message with one PartInfo for each id.
func envelopeOf(t *testing.T, id string, ids ...string) string {
	t.Helper()
	var payloads []as4.Payload
	for _, id := range ids {
		p := as4.Bytes([]byte("x"), "application/edifact")
		p.ContentID = id
		payloads = append(payloads, p)
	}
	c, err := as4.Compose(message(id), payloads, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	body := c.Body()
	b, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	from, to := bytes.Index(b, []byte("<S12:Envelope")), bytes.Index(b, []byte("</S12:Envelope>"))
	if from < 0 || to < 0 {
		t.Fatalf("no envelope in %s", b)
	}
	return string(b[from:to]) + "</S12:Envelope>"
}

func TestFraming(t *testing.T) {
	text := interchange("REF1", "R-1", "100.00")
	part := func(id, content string) string { return "Content-ID: <" + id + ">\r\n\r\n" + content }
	r := newRig(t, "unsigned: accept\nunencrypted: accept")
	for _, c := range []struct {
		name, contentType string
		body              []byte
		want              string
	}{
		{"10,000 tiny parts", framed, frame(envelopeOf(t, "m1", "p1"), strings.Split(strings.Repeat("\r\nx\x00", 10_000), "\x00")...), as4.MimeInconsistency},
		{"10,000 tiny parts with ids", framed, frame(envelopeOf(t, "m1", "p1"), many(10_000)...), as4.MimeInconsistency},
		{"two parts of one Content-ID", framed, frame(envelopeOf(t, "m1", "p1"), part("p1", text), part("p1", "other")), as4.MimeInconsistency},
		{"two parts of one Content-ID, one without brackets", framed, frame(envelopeOf(t, "m1", "p1"), part("p1", text), "Content-ID: p1\r\n\r\nother"), as4.MimeInconsistency},
		{"a part of the Content-ID of the SOAP part", framed, frame(envelopeOf(t, "m1", "root"), part("root", text)), as4.MimeInconsistency},
		{"two PartInfo for one part", framed, frame(strings.ReplaceAll(envelopeOf(t, "m1", "p1", "p2"), "cid:p2", "cid:p1"), part("p1", text)), as4.ValueInconsistent},
		{"a PartInfo without its part", framed, frame(envelopeOf(t, "m1", "p1")), as4.ExternalPayloadError},
		{"a part without a PartInfo", framed, frame(envelopeOf(t, "m1", "p1"), part("p1", text), part("p2", text)), as4.ExternalPayloadError},
		{"a long header of a part", framed, frame(envelopeOf(t, "m1", "p1"), "X-Long: "+strings.Repeat("x", 100_000)+"\r\n"+part("p1", text)), as4.MimeInconsistency},
		{"an unknown transfer encoding", framed, frame(envelopeOf(t, "m1", "p1"), "Content-Transfer-Encoding: x-uuencode\r\n"+part("p1", text)), as4.MimeInconsistency},
		{"a body that was cut", framed, frame(envelopeOf(t, "m1", "p1"), part("p1", text))[:1500], as4.MimeInconsistency},
		{"much behind the closing boundary", framed, append(frame(envelopeOf(t, "m1", "p1"), part("p1", text)), bytes.Repeat([]byte("x"), 100_000)...), as4.MimeInconsistency},
		{"a start that names no part", strings.Replace(framed, "<root>", "<other>", 1), frame(envelopeOf(t, "m1", "p1"), part("p1", text)), as4.MimeInconsistency},
		{"no boundary", `multipart/related; type="application/soap+xml"`, frame(envelopeOf(t, "m1", "p1"), part("p1", text)), as4.MimeInconsistency},
		{"a SOAP part of another type", framed, bytes.Replace(frame(envelopeOf(t, "m1", "p1"), part("p1", text)), []byte("application/soap+xml"), []byte("application/xop+xml"), 1), as4.MimeInconsistency},
		{"a large SOAP part", "application/soap+xml", []byte("<S12:Envelope>" + strings.Repeat(" ", 3<<20)), as4.InvalidHeader + ", fault Sender"},
		{"a document by itself", "text/plain", []byte(text), as4.InvalidHeader + ", fault Sender"},
		{"a form", "multipart/form-data; boundary=b", frame("x"), as4.InvalidHeader + ", fault Sender"},
		{"no Content-Type", "", []byte("x"), as4.InvalidHeader + ", fault Sender"},
		{"SOAP 1.1", "text/xml", []byte(strings.ReplaceAll(envelopeOf(t, "m1"), "http://www.w3.org/2003/05/soap-envelope", "http://schemas.xmlsoap.org/soap/envelope/")), as4.InvalidHeader + ", fault VersionMismatch"},
		{"SOAP 1.1 that says to be 1.2", "application/soap+xml", []byte(strings.ReplaceAll(envelopeOf(t, "m1"), "http://www.w3.org/2003/05/soap-envelope", "http://schemas.xmlsoap.org/soap/envelope/")), as4.InvalidHeader + ", fault VersionMismatch"},
		{"a DOCTYPE", "application/soap+xml", []byte(`<!DOCTYPE x [<!ENTITY a "b">]>` + envelopeOf(t, "m1")), as4.InvalidHeader + ", fault Sender"},
		{"no XML", "application/soap+xml", []byte("hello"), as4.InvalidHeader + ", fault Sender"},
		{"an envelope without eb:Messaging", "application/soap+xml", []byte(`<S12:Envelope xmlns:S12="http://www.w3.org/2003/05/soap-envelope"><S12:Header/><S12:Body/></S12:Envelope>`), as4.InvalidHeader},
		{"a header block that has to be understood", "application/soap+xml", []byte(strings.Replace(envelopeOf(t, "m1"), "<S12:Header>", `<S12:Header><x:y xmlns:x="urn:x" S12:mustUnderstand="1"></x:y>`, 1)), as4.InvalidHeader + ", fault MustUnderstand"},
		{"no payload at all", "application/soap+xml", []byte(envelopeOf(t, "m1")), as4.ProcessingModeMismatch},
	} {
		t.Run(c.name+" is refused", func(t *testing.T) {
			got := r.post(c.contentType, c.body)
			if got.told() != c.want || !strings.HasPrefix(got.body, "<S12:Envelope") || got.status >= 500 {
				t.Errorf("%d %s, want %s\n%s", got.status, got.told(), c.want, got.body)
			}
			if r.keys()+r.posted() != 0 {
				t.Errorf("%d keys, %d documents", r.keys(), r.posted())
			}
		})
	}
	for name, c := range map[string]struct {
		contentType string
		body        []byte
	}{
		"a payload part before the SOAP part": {framed, slices.Concat([]byte("--b\r\n"+part("p1", interchange("A1", "R-A1", "1.00"))+"\r\n"), frame(envelopeOf(t, "a1", "p1")))},
		"base64":                              {framed, frame(envelopeOf(t, "a2", "p1"), "Content-Transfer-Encoding: base64\r\n"+part("p1", base64.StdEncoding.EncodeToString([]byte(interchange("A2", "R-A2", "1.00")))))},
		"quoted-printable in one line":        {framed, frame(envelopeOf(t, "a6", "p1"), "Content-Transfer-Encoding: quoted-printable\r\n"+part("p1", strings.NewReplacer("+", "=2B", "'", "'"+strings.Repeat("=0D=0A", 100)).Replace(interchange("A6", "R-A6", "1.00"))))},
		"an id with characters that are encoded in the href":             {framed, frame(envelopeOf(t, "a3", "p%1+é@x"), part("p%1+é@x", interchange("A3", "R-A3", "1.00")))},
		"a preamble, an epilogue, and a byte order mark before the XML":  {framed, slices.Concat([]byte("hello\r\n"), frame("\xef\xbb\xbf"+envelopeOf(t, "a4", "p1"), part("p1", interchange("A4", "R-A4", "1.00"))), []byte("bye"))},
		"a part of a type that is nobody's business, and folded headers": {framed, frame(envelopeOf(t, "a5", "p1"), "content-type:\r\n\tapplication/x-unknown;\r\n name=x\r\nX-Other: y\r\n"+part("p1", interchange("A5", "R-A5", "1.00")))},
	} {
		t.Run(name+" is taken", func(t *testing.T) {
			before := r.posted()
			if got := r.post(c.contentType, c.body); got.told() != "receipt" || r.posted() != before+1 {
				t.Errorf("%d %s, %d documents\n%s", got.status, got.told(), r.posted()-before, got.body)
			}
		})
	}
	t.Run("a part before the SOAP part is bounded while nobody knows whose it is", func(t *testing.T) {
		body := slices.Concat([]byte("--b\r\n"+part("p1", strings.Repeat("x", 17<<20))+"\r\n"), frame(envelopeOf(t, "m1", "p1")))
		if got := r.post(framed, body); got.told() != as4.MimeInconsistency {
			t.Errorf("%d %s", got.status, got.told())
		}
	})
	t.Run("a request that HTTP compresses is told how to compress", func(t *testing.T) {
		req, err := http.NewRequest(http.MethodPost, r.url, bytes.NewReader(zip("x")))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", framed)
		req.Header.Set("Content-Encoding", "gzip")
		w, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = w.Body.Close() }() // it is read
		b, err := io.ReadAll(w.Body)
		if got := (posted{w.StatusCode, string(b)}); err != nil || got.told() != as4.InvalidHeader+", fault Sender" || !strings.Contains(got.body, "CompressionType") {
			t.Errorf("%v, %s", err, got.body)
		}
	})
	t.Run("what unproved requests hold together is bounded, and let go when one ends", func(t *testing.T) {
		limits := r.handler.Limits
		defer func() { r.handler.Limits = limits }()
		r.handler.Limits = as4.Limits{MaxUnproved: 40 << 10}
		c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(c, "POST /as4 HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: 100000\r\n\r\n%s", framed, "--b\r\nContent-ID: <root>\r\n\r\n"+strings.Repeat("x", 20<<10)); err != nil {
			t.Fatal(err)
		}
		body := slices.Concat([]byte(strings.Repeat("preamble ", 4<<10)+"\r\n"), frame(envelopeOf(t, "b1", "p1"), part("p1", interchange("B1", "R-B1", "1.00"))))
		waitFor(t, "the second is told to come again", func() bool {
			got := r.post(framed, body)
			return got.status == http.StatusServiceUnavailable && got.told() == as4.DeliveryFailure+", fault Receiver"
		})
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, "it is taken once the first is gone", func() bool { return r.post(framed, body).told() == "receipt" })
	})
	t.Run("a connection that is cut leaves nothing", func(t *testing.T) {
		c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		body := frame(envelopeOf(t, "cut", "p1"), part("p1", text))
		before := r.journal()
		if _, err := fmt.Fprintf(c, "POST /as4 HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", framed, len(body), body[:len(body)-20]); err != nil {
			t.Fatal(err)
		}
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, c); err != nil {
			t.Fatal(err)
		}
		if r.count(`select count(*) from inbox where message_id like '%cut'`) != 0 || r.journal() != before {
			t.Error("something was remembered")
		}
	})
}

// waitFor asks until it holds.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not: %s", what)
		}
	}
}

// many are parts of an id each.
func many(n int) []string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf("Content-ID: <p%d>\r\n\r\nx", i+1)
	}
	return parts
}

func TestSignals(t *testing.T) {
	r := newRig(t, "")
	signal := func(content string) []byte {
		return []byte(`<S12:Envelope xmlns:S12="http://www.w3.org/2003/05/soap-envelope"><S12:Header><eb:Messaging xmlns:eb="http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/"><eb:SignalMessage><eb:MessageInfo><eb:Timestamp>2026-11-29T10:15:00Z</eb:Timestamp><eb:MessageId>s1</eb:MessageId></eb:MessageInfo>` +
			content + `</eb:SignalMessage></eb:Messaging></S12:Header><S12:Body/></S12:Envelope>`)
	}
	for _, c := range []struct {
		name, content, want string
		status              int
	}{
		{"a pull request is told that nothing is pulled here", `<eb:PullRequest/>`, as4.FeatureNotSupported, 200},
		{"a receipt by itself is told that it is not waited for", `<eb:Receipt/>`, as4.FeatureNotSupported, 200},
		{"an error by itself is never answered by an error", `<eb:Error errorCode="EBMS:0004" severity="failure"/>`, "", 202},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := r.post("application/soap+xml", signal(c.content)); got.told() != c.want || got.status != c.status || r.journal() != 0 {
				t.Errorf("%d %s\n%s", got.status, got.told(), got.body)
			}
		})
	}
}

func TestBombs(t *testing.T) {
	r := newRig(t, "")
	r.handler.Limits = as4.Limits{MaxBody: 32 << 20}
	t.Run("a part that decompresses to more than 200 times its size is refused", func(t *testing.T) {
		r.refused(r.compose(message("m1"), gzipped(strings.Repeat(" ", 20<<20))), as4.DecompressionFailure)
	})
	t.Run("payloads that are larger than the limit together are refused", func(t *testing.T) {
		noise := func(seed byte) string { // it compresses to a fiftieth
			var b strings.Builder
			for i := range 17 << 20 / 64 {
				fmt.Fprintf(&b, "%c%062d'", seed, i*i)
			}
			return b.String()
		}
		r.refused(r.compose(message("m2"), gzipped(noise('a')), gzipped(noise('b'))), as4.ProcessingModeMismatch)
	})
	t.Run("a request that announces more than the limit is refused unread", func(t *testing.T) {
		req, err := http.NewRequest(http.MethodPost, r.url, io.LimitReader(neverEnding{}, 33<<20))
		if err != nil {
			t.Fatal(err)
		}
		req.ContentLength = 33 << 20
		req.Header.Set("Content-Type", framed)
		req.Header.Set("Expect", "100-continue")
		w, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = w.Body.Close() }() // it is read
		b, err := io.ReadAll(w.Body)
		if got := (posted{w.StatusCode, string(b)}); err != nil || got.told() != as4.ProcessingModeMismatch {
			t.Errorf("%v, %s", err, got.told())
		}
	})
	if r.keys()+r.posted() != 0 {
		t.Errorf("%d keys, %d documents", r.keys(), r.posted())
	}
}

type neverEnding struct{}

func (neverEnding) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

func TestIdsCannotBeTaken(t *testing.T) {
	text := interchange("REF1", "R-1", "100.00")
	r := newRig(t, "")
	t.Run("by somebody with a valid certificate of his own", func(t *testing.T) {
		forged, err := as4.Compose(message("m1"), []as4.Payload{gzipped(interchange("REF1", "R-9", "9.00"))}, signedBy(mallory()), encryptedTo(nordhafen()))
		if err != nil {
			t.Fatal(err)
		}
		r.refused(forged, as4.FailedAuthentication)
		if r.keys() != 0 {
			t.Error("the id is taken")
		}
	})
	t.Run("the genuine message is First, and the forger learns nothing of its receipt", func(t *testing.T) {
		r.received(r.compose(message("m1"), gzipped(text)))
		forged, err := as4.Compose(message("m1"), []as4.Payload{gzipped(text)}, signedBy(mallory()), encryptedTo(nordhafen()))
		if err != nil {
			t.Fatal(err)
		}
		r.refused(forged, as4.FailedAuthentication)
		if r.posted() != 1 {
			t.Errorf("%d documents", r.posted())
		}
	})
	t.Run("nor is anything of what he sends taken into the spool, or counted among what the partner has here", func(t *testing.T) {
		r.handler.Spool = &gateway.Spool{Dir: t.TempDir(), Threshold: 1 << 10, Cap: 2 << 10}
		defer func() { r.handler.Spool = &gateway.Spool{Dir: t.TempDir()} }()
		admit := r.handler.Admit
		defer func() { r.handler.Admit = admit }()
		r.handler.Admit = func(*partners.Partner, string) (*gateway.Entry, bool) { t.Error("he was admitted"); return nil, true }
		large := as4.Bytes(bytes.Repeat([]byte("0123456789abcdef"), 100_000), "application/edifact")
		forged, err := as4.Compose(message("m9"), []as4.Payload{large}, signedBy(mallory()), encryptedTo(nordhafen()))
		if err != nil {
			t.Fatal(err)
		}
		r.refused(forged, as4.FailedAuthentication)
	})
	t.Run("nor by whoever has another message of the partner's, with its signature", func(t *testing.T) {
		admit, reserve, decrypters := r.handler.Admit, r.handler.Reserve, r.handler.Decrypters
		defer func() { r.handler.Admit, r.handler.Reserve, r.handler.Decrypters = admit, reserve, decrypters }()
		r.handler.Admit = func(*partners.Partner, string) (*gateway.Entry, bool) { t.Error("he was admitted"); return nil, true }
		r.handler.Reserve = func(string, string) (func(), bool) { t.Error("he has the id"); return func() {}, true }
		r.handler.Decrypters = func(context.Context, string) ([]wssec.DecryptionKey, error) {
			t.Error("our key decrypts for him")
			return nil, nil
		}
		// What the partner signed for somebody else, its header replaced.
		c := r.compose(message("elsewhere", func(u *as4.UserMessage) { u.To.ID = "somebody-else" }), gzipped(text))
		forged := bytes.Replace(r.wireOf(c), []byte("somebody-else"), []byte("nordhafen-ap"), 1)
		forged = bytes.Replace(forged, []byte("elsewhere</eb:MessageId>"), []byte("victim</eb:MessageId>"), 1)
		if got := r.post(c.ContentType, forged); got.told() != as4.FailedAuthentication {
			t.Error(got.told())
		}
	})
	t.Run("what was not agreed is told to the partner alone, after its signature was verified", func(t *testing.T) {
		other := func(u *as4.UserMessage) { u.Collaboration.Action = "Other" }
		forged, err := as4.Compose(message("m2", other), []as4.Payload{gzipped(text)}, signedBy(mallory()), encryptedTo(nordhafen()))
		if err != nil {
			t.Fatal(err)
		}
		r.refused(forged, as4.FailedAuthentication)
		r.refused(r.compose(message("m2", other), gzipped(text)), as4.ProcessingModeMismatch)
	})
	t.Run("a changed envelope, and a part of another message, do not verify", func(t *testing.T) {
		c := r.compose(message("m3"), gzipped(text))
		wire := r.wireOf(c)
		for _, change := range [][2]string{{"m3</eb:MessageId>", "m4</eb:MessageId>"}, {"SubmitInterchange", "SubmitInterchangE"}, {`cid:payload-1.m3"></eb`, `cid:payload-1.m3" x="y"></eb`}} {
			if bytes.Contains(wire, []byte(change[0])) {
				if got := r.post(c.ContentType, bytes.Replace(wire, []byte(change[0]), []byte(change[1]), 1)); got.told() != as4.FailedAuthentication {
					t.Errorf("%s: %s", change[1], got.told())
				}
			}
		}
	})
}

func TestPMode(t *testing.T) {
	text := interchange("REF1", "R-1", "100.00")
	r := newRig(t, "agreement: urn:agreed\nfrom: {id: talquist-ap, type: \"urn:oasis:names:tc:ebcore:partyid-type:unregistered\", role: none}\nservices: [{service: \"urn:a\", type: \"urn:t\"}, {service: \"urn:b\", action: X}]\nsignatures: [ed25519]")
	of := func(service, kind, action, agreement string) func(*as4.UserMessage) {
		return func(u *as4.UserMessage) {
			u.Collaboration.Service, u.Collaboration.ServiceType, u.Collaboration.Action, u.Collaboration.Agreement.Value = service, kind, action, agreement
		}
	}
	send := func(id string, change ...func(*as4.UserMessage)) *answer {
		t.Helper()
		c, err := as4.Compose(message(id, change...), []as4.Payload{gzipped(text)}, signedBy(talquistEd()), encryptedTo(nordhafen()))
		if err != nil {
			t.Fatal(err)
		}
		return r.send(c)
	}
	for name, c := range map[string]struct {
		change func(*as4.UserMessage)
		want   string
	}{
		"any action of a service that lists none":         {of("urn:a", "urn:t", "Any", "urn:agreed"), "<nil>"},
		"the action that is listed":                       {of("urn:b", "", "X", "urn:agreed"), "<nil>"},
		"another action":                                  {of("urn:b", "", "Y", "urn:agreed"), as4.ProcessingModeMismatch},
		"another type of service":                         {of("urn:a", "", "Any", "urn:agreed"), as4.ProcessingModeMismatch},
		"another agreement":                               {of("urn:b", "", "X", "urn:other"), as4.ProcessingModeMismatch},
		"no agreement":                                    {of("urn:b", "", "X", ""), as4.ProcessingModeMismatch},
		"the service of tests with another action":        {of(as4.TestService, "", "X", "urn:agreed"), as4.ProcessingModeMismatch},
		"another channel":                                 {func(u *as4.UserMessage) { of("urn:b", "", "X", "urn:agreed")(u); u.MPC = "urn:channel" }, as4.ValueNotRecognized},
		"another role of the partner, which is not fixed": {func(u *as4.UserMessage) { of("urn:b", "", "X", "urn:agreed")(u); u.From.Role = "urn:any" }, "<nil>"},
		"another role of ours":                            {func(u *as4.UserMessage) { of("urn:b", "", "X", "urn:agreed")(u); u.To.Role = "urn:any" }, as4.ProcessingModeMismatch},
	} {
		t.Run(name, func(t *testing.T) {
			if a := send(strings.ReplaceAll(name, " ", "-"), c.change); a.codes() != c.want {
				t.Errorf("%s, want %s", a.codes(), c.want)
			}
		})
	}
	t.Run("an algorithm that is not agreed", func(t *testing.T) {
		r.refused(r.compose(message("rsa", of("urn:b", "", "X", "urn:agreed")), gzipped(text)), as4.PolicyNoncompliance)
	})
	t.Run("unsigned: certificate takes who shows one of the partner's, and nobody else", func(t *testing.T) {
		r := newRig(t, "unsigned: certificate\nunencrypted: accept")
		c, err := as4.Compose(message("m1"), []as4.Payload{gzipped(text)}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.refused(c, as4.PolicyNoncompliance)
		if r.keys() != 0 {
			t.Error("a key was made")
		}
	})
}

func TestThirtyTwoCopies(t *testing.T) {
	r := newRig(t, "")
	c := r.compose(message("m1"), gzipped(interchange("REF1", "R-1", "100.00")))
	done := make(chan *answer)
	for range 32 {
		go func() { done <- r.send(c) }()
	}
	for range 32 {
		if a := <-done; a.err != nil && a.codes() != as4.DeliveryFailure {
			t.Errorf("%v", a.err)
		}
	}
	if r.posted() != 1 {
		t.Errorf("%d documents", r.posted())
	}
	r.received(c)
}
