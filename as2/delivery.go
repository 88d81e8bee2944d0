package as2

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/edigw/edigw/cms"
	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/proxy"
	"github.com/edigw/edigw/wire"
)

// deliver makes the delivery: of a fault the body as it came.
func (h *Handler) deliver(r *http.Request, client proxy.Client, o *opened) error {
	d := &gateway.Delivery{Transport: Transport, Partner: o.partner, TransportID: o.key, Received: h.now(), Remote: client.Address,
		Payload: o.spooled.Payload, SHA256: o.spooled.SHA256}
	o.delivery = d
	if o.m != nil && o.m.Signer != nil {
		d.Signer = o.m.Signer.Label
	}
	d.Render, d.Refusal = o.render, o.refused
	o.elsewhere(d)
	if f := o.fault; f != nil {
		d.Filename = outerEntity(r.Header, nil).Filename()
		d.Evidence = []gateway.Exhibit{gateway.AsRequest(wire.ReadingHeader(r.Header), d.Payload)}
		d.Fault = &gateway.Rejection{Answer: gateway.ToldFaulty, Reason: f.Reason, Detail: f.Detail}
		switch f.Reason {
		case authenticationFailed:
			d.Fault.Answer = gateway.ToldUnproven
		case empty:
			d.Fault.Answer = gateway.ToldEmpty
		}
		return nil
	}
	d.Filename = o.m.Parts[0].Filename
	if o.m.Parts[0].Body != nil {
		o.payload(d)
	}
	d.Evidence = o.evidence()
	d.Signs = true
	if o.wanted.MDN {
		d.Binding = o.binding()
	}
	return nil
}

// elsewhere has the MDN brought to where the sender wants it, if it may name that.
func (o *opened) elsewhere(d *gateway.Delivery) {
	if o.wanted.Async == "" {
		return
	}
	if _, why := o.wanted.asyncURL(o.partner.AS2.MDNHosts); why != "" {
		o.notFor = "The address that you gave for it " + why + ": ask us to allow it."
		if o.m == nil {
			o.m = &Opened{}
		}
		o.m.Notes = append(o.m.Notes, "the address for the MDN "+why)
		return
	}
	d.Elsewhere = &gateway.Elsewhere{Type: "MDN", Target: MDNTarget, Address: o.wanted.Async}
}

// payload puts the parts that are EDI behind each other, all of them where none is or
// nobody can say. The digest is over all parts, in order.
func (o *opened) payload(d *gateway.Delivery) {
	parts := o.m.Parts
	isEDI := func(Part) bool { return true }
	for _, p := range parts {
		if p.EDI {
			isEDI = func(p Part) bool { return p.EDI }
		}
	}
	var sums [][32]byte
	var list [][]byte
	end := int64(0)
	named := false
	for _, p := range parts {
		sums = append(sums, sha256.Sum256(p.Body))
		if !isEDI(p) {
			o.m.Notes = append(o.m.Notes, fmt.Sprintf("a part of type %.60q is kept and not read", p.Type))
			continue
		}
		list = append(list, p.Body)
		end += int64(len(p.Body))
		d.Parts = append(d.Parts, end)
		if !named {
			d.Filename, named = p.Filename, true
		}
	}
	d.SHA256 = dedup.PartsDigest(sums)
	if len(list) == 1 {
		d.Payload, d.Parts = edi.Bytes(list[0]), nil
		if len(parts) == 1 {
			d.Payload.Hashed(d.SHA256)
		}
		return
	}
	d.Payload = edi.Bytes(bytes.Join(list, nil))
}

// evidence is what proves who sent it: the entity as it was signed, and the certificate
// it was verified with; and of a message without a signature the parts that are no
// interchanges.
func (o *opened) evidence() (list []gateway.Exhibit) {
	if o.m.Signed {
		x := gateway.Exhibit{Name: "signed-entity.eml", MediaType: "multipart/signed"}
		switch {
		case o.m.Opaque:
			x = gateway.Exhibit{Name: "signed-data.p7m", MediaType: "application/pkcs7-mime"}
		case o.m.Detached != nil:
			x = gateway.Exhibit{Name: "signed-content", MediaType: "application/octet-stream"}
			list = append(list, gateway.Exhibit{Name: "signature.p7s", MediaType: "application/pkcs7-signature", Body: edi.Bytes(o.m.Detached)})
		}
		x.Body, x.Stretches = without(o.m.Header, o.m.Entity, o.delivery.Payload)
		return append(list, x, gateway.Exhibit{Name: "certificate.pem", MediaType: "application/x-pem-file", Body: edi.Bytes(certificatePEM(o.m))})
	}
	for i, p := range o.m.Parts {
		if !p.EDI && len(o.m.Parts) > 1 {
			list = append(list, gateway.Exhibit{Name: fmt.Sprintf("part-%d-%s", i+1, p.Filename), MediaType: p.Type, Body: edi.Bytes(p.Body)})
		}
	}
	return list
}

// binding is what an MDN is tied to: what it says of this request, and with what it is
// signed (outcomes.md, stored or afresh).
func (o *opened) binding() []byte {
	cert := [32]byte{}
	if o.signing != nil {
		cert = sha256.Sum256(o.signing.Certificates[0].Raw)
	}
	kind := "now"
	if o.wanted.Async != "" {
		kind = "later"
	}
	tied := fmt.Appendf(nil, "%s %t %x %s %s", kind, o.signing != nil, cert[:8], digestName(o.mdnHash()), o.m.MIC)
	if o.partner.AS2.PSS {
		tied = append(tied, " pss"...)
	}
	return tied
}

// signature is what the MDN is signed with; nil for not.
func (o *opened) signature() (*cms.Signature, error) {
	if o.signing == nil {
		return nil, nil
	}
	at := time.Time{}
	if o.delivery != nil {
		at = o.delivery.Received
	}
	return signatureBy(o.signing, digestName(o.mdnHash()), o.partner.AS2.PSS, at)
}

// mdnHash is what the MDN is signed by: what the partner's settings say, else the first
// of signed-receipt-micalg that is no older than SHA-256 (RFC 4130 §7.3, from left to
// right). SHA-1 is for partners who may use it and ask for nothing better.
func (o *opened) mdnHash() crypto.Hash {
	set := o.partner.AS2
	if set.MDNDigest != partners.AS2Requested {
		return signatureHash(set.MDNDigest)
	}
	asked := crypto.Hash(0)
	for _, name := range o.wanted.MICs {
		switch h := digestNamed(name); h {
		case crypto.SHA256, crypto.SHA384, crypto.SHA512:
			return h
		case crypto.SHA1:
			asked = h
		}
	}
	if asked != 0 && slices.Contains(set.OldAlgorithms, "sha1") {
		return asked
	}
	return crypto.SHA256
}

// signatureBy signs with a key, and an algorithm of the partner's settings; an RSA key by
// RSASSA-PSS where those say so.
func signatureBy(k *Key, digest string, pss bool, at time.Time) (*cms.Signature, error) {
	s := &cms.Signature{Key: k.Private, Hash: signatureHash(digest), PSS: pss, Time: at}
	for i, c := range k.Certificates {
		read, err := cms.CertificateOf(c)
		if err != nil {
			return nil, fmt.Errorf("certificate of key %q: %w", k.Label, err)
		}
		if i == 0 {
			s.Certificate = read
		} else {
			s.Issuers = append(s.Issuers, read)
		}
	}
	return s, nil
}

// signatureHash is an algorithm of the partner's settings.
func signatureHash(name string) crypto.Hash {
	if h := digestNamed(name); h != 0 {
		return h
	}
	return crypto.SHA256
}
