package as4_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/edifact"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/pgtest"
)

// identity is a key with its certificate.
type identity struct {
	key  crypto.Signer
	cert *x509.Certificate
}

func newIdentity(name string, key crypto.Signer, usage x509.KeyUsage) identity {
	c := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, KeyUsage: usage,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), SubjectKeyId: []byte(name)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		panic(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return identity{key, cert}
}

func rsaIdentity(name string) identity {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return newIdentity(name, key, x509.KeyUsageDigitalSignature|x509.KeyUsageKeyEncipherment)
}

// The identities of the tests: the partner, we, and somebody else.
var (
	talquist  = sync.OnceValue(func() identity { return rsaIdentity("talquist") })
	nordhafen = sync.OnceValue(func() identity { return rsaIdentity("nordhafen") })
	mallory   = sync.OnceValue(func() identity { return rsaIdentity("mallory") })

	talquistEd = sync.OnceValue(func() identity {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			panic(err)
		}
		return newIdentity("talquist-ed", key, x509.KeyUsageDigitalSignature)
	})
	nordhafenEC = sync.OnceValue(func() identity {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			panic(err)
		}
		return newIdentity("nordhafen-ec", key, x509.KeyUsageDigitalSignature|x509.KeyUsageKeyAgreement)
	})
)

const partyType = "urn:oasis:names:tc:ebcore:partyid-type:unregistered"

// setUp is who we are, and the partner; the profile and further settings of AS4 are
// the test's.
const setUp = `kind: Organisation
id: nordhafen
identifiers: [{qualifier: "14", id: "9520002000019"}]
---
kind: Partner
id: talquist
organisation: nordhafen
identifiers: [{qualifier: "14", id: "9520001000010"}]
certificates:
  - {label: "rsa", purposes: [as4_sign, as4_encrypt], certificate: "%s"}
  - {label: "ed", purposes: [as4_sign], certificate: "%s"}
as4:
  to: {id: nordhafen-ap, type: "urn:oasis:names:tc:ebcore:partyid-type:unregistered"}
`

// rig is a gateway behind a real socket, on a database of its own.
type rig struct {
	t         *testing.T
	pool      *pgxpool.Pool
	directory *partners.Directory
	gateway   *gateway.Gateway
	handler   *as4.Handler
	url       string
	ours      identity
	serving   sync.RWMutex // read-locked while a request is served: the log has a line of it after its answer
	mu        sync.Mutex
	log       bytes.Buffer
	fail      func(number string) bool // which documents the handler fails on
}

// newRig starts one; settings are further lines under as4, and behind a line "---"
// further lines of the partner. Without a profile it is edelivery-1.15.
func newRig(t *testing.T, settings string) *rig {
	t.Helper()
	r := &rig{t: t, pool: pgtest.New(t), ours: nordhafen()}
	if err := journal.EnsurePartitions(t.Context(), r.pool, "payload", "evidence", "acknowledgement", "delivery", "outbox"); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(&lockedWriter{r}, nil))
	r.directory = &partners.Directory{Store: &partners.Store{Pool: r.pool}, Log: log}
	later := &journal.Batch{Pool: r.pool, Log: log, Also: gateway.LastDeliveries}
	r.gateway = &gateway.Gateway{
		Pool: r.pool, Formats: []gateway.Format{edifactFormat}, Log: log,
		Sender: r.directory.BySender, MaySpeakFor: r.directory.MaySpeakFor, IsOurs: r.directory.IsOurs,
		ConfigRevision: func() int32 { return int32(r.directory.Counter()) },
		Numbers:        &journal.Numbers{Pool: r.pool}, Later: later, Now: func() time.Time { return time.Now().UTC() }, Wait: 20 * time.Second,
		NewID: func() uuid.UUID { return uuid.Must(uuid.NewV7()) },
	}
	for _, h := range documents.Handlers() {
		inner := h.Map
		h.Map = func(ic *edi.Interchange, i int, b *edi.Body, by *documents.Reading) (*documents.Document, []*edi.Error) {
			d, errs := inner(ic, i, b, by)
			if d != nil && r.fail != nil && r.fail(d.Number) {
				panic("this handler fails on " + d.Number)
			}
			return d, errs
		}
		r.gateway.Handlers = append(r.gateway.Handlers, h)
	}
	r.handler = &as4.Handler{
		ByParties: r.directory.ByAS4,
		Signers: func(context.Context, string) ([]*wssec.Signing, error) {
			return []*wssec.Signing{{Key: r.ours.key, Certificate: r.ours.cert}}, nil
		},
		Decrypters: func(context.Context, string) ([]wssec.DecryptionKey, error) {
			return []wssec.DecryptionKey{{Certificate: nordhafen().cert, Key: nordhafen().key}, {Certificate: nordhafenEC().cert, Key: nordhafenEC().key}}, nil
		},
		Receive: r.gateway.Receive, Admit: r.gateway.AdmitUnproved, Reserve: r.gateway.ReserveUnproved,
		Spool: &gateway.Spool{Dir: t.TempDir()}, Log: log,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.serving.RLock()
		defer r.serving.RUnlock()
		r.handler.ServeHTTP(w, request)
	}))
	t.Cleanup(server.Close)
	r.url = server.URL
	r.settings(settings)
	return r
}

