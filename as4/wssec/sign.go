package wssec

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/beevik/etree"

	"github.com/edigw/edigw/as4/c14n"
	"github.com/edigw/edigw/as4/infoset"
)

// TokenForm is how what we make names a certificate.
type TokenForm int

// The forms there are: WSS X.509 token profile 1.1 §3.2.
const (
	BinarySecurityToken TokenForm = iota // the certificate, as X509v3
	PKIPath                              // the certificate and its chain, as X509PKIPathv1
	SubjectKeyID                         // its subject key identifier
	IssuerSerial                         // its issuer's name and its serial number
)

// Signing is who signs what we send.
type Signing struct {
	Key         crypto.Signer // RSA, ECDSA on P-256, P-384 or P-521, or Ed25519
	Certificate *x509.Certificate
	Chain       []*x509.Certificate // issuers, nearest first; for PKIPath
	Token       TokenForm
	Method      string // algorithm URI; "" takes SHA-256 with RSA or ECDSA, or Ed25519, as the key is
}

// sign gives the ds:Signature over what stands in the envelope, and its references.
func (s *Signing) sign(e *Envelope, parts []Part) (*etree.Element, []Reference, error) {
	method, err := s.method()
	if err != nil {
		return nil, nil, err
	}
	references, err := s.references(e, parts)
	if err != nil {
		return nil, nil, err
	}
	signature := etree.NewElement("ds:Signature")
	signature.CreateAttr("xmlns:ds", DSIG)
	info := signature.CreateElement("ds:SignedInfo")
	info.AddChild(Transform{Algorithm: c14n.Exclusive}.element("ds:CanonicalizationMethod"))
	info.CreateElement("ds:SignatureMethod").CreateAttr("Algorithm", method)
	for _, r := range references {
		info.AddChild(r.element())
	}
	message, err := canonical(info, c14n.Exclusive)
	if err != nil {
		return nil, nil, err
	}
	value, err := s.value(method, message)
	if err != nil {
		return nil, nil, err
	}
	signature.CreateElement("ds:SignatureValue").SetText(base64.StdEncoding.EncodeToString(value))
	reference, err := s.Token.reference(s.Certificate, signerID)
	if err != nil {
		return nil, nil, err
	}
	signature.CreateElement("ds:KeyInfo").AddChild(reference)
	return signature, references, nil
}

// Signs tells whether the key signs by a method, an algorithm URI.
func (s *Signing) Signs(method string) bool {
	by := *s
	by.Method = method
	_, err := by.method()
	return err == nil
}

// method gives the signature method that the key goes with, or says that the one
// asked for does not.
func (s *Signing) method() (string, error) {
	if s.Key == nil || s.Certificate == nil {
		return "", errors.New("a key and its certificate are needed")
	}
	fits := map[string]string{}
	usual := ""
	switch key := s.Key.Public().(type) {
	case *rsa.PublicKey:
		fits["RSA"], fits["RSA-PSS"], usual = "", "", RSASHA256
	case *ecdsa.PublicKey:
		fits["ECDSA"], usual = "", ECDSASHA256
	case ed25519.PublicKey:
		fits["Ed25519"], usual = "", EdDSAEd25519
	default:
		return "", fmt.Errorf("a %T signs no AS4 message", key)
	}
	if s.Method == "" {
		return usual, nil
	}
	known, ok := signatures[s.Method]
	if _, goes := fits[known.kind]; !ok || !goes || known.hash == crypto.SHA1 {
		return "", fmt.Errorf("the signature method %q does not go with a %T", s.Method, s.Key.Public())
	}
	return s.Method, nil
}

// references digests what is signed.
func (s *Signing) references(e *Envelope, parts []Part) ([]Reference, error) {
	var references []Reference
	for _, at := range []*etree.Element{e.Messaging, e.Body} {
		text, err := canonical(at, c14n.Exclusive)
		if err != nil {
			return nil, err
		}
		id, _ := infoset.Attr(at, infoset.Name{Space: WSU, Local: "Id"})
		h := crypto.SHA256.New()
		h.Write(text)
		references = append(references, Reference{
			URI: "#" + id, Transforms: []Transform{{Algorithm: c14n.Exclusive}}, DigestMethod: SHA256, DigestValue: h.Sum(nil),
		})
	}
	for i := range parts {
		sums, err := parts[i].digest(crypto.SHA256)
		if err != nil {
			return nil, err
		}
		if formOf(parts[i].MimeType) == xmlForm && len(sums) == 1 {
			return nil, fmt.Errorf("part %s has the type %s and is not XML: it cannot be signed as that", parts[i].ContentID, parts[i].MimeType)
		}
		references = append(references, Reference{
			URI: CID(parts[i].ContentID), Transforms: []Transform{{Algorithm: attachmentContent}}, DigestMethod: SHA256, DigestValue: sums[0],
		})
	}
	return references, nil
}

