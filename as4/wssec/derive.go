package wssec

import (
	"crypto"
	"crypto/hkdf"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strconv"
	"strings"

	"github.com/beevik/etree"

	"github.com/edigw/edigw/as4/infoset"
)

// Key derivation: XML Encryption 1.1 §5.4.1, RFC 9231 §2.8 as eDelivery AS4 2.0 uses it.
const (
	concatKDF = XENC11 + "ConcatKDF"
	hkdfURI   = DSIGMore + "hkdf"
)

// prfs are the pseudorandom functions of HKDF: RFC 4051 §2.2.
var prfs = map[string]crypto.Hash{
	"http://www.w3.org/2001/04/xmldsig-more#hmac-sha256": crypto.SHA256,
	"http://www.w3.org/2001/04/xmldsig-more#hmac-sha384": crypto.SHA384,
	"http://www.w3.org/2001/04/xmldsig-more#hmac-sha512": crypto.SHA512,
}

// derivation is how a shared secret becomes the key of length bytes.
type derivation func(secret []byte, length int) ([]byte, error)

// parseDerivation reads an xenc11:KeyDerivationMethod. Errors are about what the
// message asks for; nothing secret was touched.
func parseDerivation(agreement *etree.Element) (derivation, error) {
	e, err := infoset.Only(agreement, xenc11("KeyDerivationMethod"))
	if err != nil {
		return nil, err
	}
	params, err := onlyChild(e)
	if err != nil {
		return nil, err
	}
	switch uri, _ := infoset.Attr(e, plain("Algorithm")); {
	case uri == concatKDF && infoset.Is(params, xenc11("ConcatKDFParams")):
		return parseConcat(params)
	case uri == hkdfURI && infoset.Is(params, more("HKDFParams")):
		return parseHKDF(params)
	default:
		return nil, fmt.Errorf("the key derivation %q with %s is not allowed; use %s or %s", uri, infoset.NameOf(params), hkdfURI, concatKDF)
	}
}

func more(local string) infoset.Name { return infoset.Name{Space: DSIGMore, Local: local} }

func parseConcat(params *etree.Element) (derivation, error) {
	uri, err := algorithm(params, ds("DigestMethod"))
	if err != nil {
		return nil, err
	}
	h, ok := digests[uri]
	if !ok || h == crypto.SHA1 {
		return nil, fmt.Errorf("the digest method %q is not allowed in ConcatKDF; use SHA-256, SHA-384 or SHA-512", uri)
	}
	var other []byte
	for _, name := range []string{"AlgorithmID", "PartyUInfo", "PartyVInfo", "SuppPubInfo", "SuppPrivInfo"} {
		text, _ := infoset.Attr(params, plain(name))
		bits, err := bitString(text)
		if err != nil {
			return nil, fmt.Errorf("%s of ConcatKDFParams %w", name, err)
		}
		other = append(other, bits...)
	}
	return func(secret []byte, length int) ([]byte, error) { return concat(h.New, secret, other, length), nil }, nil
}

// bitString reads hex whose first byte counts the bits that pad the last; only whole
// bytes are read: XML Encryption 1.1 §5.4.1.
func bitString(text string) ([]byte, error) {
	if text == "" {
		return nil, nil
	}
	b, err := hex.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("is not hexadecimal: %w", err)
	}
	if b[0] != 0 {
		return nil, errors.New("is no whole number of bytes")
	}
	return b[1:], nil
}

// concat is the single-step derivation of NIST SP 800-56A §5.8.1.
func concat(h func() hash.Hash, secret, other []byte, length int) (key []byte) {
	for counter := uint32(1); len(key) < length; counter++ {
		d := h()
		d.Write(binary.BigEndian.AppendUint32(nil, counter))
		d.Write(secret)
		d.Write(other)
		key = d.Sum(key)
	}
	return key[:length]
}

func parseHKDF(params *etree.Element) (derivation, error) {
	if err := holds(params, more("PRF"), more("Salt"), more("Info"), more("KeyLength")); err != nil {
		return nil, err
	}
	uri, err := algorithm(params, more("PRF"))
	if err != nil {
		return nil, err
	}
	h, ok := prfs[uri]
	if !ok {
		return nil, fmt.Errorf("the function %q is not allowed in HKDF; use HMAC with SHA-256, SHA-384 or SHA-512", uri)
	}
	salt, err := optionalBase64(params, more("Salt"))
	if err != nil {
		return nil, err
	}
	info, err := optionalBase64(params, more("Info"))
	if err != nil {
		return nil, err
	}
	stated := 0
	if at, err := infoset.Child(params, more("KeyLength")); err != nil {
		return nil, err
	} else if at != nil {
		text, err := infoset.Text(at)
		if err != nil {
			return nil, err
		}
		if stated, err = strconv.Atoi(strings.Trim(text, " \t\r\n")); err != nil {
			return nil, fmt.Errorf("KeyLength of HKDFParams is no number: %w", err)
		}
	}
	return func(secret []byte, length int) ([]byte, error) {
		if stated != 0 && stated != length {
			return nil, fmt.Errorf("KeyLength of HKDFParams is %d, the key wrap takes %d bytes", stated, length)
		}
		return hkdf.Key(h.New, secret, salt, string(info), length)
	}, nil
}

// optionalBase64 reads a child that may be missing or empty.
func optionalBase64(e *etree.Element, name infoset.Name) ([]byte, error) {
	at, err := infoset.Child(e, name)
	if err != nil || at == nil {
		return nil, err
	}
	text, err := infoset.Text(at)
	if err != nil || strings.Trim(text, " \t\r\n") == "" {
		return nil, err
	}
	return fromBase64(at.FullTag(), text)
}

// hkdfElement writes what parseHKDF reads, for HMAC-SHA-256 without Info.
func hkdfElement(salt []byte, length int) *etree.Element {
	e := etree.NewElement("xenc11:KeyDerivationMethod")
	e.CreateAttr("xmlns:xenc11", XENC11)
	e.CreateAttr("Algorithm", hkdfURI)
	params := e.CreateElement("dsig-more:HKDFParams")
	params.CreateAttr("xmlns:dsig-more", DSIGMore)
	params.CreateElement("dsig-more:PRF").CreateAttr("Algorithm", "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256")
	params.CreateElement("dsig-more:Salt").SetText(base64.StdEncoding.EncodeToString(salt))
	params.CreateElement("dsig-more:KeyLength").SetText(strconv.Itoa(length))
	return e
}

// concatElement writes what parseConcat reads, for SHA-256 without other information.
func concatElement() *etree.Element {
	e := etree.NewElement("xenc11:KeyDerivationMethod")
	e.CreateAttr("xmlns:xenc11", XENC11)
	e.CreateAttr("Algorithm", concatKDF)
	params := e.CreateElement("xenc11:ConcatKDFParams")
	for _, name := range []string{"AlgorithmID", "PartyUInfo", "PartyVInfo"} {
		params.CreateAttr(name, "")
	}
	digest := params.CreateElement("ds:DigestMethod")
	digest.CreateAttr("xmlns:ds", DSIG)
	digest.CreateAttr("Algorithm", SHA256)
	return e
}
