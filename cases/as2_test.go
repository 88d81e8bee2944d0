package cases_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/as2"
	"github.com/edigw/edigw/entity"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/partners"
)

// overAS2 are the situations of AS2.
var overAS2 = []situation{
	{number: 48, words: "the same payload again in another wrapping",
		does: "a duplicate: the digest is of the decoded payload. Over AS2 the same message signed again, under another boundary, gets the same MDN, byte for byte; over plain HTTP one is sent as it is and one with gzip",
		tries: []try{
			{name: "plain HTTP", run: otherWrapping, files: []string{"48-resigned-resend-a.http", "48-resigned-resend-b.http"}},
			{name: "AS2", settings: signedBy("48-resigned-resend"), run: signedAgain, files: []string{"48-resigned-resend-signer.pem"}}}},
	{number: 50, words: "folded header lines",
		does:  "accepted: a fold in the header of HTTP is a blank; one inside the signed part stays as it is, and the check is over it",
		tries: []try{{settings: signedBy("50-as2-folded-headers"), run: foldsAreKept, files: []string{"50-as2-folded-headers.http", "50-as2-folded-headers-signer.pem"}}}},
	{number: 52, words: "signature and MIC with bare LF on the wire",
		does: "accepted: first as it was sent; where the signature is not over that, over the same with CRLF, unless the part says that it is binary. The payload is what the signature is over, and `let_pass` in the log says so",
		tries: []try{{settings: signedBy("52-as2-mic-line-ends"), run: lineEndsAreJudged,
			files: []string{"52-as2-mic-line-ends-a.http", "52-as2-mic-line-ends-b.http", "52-as2-mic-line-ends-signer.pem"}}}},
	{number: 54, words: "no request for an MDN, or no options",
		does:  "accepted, each: Disposition-Notification-To asks for the MDN, and the options alone ask for nothing: 200 with nothing in it. Without options the MDN is unsigned",
		tries: []try{{settings: unsignedAS2, run: noMDNUnlessAsked, files: []string{"54-as2-no-mdn-request-a.http", "54-as2-no-mdn-request-b.http", "54-as2-no-mdn-request-c.http"}}}},
	{number: 56, words: "an MDN address that the sender chose",
		does: "the message is accepted; the address is not used unless it is one of the partner's `mdn_hosts`, by HTTP, and without a name or password in it. The MDN is then in the response and says so, and `let_pass` in the log does",
		tries: []try{{settings: unsignedAS2, run: addressesAreNotDialled,
			files: []string{"56-as2-async-ssrf-a.http", "56-as2-async-ssrf-b.http", "56-as2-async-ssrf-c.http", "56-as2-async-ssrf-d.http"}}}},
	{number: 59, words: "an empty payload",
		does: "over plain HTTP 400 `empty`, over AS2 an MDN `processed/error: unexpected-processing-error` that says it is empty, each time; no key, nothing queued; the payload itself goes through under the same id",
		tries: []try{
			{name: "plain HTTP", run: emptyIsRefused, files: []string{"59-as2-empty-a.http", "59-as2-empty-b.http"}},
			{name: "AS2", settings: unsignedAS2, run: emptyIsRefusedOverAS2}}},
	{number: 61, words: "an MDN posted to the endpoint for messages",
		does:  "200 and nothing in it: it is known as an MDN, and logged as one that nobody waits for. It is no message, and gets no MDN",
		tries: []try{{settings: unsignedAS2, run: anMDNIsNoMessage, files: []string{"61-as2-mdn-at-endpoint-a.http", "61-as2-mdn-at-endpoint-b.http"}}}},
	{number: 63, words: "file name and message id that look like paths",
		does: "accepted; both are text in the journal, the file name without its path, and no file is written",
		tries: []try{
			{name: "plain HTTP", run: pathsAreText, files: []string{"63-as2-path-names-a.http", "63-as2-path-names-b.http", "63-as2-path-names-c.http"}},
			{name: "AS2", settings: unsignedAS2, run: pathsAreTextOverAS2}}},
	{number: 65, words: "the signer's certificate has expired",
		does: "an MDN `processed/error: authentication-failed`, and no key: the same message signed rightly is First. With `expired_certificates: accept` it is processed, and `let_pass` in the log names the certificate. A certificate that is not the partner's is refused either way",
		tries: []try{
			{name: "as it is", settings: signedBy("65-as2-expired-cert"), run: expiredIsRefused, files: []string{"65-as2-expired-cert.http", "65-as2-expired-cert-signer.pem"}},
			{name: "expired_certificates: accept", settings: signedBy("65-as2-expired-cert", "expired_certificates: accept"), run: expiredIsTaken}}},
}