// value signs message.
func (s *Signing) value(method string, message []byte) ([]byte, error) {
	known := signatures[method]
	digest := message
	var options crypto.SignerOpts = known.hash
	if known.hash != 0 {
		h := known.hash.New()
		h.Write(message)
		digest = h.Sum(nil)
	}
	if known.kind == "RSA-PSS" {
		options = &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: known.hash}
	}
	value, err := s.Key.Sign(rand.Reader, digest, options)
	if err != nil || known.kind != "ECDSA" {
		return value, err
	}
	// RFC 4050 §3.3: r and s one after the other, not as ASN.1.
	var rs struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(value, &rs); err != nil {
		return nil, err
	}
	size := (s.Key.Public().(*ecdsa.PublicKey).Curve.Params().N.BitLen() + 7) / 8
	value = make([]byte, 2*size)
	rs.R.FillBytes(value[:size])
	rs.S.FillBytes(value[size:])
	return value, nil
}

// reference gives the wsse:SecurityTokenReference to a certificate; id is that of
// its BinarySecurityToken where the form has one.
func (f TokenForm) reference(c *x509.Certificate, id string) (*etree.Element, error) {
	e := etree.NewElement("wsse:SecurityTokenReference")
	switch f {
	case BinarySecurityToken, PKIPath:
		if f == PKIPath { // Basic Security Profile 1.1 R5215
			e.CreateAttr("xmlns:wsse11", WSSE11)
			e.CreateAttr("wsse11:TokenType", typePKIPath)
		}
		reference := e.CreateElement("wsse:Reference")
		reference.CreateAttr("URI", "#"+id)
		reference.CreateAttr("ValueType", f.valueType())
	case SubjectKeyID:
		identifier := e.CreateElement("wsse:KeyIdentifier")
		identifier.CreateAttr("EncodingType", encodingBase64)
		identifier.CreateAttr("ValueType", typeSKI)
		identifier.SetText(base64.StdEncoding.EncodeToString(subjectKeyID(c)))
	case IssuerSerial:
		var issuer pkix.RDNSequence // as it stands: pkix.Name would order it anew
		if _, err := asn1.Unmarshal(c.RawIssuer, &issuer); err != nil {
			return nil, err
		}
		data := e.CreateElement("ds:X509Data")
		data.CreateAttr("xmlns:ds", DSIG)
		serial := data.CreateElement("ds:X509IssuerSerial")
		serial.CreateElement("ds:X509IssuerName").SetText(issuer.String())
		serial.CreateElement("ds:X509SerialNumber").SetText(c.SerialNumber.String())
	default:
		return nil, fmt.Errorf("%d is no form of a token", f)
	}
	return e, nil
}

func (f TokenForm) valueType() string {
	if f == PKIPath {
		return typePKIPath
	}
	return typeX509v3
}

// binaryToken gives the signer's wsse:BinarySecurityToken; nil if the form has none.
func (s *Signing) binaryToken() *etree.Element {
	return s.Token.binary(signerID, s.Certificate, s.Chain)
}

func (f TokenForm) binary(id string, c *x509.Certificate, chain []*x509.Certificate) *etree.Element {
	der := c.Raw
	switch f {
	case BinarySecurityToken:
	case PKIPath:
		// X.509 §10.1: from the trust anchor's side to the certificate itself.
		var content []byte
		for _, issuer := range slices.Backward(chain) {
			content = append(content, issuer.Raw...)
		}
		der, _ = asn1.Marshal(asn1.RawValue{ // of bytes it cannot fail
			Class: asn1.ClassUniversal, Tag: asn1.TagSequence, IsCompound: true, Bytes: append(content, c.Raw...),
		})
	default:
		return nil
	}
	e := etree.NewElement("wsse:BinarySecurityToken")
	e.CreateAttr("EncodingType", encodingBase64)
	e.CreateAttr("ValueType", f.valueType())
	e.CreateAttr("wsu:Id", id)
	e.SetText(base64.StdEncoding.EncodeToString(der))
	return e
}
