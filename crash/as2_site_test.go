//go:build linux

package crash_test

import (
	"bytes"
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/as2"
	"github.com/edigw/edigw/cms"
	"github.com/edigw/edigw/entity"
	"github.com/edigw/edigw/partners"
	ourkeys "github.com/edigw/edigw/partners/keys"
)

// as2Site is a site whose partners send over AS2, signed and encrypted, and ask for a
// signed MDN: in the response, or at an address of theirs.
type as2Site struct {
	*secured
	later *mailbox
}

func newAS2Site(t *testing.T, count int) *as2Site {
	t.Helper()
	s := &as2Site{later: newMailbox(t)}
	s.secured = newSecured(t, count, agreement{organisation: "as2: {names: [NORTH-AS2]}\n", purposes: []string{ourkeys.AS2Sign, ourkeys.AS2Decrypt}, partner: func(p partner, certificate string) string {
		return fmt.Sprintf("as2: {names: [%s-AS2], encryption: required, mdn_hosts: [%q]}\ncertificates: [{label: as2, purposes: [as2_sign], certificate: %q}]\n",
			p.id(), s.later.host(), certificate)
	}})
	return s
}

// start starts a gateway that may bring MDNs to the mailbox, and takes over soon what
// another one had begun.
func (s *as2Site) start(t *testing.T, env ...string) *program {
	t.Helper()
	return s.startOn(t, s.url, env...)
}

func (s *as2Site) startOn(t *testing.T, database string, env ...string) *program {
	t.Helper()
	return s.secured.startOn(t, database, append(env, "EDIGW_ALLOW_TARGETS=127.0.0.1", "EDIGW_WORK_LEASE=1s")...)
}

// as2Message is one over AS2 as it is posted.
type as2Message struct {
	as2.Composed
	from partner
	id   string
	mic  as2.MIC
	to   string // address for the MDN; "" is in the response
}