// unsignedAS2 is talquist as one who does not sign.
const unsignedAS2 = "as2: {names: [TALQUIST-AS2, Talquist Works], signature: optional}\n"

// signedBy is talquist with the certificate of a case's file.
func signedBy(file string, more ...string) string {
	text, err := os.ReadFile(filepath.Join("testdata", file+"-signer.pem"))
	if err != nil {
		panic(err) // a file of ours is missing
	}
	block, _ := pem.Decode(text)
	return fmt.Sprintf("as2: {%s}\ncertificates: [{label: case, certificate: %s, purposes: [as2_sign]}]\n",
		strings.Join(append([]string{"names: [TALQUIST-AS2, Talquist Works]"}, more...), ", "), base64.StdEncoding.EncodeToString(block.Bytes))
}

// ours is the key that MDNs are signed with.
var ours = sync.OnceValue(func() as2.Key {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	c, err := selfSigned("nordhafen", key)
	if err != nil {
		panic(err)
	}
	return as2.Key{Label: "test", Private: key, Certificates: []*x509.Certificate{c}}
})

func ourKeys(context.Context, string, as2.Purpose) ([]as2.Key, error) { return []as2.Key{ours()}, nil }

// mdn is an answer over AS2.
type mdn struct {
	status int
	header http.Header
	body   []byte
	says   *as2.Notification // nil for no MDN
	signed bool
}

func (m *mdn) String() string {
	if m.says == nil {
		return fmt.Sprintf("%d %q", m.status, m.body)
	}
	how := "unsigned"
	if m.signed {
		how = "signed"
	}
	return fmt.Sprint(m.status, " ", how, " ", strings.TrimPrefix(m.says.Disposition.String(), "automatic-action/MDN-sent-automatically; "))
}

// raw sends a file of testdata byte for byte over a connection of its own; edit are
// pairs of old and new of the same length.
func (r *rig) raw(file string, edit ...string) *mdn {
	r.t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i < len(edit); i += 2 {
		if !bytes.Contains(b, []byte(edit[i])) || len(edit[i]) != len(edit[i+1]) {
			r.t.Fatalf("%s holds no %q, or that is longer or shorter than %q", file, edit[i], edit[i+1])
		}
		b = bytes.ReplaceAll(b, []byte(edit[i]), []byte(edit[i+1]))
	}
	return r.rawBytes(b)
}

