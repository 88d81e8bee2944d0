package cms

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"strconv"
	"strings"
)

// X509 gives the certificate as crypto/x509 would have it if it read it: what it says
// of names, key, dates and usages, for who asks nothing else of it. It has no other
// extensions, and verifies nothing.
func (c *Certificate) X509() *x509.Certificate {
	x := &x509.Certificate{
		Raw:                     c.Raw,
		RawSubjectPublicKeyInfo: c.SPKI,
		RawSubject:              c.Subject,
		RawIssuer:               c.Issuer,
		Subject:                 pkixName(c.Subject),
		Issuer:                  pkixName(c.Issuer),
		SerialNumber:            serialNumber(c.Serial),
		SubjectKeyId:            c.SubjectKeyID,
		NotBefore:               c.NotBefore,
		NotAfter:                c.NotAfter,
		PublicKey:               c.PublicKey,
		Version:                 3,
	}
	switch c.PublicKey.(type) {
	case *rsa.PublicKey:
		x.PublicKeyAlgorithm = x509.RSA
	case *ecdsa.PublicKey:
		x.PublicKeyAlgorithm = x509.ECDSA
	case ed25519.PublicKey:
		x.PublicKeyAlgorithm = x509.Ed25519
	}
	if len(c.keyUsage) > 1 {
		bits := asn1.BitString{Bytes: c.keyUsage[1:], BitLength: 8 * (len(c.keyUsage) - 1)}
		for i := range 9 {
			x.KeyUsage |= x509.KeyUsage(bits.At(i)) << i
		}
	}
	for _, usage := range c.extended {
		known := false
		for _, u := range []struct {
			id    string
			usage x509.ExtKeyUsage
		}{
			{"2.5.29.37.0", x509.ExtKeyUsageAny},
			{"1.3.6.1.5.5.7.3.1", x509.ExtKeyUsageServerAuth},
			{"1.3.6.1.5.5.7.3.2", x509.ExtKeyUsageClientAuth},
			{"1.3.6.1.5.5.7.3.4", x509.ExtKeyUsageEmailProtection},
		} {
			if known = dotted(usage) == u.id; known {
				x.ExtKeyUsage = append(x.ExtKeyUsage, u.usage)
				break
			}
		}
		if id := objectIdentifier(usage); !known && id != nil {
			x.UnknownExtKeyUsage = append(x.UnknownExtKeyUsage, id)
		}
	}
	return x
}

// pkixName gives a Name for people; what cannot be read is empty.
func pkixName(name []byte) (n pkix.Name) {
	var sequence pkix.RDNSequence
	for _, a := range attributes(name) {
		id := objectIdentifier([]byte(a.id))
		if id == nil {
			continue
		}
		for len(sequence) <= a.set {
			sequence = append(sequence, nil)
		}
		sequence[a.set] = append(sequence[a.set], pkix.AttributeTypeAndValue{Type: id, Value: strings.ToValidUTF8(a.value, "�")})
	}
	n.FillFromRDNSequence(&sequence)
	return n
}

// objectIdentifier gives an OBJECT IDENTIFIER by its numbers, nil where they are no
// numbers that fit.
func objectIdentifier(id []byte) (list asn1.ObjectIdentifier) {
	for number := range strings.SplitSeq(dotted(id), ".") {
		n, err := strconv.Atoi(number)
		if err != nil {
			return nil
		}
		list = append(list, n)
	}
	return list
}

// serialNumber gives what the content octets of an INTEGER say.
func serialNumber(serial []byte) *big.Int {
	n := new(big.Int).SetBytes(serial)
	if len(serial) > 0 && serial[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(serial))))
	}
	return n
}