// compose makes a message, signed and encrypted anew.
func (s *as2Site) compose(t *testing.T, p partner, id, payload string) as2Message {
	t.Helper()
	theirs, err := cms.CertificateOf(s.cert)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := cms.CertificateOf(s.ours)
	if err != nil {
		t.Fatal(err)
	}
	w := as2.Wrapping{Signature: &cms.Signature{Key: s.key, Certificate: theirs, Hash: crypto.SHA256, Time: time.Now()}, Envelope: &cms.Envelope{Recipients: []*cms.Certificate{ours}}}
	c, mic, err := w.Wrap(as2.Composed{ContentType: "application/EDIFACT", Encoding: "binary", Body: []byte(payload)}, crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	return as2Message{Composed: c, from: p, id: id, mic: mic}
}

// asynchronous asks for the MDN at the mailbox.
func (s *as2Site) asynchronous(m as2Message) as2Message {
	m.to = s.later.server.URL + "/mdn/" + m.from.id()
	return m
}

// request is the HTTP request of a message.
func (m as2Message) request(to *program) (*http.Request, error) {
	r, err := http.NewRequest(http.MethodPost, to.ingress+"/as2", bytes.NewReader(m.Body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{"AS2-From": m.from.id() + "-AS2", "AS2-To": "NORTH-AS2", "AS2-Version": "1.2", "Message-ID": "<" + m.id + "@" + m.from.id() + ">",
		"Content-Type": m.ContentType, "Content-Transfer-Encoding": m.Encoding, "Disposition-Notification-To": "x", "Receipt-Delivery-Option": m.to,
		"Disposition-Notification-Options": "signed-receipt-protocol=required, pkcs7-signature; signed-receipt-micalg=required, sha-256"} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	return r, nil
}

// post sends a message on a connection of its own. An error says that there was no
// whole answer; then the answer is what of it came.
func (m as2Message) post(to *program) (answer, error) {
	r, err := m.request(to)
	if err != nil {
		return answer{}, err
	}
	return posted(r)
}

// until posts until there is an answer that stands, as a partner does. Every answer on
// the way must be one that says "try again".
func (s *as2Site) until(t *testing.T, to *program, m as2Message) answer {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(30 * time.Millisecond) {
		a, err := m.post(to)
		if err == nil && s.stands(t, m, a) {
			return a
		}
		if time.Now().After(end) {
			t.Fatalf("no answer that stands after %v: %d, %v", patience, a.status, err)
		}
	}
}

// stands reports whether an answer acknowledges the message, and fails unless it does
// or says "try again" without an MDN.
func (s *as2Site) stands(t *testing.T, m as2Message, a answer) bool {
	t.Helper()
	if err := s.judge(m, a); err != nil {
		t.Fatal(err)
	}
	return a.status != http.StatusServiceUnavailable
}

// judge is what a sender holds an answer to.
func (s *as2Site) judge(m as2Message, a answer) error {
	switch {
	case a.status == http.StatusServiceUnavailable:
		if a.header.Get("Retry-After") == "" || a.body != "" {
			return fmt.Errorf("503, Retry-After %q, with %q in it", a.header.Get("Retry-After"), a.body)
		}
		return nil
	case m.to != "":
		if a.status != http.StatusNoContent || a.body != "" {
			return fmt.Errorf("%d for an MDN that comes later: %s", a.status, a.body)
		}
		return nil
	case a.status != http.StatusOK:
		return fmt.Errorf("%d: %s", a.status, a.body)
	}
	return s.acknowledges(m, a.header.Get("Content-Type"), a.body)
}

// acknowledges checks that an MDN is signed by us, positive, and for this very message.
func (s *as2Site) acknowledges(m as2Message, contentType, body string) error {
	us := &partners.Partner{Certificates: []*partners.Certificate{{Label: "ours", Purposes: []string{partners.AS2Sign}, X509: s.ours}}}
	opened, err := (&as2.Opener{Partner: us, Now: time.Now()}).Open(&entity.Entity{Body: []byte(body), Fields: []entity.Field{{Name: "Content-Type", Value: contentType}}}, as2.Wanted{})
	if err != nil {
		return fmt.Errorf("the MDN cannot be opened: %w\n%s", err, body)
	}
	n, err := as2.ParseReport(opened.Report)
	if err != nil {
		return fmt.Errorf("the MDN cannot be read: %w\n%s", err, body)
	}
	if !opened.Signed || !n.Disposition.Positive() || n.Disposition.Modifier != "" || n.Original != "<"+m.id+"@"+m.from.id()+">" || !n.MIC.Equal(m.mic) {
		return fmt.Errorf("the MDN is not what acknowledges the message:\n%s", body)
	}
	return nil
}

// stored gives the MDN that is kept for the partner's one message: its header and body
// as they leave; "" if there is none.
func (s *as2Site) stored(t *testing.T, p partner) string {
	t.Helper()
	var contentType, fields string
	var body []byte
	err := s.pool.QueryRow(context.Background(), `
		select content_type, fields, receipt from acknowledgement where partner_id = $1 and receipt is not null`, p.id()).Scan(&contentType, &fields, &body)
	if errors.Is(err, pgx.ErrNoRows) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return "Content-Type: " + contentType + "\n" + strings.TrimRight(fields, "\n") + "\n\n" + string(body)
}

// entityFields are those of an MDN's header, in the order in which they are kept.
var entityFields = []string{"Content-Type", "AS2-Version", "AS2-From", "AS2-To", "Message-ID", "MIME-Version", "Subject", "EDIINT-Features"}

// whole is an MDN with its header, as stored gives it.
func whole(h http.Header, body string) string {
	var b strings.Builder
	for _, name := range entityFields {
		fmt.Fprintf(&b, "%s: %s\n", name, h.Get(name))
	}
	return b.String() + "\n" + body
}

// entity is the MDN in an answer.
func (a answer) entity() string { return whole(a.header, a.body) }

// once checks that one message with so many invoices had its effect once, in every
// table.
func (s *as2Site) once(t *testing.T, m as2Message, invoices int) {
	t.Helper()
	want := effect(invoices, true)
	want["evidence"] = 2 // the entity that was signed, and the certificate
	if m.to != "" {
		want["outbox"]++
		want["effect"], want["functional_acknowledgement"] = 1, 1
	}
	if diff := cmp.Diff(want, m.from.rows(t, s.pool)); diff != "" {
		t.Errorf("not one effect (-want +got):\n%s", diff)
	}
	m.from.eachOnce(t, s.pool)
}

// mailbox is where partners have their MDNs brought.
type mailbox struct {
	server *httptest.Server

	mu   sync.Mutex
	got  map[string][]parcel // by the path it was posted to
	hold chan struct{}       // what comes is not answered before it is closed; nil: at once
}

// parcel is an MDN that was brought.
type parcel struct {
	contentType, body, whole string
}

func newMailbox(t *testing.T) *mailbox {
	b := &mailbox{got: map[string][]parcel{}}
	b.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // cut off: it comes again
		}
		b.mu.Lock()
		hold := b.hold
		b.got[r.URL.Path] = append(b.got[r.URL.Path], parcel{r.Header.Get("Content-Type"), string(body), whole(r.Header, string(body))})
		b.mu.Unlock()
		if hold != nil {
			<-hold
		}
	}))
	t.Cleanup(b.server.Close)
	return b
}

func (b *mailbox) host() string { return strings.TrimPrefix(b.server.URL, "http://") }

// holds lets nobody have an answer until what it gives is called.
func (b *mailbox) holds() (release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	hold := make(chan struct{})
	b.hold = hold
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.hold = nil
		close(hold)
	}
}

// of are a partner's MDNs so far.
func (b *mailbox) of(p partner) []parcel {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]parcel{}, b.got["/mdn/"+p.id()]...)
}

// brought waits until so many MDNs for a message have come, and checks that each is the
// stored one.
func (s *as2Site) brought(t *testing.T, m as2Message, least int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d MDNs for %s are in the mailbox", least, m.from.id()), func() bool { return len(s.later.of(m.from)) >= least })
	stored := s.stored(t, m.from)
	for _, p := range s.later.of(m.from) {
		if err := s.acknowledges(m, p.contentType, p.body); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(stored, p.whole); diff != "" {
			t.Errorf("another MDN than the stored one (-stored +brought):\n%s", diff)
		}
	}
}

// cut posts a message and ends the connection when the gateway is where when waits for,
// with whatever it has sent unread.
func (m as2Message) cut(t *testing.T, to *program, when func()) {
	t.Helper()
	r, err := m.request(to)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", r.URL.Host)
	if err != nil {
		t.Fatal(err)
	}
	err = r.Write(conn)
	if err == nil {
		when()
	}
	if err = errors.Join(err, conn.Close()); err != nil {
		t.Fatal(err)
	}
}