func (r *rig) rawBytes(b []byte) *mdn {
	r.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		r.t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write(b); err != nil {
		r.t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.mdnOf(resp)
}

// mdnOf reads an answer as the sender does: verified with our certificate.
func (r *rig) mdnOf(resp *http.Response) *mdn {
	r.t.Helper()
	defer resp.Body.Close()
	m := &mdn{status: resp.StatusCode, header: resp.Header}
	var err error
	if m.body, err = io.ReadAll(resp.Body); err != nil {
		r.t.Fatal(err)
	}
	if m.status == 500 {
		r.t.Fatalf("500: %s", m.body)
	}
	if !strings.HasPrefix(m.header.Get("Content-Type"), "multipart/") {
		return m
	}
	o := as2.Opener{Partner: &partners.Partner{AS2: partners.AS2{OldAlgorithms: []string{"sha1"}}, Certificates: []*partners.Certificate{{Label: "nordhafen", Purposes: []string{partners.AS2Sign}, X509: ours().Certificates[0]}}}, Now: time.Now()}
	opened, err := o.Open(&entity.Entity{Body: bytes.Clone(m.body), Fields: []entity.Field{{Name: "Content-Type", Value: m.header.Get("Content-Type")}}}, as2.Wanted{})
	if err != nil {
		r.t.Fatal(err)
	}
	m.signed = opened.Signed
	if m.says, err = as2.ParseReport(opened.Report); err != nil {
		r.t.Fatal(err)
	}
	return m
}

// told expects an answer in words, with its check.
func (r *rig) told(m *mdn, want, mic string) {
	r.t.Helper()
	got := m.String()
	if mic != "" {
		got, want = got+" "+m.says.MIC.String(), want+" "+mic
	}
	if got != want {
		r.t.Fatalf("got %s\nwant %s\n%s", got, want, m.body)
	}
}

const asSigned = "200 signed processed"

func signedAgain(t *testing.T, r *rig) {
	const mic = "ATb7BXpLqtty4tN+orYNFoj8yCmieujawtb2Q0JjgmI=, sha-256"
	first := r.raw("48-resigned-resend-a.http")
	r.told(first, asSigned, mic)
	again := r.raw("48-resigned-resend-b.http")
	r.told(again, asSigned, mic)
	if !bytes.Equal(first.body, again.body) || first.header.Get("Message-ID") != again.header.Get("Message-ID") || first.header.Get("Content-Type") != again.header.Get("Content-Type") {
		t.Error("the MDN is another one")
	}
	third := r.raw("48-resigned-resend-b.http", "<resigned-1@", "<resigned-2@")
	r.told(third, asSigned, mic)
	if third.says.Original == first.says.Original || len(r.alerts()) != 0 {
		t.Error("under a new id it is no duplicate")
	}
	r.postedOnce("RG-34")
	if n := r.count(`select count(*) from evidence where seq = 0`); n != 2 {
		t.Errorf("%d exhibits of one payload", n)
	}
}

func foldsAreKept(t *testing.T, r *rig) {
	r.told(r.raw("50-as2-folded-headers.http"), asSigned, "IcUNAyfZFw4d5YX8HrXsXcmHYQuGu+gFicRffTBqrtk=, sha-256")
	r.postedOnce("RG-26-10871")
	if rows := r.deliveries(1); rows[0].Filename != "invoic-long-name.edi" {
		t.Errorf("file name %q", rows[0].Filename)
	}
}

func lineEndsAreJudged(t *testing.T, r *rig) {
	r.told(r.raw("52-as2-mic-line-ends-a.http"), asSigned, "uZllyUPYSHBdRGbKBww0k3t45YIpyDpIs5SUSZNDOME=, sha-256")
	r.told(r.raw("52-as2-mic-line-ends-b.http"), asSigned, "Pn0f10GHZcLz6fQFCQYGSX9tR5i3RKgRHOm9sh8dwrI=, sha-256")
	if !strings.Contains(r.logged(), "signed with CRLF, and sent with LF") {
		t.Error("the log does not say it")
	}
	text, err := journal.Reader{Pool: r.pool}.Payload(t.Context(), "talquist", *r.deliveries(1)[0].Payload, *r.deliveries(1)[0].PayloadIn, 0, 200)
	if err != nil || bytes.Contains(text, []byte("\r\n")) || !bytes.Contains(text, []byte("\n")) {
		t.Errorf("the payload that was signed as it is was changed: %q, %v", text, err)
	}
}

func noMDNUnlessAsked(t *testing.T, r *rig) {
	r.told(r.raw("54-as2-no-mdn-request-a.http"), `200 ""`, "")
	r.told(r.raw("54-as2-no-mdn-request-b.http", "RG-26-10871", "RG-26-10872"), "200 unsigned processed", "")
	r.told(r.raw("54-as2-no-mdn-request-c.http", "RG-26-10871", "RG-26-10873"), `200 ""`, "")
	for _, number := range []string{"RG-26-10871", "RG-26-10872", "RG-26-10873"} {
		r.postedOnce(number)
	}
	r.told(r.raw("54-as2-no-mdn-request-a.http"), `200 ""`, "")
	r.postedOnce("RG-26-10871")
	if rows := r.deliveries(4); rows[0].Verdict != "duplicate" {
		t.Errorf("again it is %s", rows[0].Verdict)
	}
}

func addressesAreNotDialled(t *testing.T, r *rig) {
	for i, file := range []string{"56-as2-async-ssrf-a.http", "56-as2-async-ssrf-b.http", "56-as2-async-ssrf-c.http", "56-as2-async-ssrf-d.http"} {
		number := fmt.Sprint("RG-26-2087", i)
		m := r.raw(file, "RG-26-10871", number)
		r.told(m, "200 unsigned processed", "")
		if !strings.Contains(m.says.Text, "ask us to") {
			t.Errorf("%s: it does not say why the MDN is here: %s", file, m.says.Text)
		}
		r.postedOnce(number)
	}
	if n := r.count(`select count(*) from effect where target = 'as2-mdn'`); n != 0 {
		t.Errorf("%d MDNs are on their way", n)
	}
	if strings.Count(r.logged(), "the address for the MDN") != 4 {
		t.Error("the log does not say it")
	}
	r.settings("as2: {names: [TALQUIST-AS2], signature: optional, mdn_hosts: [\"gw.nordhafen.example:5432\"]}\n")
	if m := r.raw("56-as2-async-ssrf-c.http", "<ssrf-c@", "<ssrf-e@"); m.status != http.StatusNoContent {
		t.Errorf("a host that the partner may name: %s", m)
	}
	if n := r.count(`select count(*) from effect where target = 'as2-mdn'`); n != 1 {
		t.Errorf("%d MDNs are on their way", n)
	}
}

func emptyIsRefusedOverAS2(t *testing.T, r *rig) {
	for _, file := range []string{"59-as2-empty-a.http", "59-as2-empty-b.http"} {
		first, again := r.raw(file), r.raw(file)
		r.told(first, "200 unsigned processed/error: unexpected-processing-error", "")
		if !slices.Equal(first.says.Errors, []string{"The message is empty."}) || !bytes.Equal(first.body, again.body) {
			t.Errorf("%s: %s, then %s", file, first.body, again.body)
		}
		for _, table := range []string{"inbox", "document", "outbox"} {
			if n := r.count(`select count(*) from ` + table); n != 0 {
				t.Fatalf("%d rows in %s", n, table)
			}
		}
	}
}

func anMDNIsNoMessage(t *testing.T, r *rig) {
	for _, file := range []string{"61-as2-mdn-at-endpoint-a.http", "61-as2-mdn-at-endpoint-b.http"} {
		r.told(r.raw(file), `200 ""`, "")
	}
	for _, table := range []string{"inbox", "document", "outbox", "delivery"} {
		if n := r.count(`select count(*) from ` + table); n != 0 {
			t.Errorf("%d rows in %s", n, table)
		}
	}
	if strings.Count(r.logged(), "nobody waits for") != 2 {
		t.Error("the log does not say it")
	}
}

func pathsAreTextOverAS2(t *testing.T, r *rig) {
	before := r.files()
	for i, c := range []struct{ file, id, kept string }{
		{"63-as2-path-names-a.http", "path-1@talquist.example", "x"},
		{"63-as2-path-names-b.http", "../../tmp/x@talquist.example", ""},
		{"63-as2-path-names-c.http", "path-3@talquist.example", "Süd" + strings.Repeat("x", 197)},
	} {
		number := fmt.Sprint("RG-26-3087", i)
		r.told(r.raw(c.file, "RG-26-10871", number), "200 unsigned processed", "")
		if row := r.deliveries(1)[0]; row.Filename != c.kept || row.TransportID != "as2:NORDHAFEN-AS2:"+c.id {
			t.Errorf("the journal has file name %q and id %q", row.Filename, row.TransportID)
		}
		r.postedOnce(number)
	}
	if d := gocmp.Diff(before, r.files()); d != "" {
		t.Errorf("files came (-before +after):\n%s", d)
	}
}

func expiredIsRefused(t *testing.T, r *rig) {
	m := r.raw("65-as2-expired-cert.http")
	r.told(m, "200 signed processed/error: authentication-failed", "")
	if n := r.count(`select count(*) from inbox`); n != 0 {
		t.Errorf("%d keys", n)
	}
	// Its journal line and its bytes are there.
	if row := r.deliveries(1)[0]; row.Outcome != "authentication-failed" || row.Payload == nil {
		t.Errorf("got %+v", row)
	}
	r.settings(signedBy("48-resigned-resend"))
	r.told(r.raw("65-as2-expired-cert.http"), "200 signed processed/error: authentication-failed", "")
	r.settings(unsignedAS2 + "certificates: []\n")
	r.told(r.raw("65-as2-expired-cert.http"), "200 signed processed/error: authentication-failed", "")
	// The same interchange under the same id, as it should have come.
	b, err := os.ReadFile("testdata/65-as2-expired-cert.http")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := bytes.Cut(b, []byte("\r\nContent-Type:"))
	body := payload(t, b)
	r.told(r.rawBytes(fmt.Appendf(nil, "%s\r\nContent-Type: application/EDIFACT\r\nDisposition-Notification-To: x\r\nContent-Length: %d\r\n\r\n%s", head, len(body), body)), "200 unsigned processed", "")
	if row := r.deliveries(1)[0]; row.Verdict != "first" {
		t.Errorf("it is %s", row.Verdict)
	}
	r.postedOnce("RG-34")
}

func expiredIsTaken(t *testing.T, r *rig) {
	m := r.raw("65-as2-expired-cert.http")
	r.told(m, asSigned, "")
	r.postedOnce("RG-34")
	if !strings.Contains(r.logged(), `which has ended`) {
		t.Error("the log does not say it")
	}
}

// copiesWaitOverAS2 sends 20 at once while the first is held.
func copiesWaitOverAS2(t *testing.T, r *rig) {
	r.gateway.Wait = time.Minute
	reached, release := r.hold(nil)
	answers := make(chan *mdn, copies)
	one := func() { answers <- r.raw("44-concurrent-duplicate.http") }
	go one()
	<-reached
	for range copies - 1 {
		go one()
	}
	time.Sleep(100 * time.Millisecond) // for them to arrive; one that comes later finds the same
	release()
	first := <-answers
	r.told(first, "200 unsigned processed", "")
	for range copies - 1 {
		if m := <-answers; !bytes.Equal(m.body, first.body) {
			t.Fatalf("a copy was answered %s", m)
		}
	}
	r.postedOnce("RG-29")
}

// copiesAreBusyOverAS2 holds the first until the others have their answer.
func copiesAreBusyOverAS2(t *testing.T, r *rig) {
	r.gateway.Wait = 20 * time.Millisecond
	reached, release := r.hold(nil)
	first := make(chan *mdn, 1)
	go func() { first <- r.raw("44-concurrent-duplicate.http") }()
	<-reached
	for range 3 {
		if m := r.raw("44-concurrent-duplicate.http"); m.status != 503 || m.header.Get("Retry-After") == "" || len(m.body) != 0 {
			t.Fatalf("a copy was answered %s", m)
		}
	}
	release()
	one := <-first
	r.told(one, "200 unsigned processed", "")
	if m := r.raw("44-concurrent-duplicate.http"); !bytes.Equal(m.body, one.body) {
		t.Fatalf("a copy that came again was answered %s", m)
	}
	r.postedOnce("RG-29")
}

// deliveries are the newest lines of talquist's journal; those of duplicates are
// written after the answer.
func (r *rig) deliveries(n int) []*journal.Delivery {
	r.t.Helper()
	r.later.Flush(r.t.Context())
	rows, err := journal.Reader{Pool: r.pool}.List(r.t.Context(), journal.Filter{Partners: []string{"talquist"}, Limit: n})
	if err != nil || len(rows) == 0 {
		r.t.Fatal(rows, err)
	}
	return rows
}

// logged gives the log, with the lines of all that was answered.
func (r *rig) logged() string {
	r.serving.Lock()
	defer r.serving.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.String()
}
