package wssec

import (
	"bytes"
	"crypto/sha1"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/beevik/etree"

	"github.com/edigw/edigw/as4/infoset"
)

// What a token is: WSS X.509 certificate token profile 1.1 §3.1, §3.2.
const (
	x509Profile = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-x509-token-profile-1.0#"
	typeX509v3  = x509Profile + "X509v3"
	typePKIPath = x509Profile + "X509PKIPathv1"
	typeSKI     = x509Profile + "X509SubjectKeyIdentifier"

	messageSecurity  = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0#"
	encodingBase64   = messageSecurity + "Base64Binary"
	security11       = "http://docs.oasis-open.org/wss/oasis-wss-soap-message-security-1.1#"
	typeThumbprint   = security11 + "ThumbprintSHA1"
	typeEncryptedKey = security11 + "EncryptedKey"
)

// Token is how a message names a certificate. Exactly one of its forms is set.
type Token struct {
	Certificate *x509.Certificate   // it is in the message: BinarySecurityToken or ds:X509Certificate
	Chain       []*x509.Certificate // the others of a PKIPath, root first; not verified

	SubjectKeyID []byte // RFC 5280 §4.2.1.2
	Thumbprint   []byte // SHA-1 of the certificate

	Issuer string   // distinguished name as it stands in ds:X509IssuerName
	Serial *big.Int // with Issuer
}

// String tells the token in words, for who has to find the certificate.
func (t Token) String() string {
	switch {
	case t.Certificate != nil:
		return fmt.Sprintf("certificate of %.200q, serial number %d", t.Certificate.Subject.String(), t.Certificate.SerialNumber)
	case t.SubjectKeyID != nil:
		return fmt.Sprintf("certificate with subject key identifier %x", t.SubjectKeyID)
	case t.Thumbprint != nil:
		return fmt.Sprintf("certificate with SHA-1 thumbprint %x", t.Thumbprint)
	case t.Serial != nil:
		return fmt.Sprintf("certificate of issuer %.200q, serial number %d", t.Issuer, t.Serial)
	}
	return "no certificate"
}

// Names tells whether the token names the certificate.
func (t Token) Names(c *x509.Certificate) bool {
	switch {
	case t.Certificate != nil:
		return c.Equal(t.Certificate)
	case t.SubjectKeyID != nil:
		return bytes.Equal(subjectKeyID(c), t.SubjectKeyID)
	case t.Thumbprint != nil:
		sum := sha1.Sum(c.Raw)
		return bytes.Equal(sum[:], t.Thumbprint)
	case t.Serial != nil:
		return c.SerialNumber.Cmp(t.Serial) == 0 && issuedBy(c, t.Issuer)
	}
	return false
}

// subjectKeyID gives the identifier that a certificate carries, or what RFC 5280
// §4.2.1.2 (1) makes of its key.
func subjectKeyID(c *x509.Certificate) []byte {
	if len(c.SubjectKeyId) > 0 {
		return c.SubjectKeyId
	}
	var info struct {
		Algorithm asn1.RawValue
		Key       asn1.BitString
	}
	if _, err := asn1.Unmarshal(c.RawSubjectPublicKeyInfo, &info); err != nil {
		return nil
	}
	sum := sha1.Sum(info.Key.Bytes)
	return sum[:]
}

// Pinned takes signatures of these certificates alone, whichever way the message
// names them.
func Pinned(certificates ...*x509.Certificate) func(Token) (*x509.Certificate, error) {
	return func(t Token) (*x509.Certificate, error) {
		for _, c := range certificates {
			if t.Names(c) {
				return c, nil
			}
		}
		return nil, fmt.Errorf("the message is signed by the %v, which is not the partner's", t)
	}
}

// token reads the ds:KeyInfo of e: one wsse:SecurityTokenReference, or one
// ds:X509Data in its place.
func (e *Envelope) token(of *etree.Element) (Token, error) {
	info, err := infoset.Only(of, ds("KeyInfo"))
	if err != nil {
		return Token{}, err
	}
	return e.tokenIn(info)
}

func (e *Envelope) tokenIn(info *etree.Element) (Token, error) {
	at, err := onlyChild(info)
	if err != nil {
		return Token{}, err
	}
	if infoset.Is(at, wsse("SecurityTokenReference")) {
		if at, err = onlyChild(at); err != nil {
			return Token{}, err
		}
	}
	switch infoset.NameOf(at) {
	case wsse("Reference"):
		return e.direct(at)
	case wsse("KeyIdentifier"):
		return keyIdentifier(at)
	case ds("X509Data"):
		return x509Data(at)
	}
	return Token{}, fmt.Errorf("the key is named by %s; use a BinarySecurityToken, a KeyIdentifier or X509Data", infoset.NameOf(at))
}

