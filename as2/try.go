package as2

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/edigw/edigw/cms"
	"github.com/edigw/edigw/entity"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/proxy"
)

// Tried is what became of a message that was made as the partner would make it.
type Tried struct {
	Steps       []string // what was done, and found, in words
	Disposition string   // of the MDN
	Signed      bool
	Errors      []string // of the MDN
	Sound       bool     // the MDN is positive, and has the check of what was sent
}

// errNoNames: the partner or the organisation has no AS2 name.
var errNoNames = errors.New("the partner or its organisation has no AS2 name")

// Try sends a payload to ourselves as the partner would: signed with a key made for it,
// encrypted to our own, opened, received by receive, and acknowledged. to is the name of
// ours that it goes to. Nothing of it goes over a network.
func (h *Handler) Try(ctx context.Context, p *partners.Partner, to string, payload []byte, receive func(context.Context, *gateway.Delivery) (*gateway.Receipt, error)) (*Tried, error) {
	if len(p.AS2.Names) == 0 || to == "" {
		return nil, errNoNames
	}
	t := &Tried{}
	with, signature, err := h.stand(p)
	if err != nil {
		return nil, err
	}
	w := Wrapping{Signature: signature}
	t.step("signed as it would be, with SHA-256")
	keys, err := h.decrypters(ctx, p.Organisation)
	if err != nil {
		return nil, err
	}
	if len(keys) > 0 {
		w.Envelope = &cms.Envelope{Recipients: []*cms.Certificate{keys[0].Certificate}}
		if p.AS2.CBCRefused {
			w.Envelope.Encryption = cms.AES128GCM
		}
		t.step("encrypted with AES to our certificate %s", keys[0].Certificate)
	} else {
		t.step("not encrypted: we have no key for as2_decrypt")
	}
	c, mic, err := w.Wrap(Composed{ContentType: "application/octet-stream", Encoding: "binary", Body: payload}, signature.Hash)
	if err != nil {
		return nil, err
	}
	answer, err := h.loop(ctx, p, with, to, c, receive)
	if err != nil {
		return nil, err
	}
	if answer.Status != http.StatusOK {
		t.step("told %d: it would come again", answer.Status)
		return t, nil
	}
	return t, h.read(ctx, p, answer, mic, t)
}

func (t *Tried) step(format string, args ...any) {
	t.Steps = append(t.Steps, fmt.Sprintf(format, args...))
}

// stand makes a key that stands for the partner's, and the partner with its certificate
// beside his own.
func (h *Handler) stand(p *partners.Partner) (*partners.Partner, *cms.Signature, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(h.now().UnixNano()), Subject: pkix.Name{CommonName: "trial of " + p.ID}, NotBefore: h.now().Add(-time.Hour), NotAfter: h.now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, err
	}
	read, err := cms.CertificateOf(c)
	if err != nil {
		return nil, nil, err
	}
	with := *p
	with.Certificates = append(slices.Clip(p.Certificates), &partners.Certificate{Label: "trial", Purposes: []string{partners.AS2Sign}, X509: c})
	return &with, &cms.Signature{Key: key, Certificate: read, Hash: signatureHash("sha256"), Time: h.now()}, nil
}

// loop opens what was composed, and has it received.
func (h *Handler) loop(ctx context.Context, p, with *partners.Partner, to string, c Composed, receive func(context.Context, *gateway.Delivery) (*gateway.Receipt, error)) (gateway.Rendered, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/as2", nil)
	if err != nil {
		return gateway.Rendered{}, err
	}
	for name, value := range map[string]string{"Content-Type": c.ContentType, "Content-Transfer-Encoding": c.Encoding, "Disposition-Notification-To": product,
		"Disposition-Notification-Options": "signed-receipt-protocol=optional, pkcs7-signature; signed-receipt-micalg=optional, sha-256"} {
		r.Header.Set(name, value)
	}
	o := &opened{from: NameOf(p.AS2.Names[0]), to: NameOf(to), id: MessageID{"trial", "<trial>"}, wanted: wantedOf(r.Header), partner: with}
	defer o.close()
	if o.spooled, err = h.Spool.Take(nil, bytes.NewReader(c.Body), int64(len(c.Body)), h.Limits.withDefaults().MaxBody); err != nil {
		return gateway.Rendered{}, err
	}
	if err := h.signer(ctx, o); err != nil {
		return gateway.Rendered{}, err
	}
	err = h.message(r, o, h.Limits.withDefaults())
	if f := faultOf(err); f != nil {
		return o.told(f)
	} else if err != nil {
		return gateway.Rendered{}, err
	}
	if err := h.deliver(r, proxy.Client{}, o); err != nil {
		return gateway.Rendered{}, err
	}
	o.delivery.Partner = p
	got, err := receive(ctx, o.delivery)
	if theirs, ok := errors.AsType[*gateway.Rejection](err); ok {
		return o.told(&Fault{Reason: reasonOfAnswer(theirs.Answer), Detail: theirs.Detail})
	}
	if err != nil {
		return gateway.Rendered{}, err
	}
	return got.Rendered, nil
}

// read judges the MDN as the partner would.
func (h *Handler) read(ctx context.Context, p *partners.Partner, answer gateway.Rendered, mic MIC, t *Tried) error {
	keys, err := h.Keys(ctx, p.Organisation, ForSigning)
	if err != nil {
		return fmt.Errorf("keys for MDNs: %w", err)
	}
	us := &partners.Partner{}
	for _, k := range keys {
		us.Certificates = append(us.Certificates, &partners.Certificate{Label: k.Label, Purposes: []string{partners.AS2Sign}, X509: k.Certificates[0]})
	}
	m, err := (&Opener{Partner: us, Now: h.now()}).Open(&entity.Entity{Body: bytes.Clone(answer.Body), Fields: []entity.Field{{Name: "Content-Type", Value: answer.ContentType}}}, Wanted{})
	if err != nil {
		return fmt.Errorf("read our own MDN: %w", err)
	}
	n, err := ParseReport(m.Report)
	if err != nil {
		return fmt.Errorf("read our own MDN: %w", err)
	}
	t.Disposition, t.Signed, t.Errors = strings.TrimPrefix(n.Disposition.String(), "automatic-action/MDN-sent-automatically; "), m.Signed, n.Errors
	if m.Signed {
		t.step("answered with an MDN that is signed by our key %q", m.Signer.Label)
	} else {
		t.step("answered with an MDN that is not signed: we have no key for as2_sign")
	}
	same := n.MIC.Equal(mic)
	switch {
	case same:
		t.step("its check is that of what was sent: %s", n.MIC)
	case n.MIC.Digest != nil:
		t.step("its check is %s, and what was sent has %s", n.MIC, mic)
	}
	t.Sound = same && n.Disposition.Positive()
	return nil
}