// settings applies the partner again.
func (r *rig) settings(settings string) {
	r.t.Helper()
	of, further, _ := strings.Cut(settings, "---\n")
	if !strings.Contains(of, "profile:") {
		of = "profile: edelivery-1.15\n" + of
	}
	if !strings.Contains(of, "from:") {
		of = "from: {id: talquist-ap, type: \"" + partyType + "\"}\n" + of
	}
	if !strings.Contains(of, "services:") {
		of = "services: [{service: \"urn:example:edi\", action: SubmitInterchange}]\n" + of
	}
	yaml := fmt.Sprintf(setUp, partners.EncodeCertificate(talquist().cert), partners.EncodeCertificate(talquistEd().cert))
	for line := range strings.Lines(of) {
		yaml += "  " + line
	}
	r.apply(strings.TrimSuffix(yaml, "\n") + "\n" + further)
}

func (r *rig) apply(yaml string) {
	r.t.Helper()
	specs, err := partners.Reader{}.Read("partners.yaml", []byte(yaml))
	if err != nil {
		r.t.Fatalf("%v\n%s", err, yaml)
	}
	err = pgx.BeginFunc(r.t.Context(), r.pool, func(tx pgx.Tx) error {
		_, err := r.directory.Store.Apply(r.t.Context(), tx, specs)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.directory.Reload(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

type lockedWriter struct{ r *rig }

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.r.mu.Lock()
	defer l.r.mu.Unlock()
	return l.r.log.Write(p)
}

// logged gives the log, with the lines of all that was answered.
func (r *rig) logged() string {
	r.serving.Lock()
	defer r.serving.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.String()
}

var edifactFormat = gateway.Format{
	Name:  "edifact",
	Leads: edifact.Leads,
	Split: func(p *edi.Payload, from int64, o gateway.Reading) (*edi.Interchange, error) {
		return edifact.Reader{Tolerance: o.Tolerance}.Split(p, from)
	},
	Scan: func(p *edi.Payload, ic *edi.Interchange, o gateway.Reading, visit func(int, *edi.Body) error) error {
		return edifact.Reader{Tolerance: o.Tolerance}.Scan(p, ic, visit)
	},
	Again: func(p *edi.Payload, ic *edi.Interchange, o gateway.Reading) func(int) (*edi.Body, error) {
		return edifact.Reader{Tolerance: o.Tolerance}.Again(p, ic)
	},
	Acknowledge: edifact.Acknowledge, NeverAcknowledged: []string{"CONTRL"},
}

// interchange writes an INVOIC of talquist.
func interchange(ref, number, amount string) string {
	return fmt.Sprintf("UNB+UNOC:3+9520001000010:14+9520002000019:14+261129:1015+%s'UNH+1+INVOIC:D:96A:UN:EAN008'BGM+380+%s+9'DTM+137:20261127:102'NAD+SU+9520001000010::9'NAD+BY+9520002000019::9'CUX+2:EUR:4'"+
		"LIN+1++9520000001018:EN'QTY+47:10'MOA+203:%s'PRI+AAA:10.00'UNS+S'MOA+77:%s'MOA+79:%s'CNT+2:1'UNT+15+1'UNZ+1+%s'", ref, number, amount, amount, amount, ref)
}

// message is a user message of talquist, changed as a test wants it.
func message(id string, change ...func(*as4.UserMessage)) *as4.UserMessage {
	u := &as4.UserMessage{
		MessageInfo:   as4.MessageInfo{Timestamp: time.Date(2026, 11, 29, 10, 15, 0, 0, time.UTC), MessageID: id},
		From:          as4.Party{ID: "talquist-ap", Type: partyType, Role: as4.InitiatorRole},
		To:            as4.Party{ID: "nordhafen-ap", Type: partyType, Role: as4.ResponderRole},
		Collaboration: as4.CollaborationInfo{Service: "urn:example:edi", Action: "SubmitInterchange", ConversationID: "c1"},
	}
	for _, f := range change {
		f(u)
	}
	return u
}

// ping makes it one of the test service.
func ping(u *as4.UserMessage) {
	u.Collaboration.Service, u.Collaboration.Action = as4.TestService, as4.TestAction
}

// gzipped is an interchange as eDelivery sends it.
func gzipped(text string) as4.Payload {
	p := as4.Bytes([]byte(text), "application/edifact")
	p.Compress = true
	return p
}

// zip compresses text.
func zip(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// saidToBeGzip is a payload of these bytes, whatever they are, with a CompressionType.
func saidToBeGzip(b []byte) as4.Payload {
	p := as4.Bytes(b, "application/edifact")
	p.Properties = []as4.Property{{Name: "CompressionType", Value: as4.GZIP}}
	return p
}

// signedBy and encryptedTo are what the profile 1.15 uses.
func signedBy(i identity) *wssec.Signing { return &wssec.Signing{Key: i.key, Certificate: i.cert} }

func encryptedTo(i identity) *wssec.Encrypting { return &wssec.Encrypting{Recipient: i.cert} }

// compose builds a message as talquist does: signed and encrypted.
func (r *rig) compose(u *as4.UserMessage, payloads ...as4.Payload) *as4.Composed {
	r.t.Helper()
	c, err := as4.Compose(u, payloads, signedBy(talquist()), encryptedTo(nordhafen()))
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// answer is what came back over HTTP.
type answer struct {
	*as4.Answered
	err    error
	header http.Header
	body   []byte
}

// codes are those of the errors that were answered, with how they were told.
func (a *answer) codes() string {
	var refused *as4.Refused
	if !errors.As(a.err, &refused) {
		return fmt.Sprint(a.err)
	}
	var s []string
	for _, e := range refused.Errors {
		s = append(s, e.Code)
	}
	return strings.Join(s, ",")
}

// send sends a message, and holds the answer to be one that its sender can rely on.
func (r *rig) send(c *as4.Composed) *answer {
	r.t.Helper()
	a := &answer{}
	client := &http.Client{Transport: recording{a}}
	a.Answered, a.err = as4.Sender{HTTP: client}.Send(r.t.Context(), r.url, c, []*x509.Certificate{r.ours.cert})
	return a
}

// recording keeps the answer as it came.
type recording struct{ a *answer }

func (rec recording) RoundTrip(r *http.Request) (*http.Response, error) {
	w, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = w.Body.Close() }() // it is read
	rec.a.header = w.Header
	if rec.a.body, err = io.ReadAll(w.Body); err != nil {
		return nil, err
	}
	w.Body = io.NopCloser(bytes.NewReader(rec.a.body))
	return w, nil
}

// posted is what came back to a request that no sender of ours writes.
type posted struct {
	status int
	body   string
}

// post sends a body as it is.
func (r *rig) post(contentType string, body []byte) posted {
	r.t.Helper()
	w, err := http.Post(r.url, contentType, bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = w.Body.Close() }() // it is read
	text, err := io.ReadAll(w.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return posted{w.StatusCode, string(text)}
}

var errorCode = regexp.MustCompile(`errorCode="(EBMS:[0-9]{4})"`)

// told is receipt, or the codes of the errors, with fault where there is a SOAP Fault.
func (p posted) told() string {
	var words []string
	if strings.Contains(p.body, "<eb:Receipt") {
		words = append(words, "receipt")
	}
	for _, m := range errorCode.FindAllStringSubmatch(p.body, -1) {
		words = append(words, m[1])
	}
	if _, after, ok := strings.Cut(p.body, "<S12:Value>S12:"); ok {
		code, _, _ := strings.Cut(after, "<")
		words = append(words, "fault "+code)
	}
	return strings.Join(words, ", ")
}

// wireOf is a message as its bytes.
func (r *rig) wireOf(c *as4.Composed) []byte {
	r.t.Helper()
	body := c.Body()
	b, err := io.ReadAll(body)
	if err = errors.Join(err, body.Close()); err != nil {
		r.t.Fatal(err)
	}
	return b
}

// received expects a receipt that fits what was sent.
func (r *rig) received(c *as4.Composed) *answer {
	r.t.Helper()
	a := r.send(c)
	if a.err != nil || !a.Receipt || a.Status != 200 {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.t.Fatalf("no receipt: %v\n%s\n%s", a.err, a.body, r.logged())
	}
	return a
}

// refused expects an error of one code.
func (r *rig) refused(c *as4.Composed, code string) *answer {
	r.t.Helper()
	a := r.send(c)
	if got := a.codes(); got != code {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.t.Fatalf("got %s, want %s\n%s\n%s", got, code, a.body, r.logged())
	}
	return a
}

// count runs a query that gives one number.
func (r *rig) count(sql string, args ...any) (n int) {
	r.t.Helper()
	if err := r.pool.QueryRow(context.Background(), sql, args...).Scan(&n); err != nil {
		r.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

func (r *rig) posted() int  { return r.count(`select count(*) from document where state = 'live'`) }
func (r *rig) keys() int    { return r.count(`select count(*) from inbox`) }
func (r *rig) journal() int { return r.count(`select count(*) from delivery`) }