func onlyChild(e *etree.Element) (*etree.Element, error) {
	children := e.ChildElements()
	if len(children) != 1 {
		return nil, fmt.Errorf("%s holds %d elements, one is expected", e.FullTag(), len(children))
	}
	return children[0], nil
}

// direct follows a wsse:Reference to a BinarySecurityToken of the Security header.
func (e *Envelope) direct(reference *etree.Element) (Token, error) {
	uri, _ := infoset.Attr(reference, plain("URI"))
	id, ok := strings.CutPrefix(uri, "#")
	at := e.ids[id]
	if !ok || at == nil || !infoset.Is(at, wsse("BinarySecurityToken")) || at.Parent() != e.Security {
		return Token{}, fmt.Errorf("wsse:Reference names %q, which is no BinarySecurityToken of the Security header", uri)
	}
	if encoding, ok := infoset.Attr(at, plain("EncodingType")); ok && encoding != encodingBase64 {
		return Token{}, fmt.Errorf("the BinarySecurityToken has the encoding %q, only %s is read", encoding, encodingBase64)
	}
	der, err := decoded(at)
	if err != nil {
		return Token{}, err
	}
	switch valueType, _ := infoset.Attr(at, plain("ValueType")); valueType {
	case typeX509v3:
		c, err := x509.ParseCertificate(der)
		return Token{Certificate: c}, err
	case typePKIPath:
		return pkiPath(der)
	default:
		return Token{}, fmt.Errorf("the BinarySecurityToken has the type %q, X509v3 and X509PKIPathv1 are read", valueType)
	}
}

// maxPath bounds the certificates of a path.
const maxPath = 10

// pkiPath reads a sequence of certificates of which the last is the signer's: X.509
// §10.1, X.509 token profile §3.1.
func pkiPath(der []byte) (Token, error) {
	var raw []asn1.RawValue
	rest, err := asn1.Unmarshal(der, &raw)
	if err != nil || len(rest) > 0 || len(raw) == 0 || len(raw) > maxPath {
		return Token{}, fmt.Errorf("the PKIPath is no sequence of 1 to %d certificates", maxPath)
	}
	var path []*x509.Certificate
	for _, r := range raw {
		c, err := x509.ParseCertificate(r.FullBytes)
		if err != nil {
			return Token{}, err
		}
		path = append(path, c)
	}
	last := len(path) - 1
	return Token{Certificate: path[last], Chain: path[:last]}, nil
}

func keyIdentifier(at *etree.Element) (Token, error) {
	if encoding, ok := infoset.Attr(at, plain("EncodingType")); ok && encoding != encodingBase64 {
		return Token{}, fmt.Errorf("the KeyIdentifier has the encoding %q, only %s is read", encoding, encodingBase64)
	}
	value, err := decoded(at)
	if err != nil {
		return Token{}, err
	}
	switch valueType, _ := infoset.Attr(at, plain("ValueType")); valueType {
	case typeSKI:
		return Token{SubjectKeyID: value}, nil
	case typeThumbprint:
		return Token{Thumbprint: value}, nil
	case typeX509v3:
		c, err := x509.ParseCertificate(value)
		return Token{Certificate: c}, err
	default:
		return Token{}, fmt.Errorf("the KeyIdentifier has the type %q; X509SubjectKeyIdentifier, X509v3 and ThumbprintSHA1 are read", valueType)
	}
}

// x509Data reads XML Signature §4.5.4 with one way of naming a certificate in it.
func x509Data(data *etree.Element) (Token, error) {
	at, err := onlyChild(data)
	if err != nil {
		return Token{}, err
	}
	switch infoset.NameOf(at) {
	case ds("X509IssuerSerial"):
		return issuerSerial(at)
	case ds("X509SKI"):
		ski, err := decoded(at)
		return Token{SubjectKeyID: ski}, err
	case ds("X509Certificate"):
		der, err := decoded(at)
		if err != nil {
			return Token{}, err
		}
		c, err := x509.ParseCertificate(der)
		return Token{Certificate: c}, err
	}
	return Token{}, fmt.Errorf("ds:X509Data holds %s; X509IssuerSerial, X509SKI and X509Certificate are read", infoset.NameOf(at))
}

func issuerSerial(at *etree.Element) (Token, error) {
	var texts [2]string
	for i, name := range []string{"X509IssuerName", "X509SerialNumber"} {
		c, err := infoset.Only(at, ds(name))
		if err == nil {
			texts[i], err = infoset.Text(c)
		}
		if err != nil {
			return Token{}, err
		}
		texts[i] = strings.Trim(texts[i], " \t\r\n")
	}
	if len(texts[1]) > 100 {
		return Token{}, errors.New("ds:X509SerialNumber is longer than a serial number")
	}
	serial, ok := new(big.Int).SetString(texts[1], 10)
	if !ok {
		return Token{}, fmt.Errorf("ds:X509SerialNumber %q is not a number", texts[1])
	}
	return Token{Issuer: texts[0], Serial: serial}, nil
}
