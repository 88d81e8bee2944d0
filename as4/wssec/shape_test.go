package wssec_test

import (
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/beevik/etree"
	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/as4/infoset"
	"github.com/edigw/edigw/as4/wssec"
)

func TestReferencesInReceipts(t *testing.T) {
	sent := secure(t, parts(), of(t, "signer", "ed25519").signing(), nil)
	listed := append([]wssec.Reference{{
		URI: "#a&b", DigestMethod: wssec.SHA512, DigestValue: []byte{1},
		Transforms: []wssec.Transform{{Algorithm: wssec.EXCC14N, PrefixList: "S12 #default"}, {Algorithm: "urn:x"}},
	}}, sent.References...)
	// A receipt is an element of another document.
	list := etree.NewElement("list")
	for _, r := range listed {
		list.AddChild(r.Element())
	}
	doc := etree.NewDocumentWithRoot(list)
	text, err := doc.WriteToBytes()
	if err != nil {
		t.Fatal(err)
	}
	received, err := infoset.Parse(text, infoset.Header)
	if err != nil {
		t.Fatal(err)
	}
	var got []wssec.Reference
	for _, e := range received.Root().ChildElements() {
		r, err := wssec.ParseReference(e)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	t.Run("a reference comes back as it was", func(t *testing.T) {
		if diff := cmp.Diff(listed, got); diff != "" {
			t.Errorf("(-sent +received):\n%s", diff)
		}
	})
	t.Run("references bind whatever their order, and otherwise if anything differs", func(t *testing.T) {
		first := wssec.Binding(listed)
		turned := []wssec.Reference{}
		for _, r := range listed {
			turned = append([]wssec.Reference{r}, turned...)
		}
		if wssec.Binding(turned) != first {
			t.Error("in another order they bind otherwise")
		}
		for what, change := range map[string]func(*wssec.Reference){
			"URI":       func(r *wssec.Reference) { r.URI += "x" },
			"method":    func(r *wssec.Reference) { r.DigestMethod = wssec.SHA256 },
			"value":     func(r *wssec.Reference) { r.DigestValue = []byte{2} },
			"transform": func(r *wssec.Reference) { r.Transforms = r.Transforms[:1] },
			"prefixes": func(r *wssec.Reference) {
				r.Transforms = []wssec.Transform{{Algorithm: wssec.EXCC14N}, {Algorithm: "urn:x"}}
			},
		} {
			other := append([]wssec.Reference{}, listed...)
			change(&other[0])
			if wssec.Binding(other) == first {
				t.Errorf("another %s binds the same", what)
			}
		}
		if wssec.Binding(listed[1:]) == first || wssec.Binding(nil) == first || wssec.Binding(append(listed[:len(listed):len(listed)], listed[0])) == first {
			t.Error("another number of them binds the same")
		}
	})
	t.Run("a receipt that is none for what was sent is told", func(t *testing.T) {
		other := append([]wssec.Reference{}, listed...)
		other[1].DigestValue = []byte{9}
		for want, received := range map[string][]wssec.Reference{
			"":                                 append(append([]wssec.Reference{}, listed[1:]...), listed[0]),
			`the receipt does not name "#a&b"`: listed[1:],
			`the receipt names "#a&b" twice`:   append(append([]wssec.Reference{}, listed...), listed[0]),
			`the receipt names "#messaging" with another digest than was sent`: other,
			`the receipt names "#more", which was not sent`:                    append(append([]wssec.Reference{}, listed...), wssec.Reference{URI: "#more"}),
		} {
			if err := wssec.Compare(listed, received); (err == nil) != (want == "") || err != nil && err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		}
	})
}

func TestParseReferenceRefuses(t *testing.T) {
	const method, value = `<DigestMethod Algorithm="a"/>`, `<DigestValue>AA==</DigestValue>`
	for inner, want := range map[string]string{
		`<x URI="" xmlns="urn:x"/>`:                                                                                   "x stands where ds:Reference is expected",
		`<Reference>` + method + value + `</Reference>`:                                                               "ds:Reference has no URI",
		`<Reference URI="">` + method + `</Reference>`:                                                                "Reference holds no element {http://www.w3.org/2000/09/xmldsig#}DigestValue",
		`<Reference URI="">` + value + `</Reference>`:                                                                 "Reference holds no element {http://www.w3.org/2000/09/xmldsig#}DigestMethod",
		`<Reference URI=""><DigestMethod/>` + value + `</Reference>`:                                                  "DigestMethod has no Algorithm",
		`<Reference URI="">` + method + value + value + `</Reference>`:                                                "Reference holds 2 elements {http://www.w3.org/2000/09/xmldsig#}DigestValue, one is allowed",
		`<Reference URI="">` + method + `<DigestValue>*</DigestValue></Reference>`:                                    "DigestValue is not base64: illegal base64 data at input byte 0",
		`<Reference URI="">` + method + `<DigestValue>A<x/></DigestValue></Reference>`:                                "DigestValue holds an element x where text is expected",
		`<Reference URI="">text` + method + value + `</Reference>`:                                                    "Reference holds text, which is not allowed there",
		`<Reference URI=""><Manifest/>` + method + value + `</Reference>`:                                             "Reference holds {http://www.w3.org/2000/09/xmldsig#}Manifest, which is not allowed there",
		`<Reference URI=""><Transforms/><Transforms/>` + method + value + `</Reference>`:                              "Reference holds 2 elements {http://www.w3.org/2000/09/xmldsig#}Transforms, one is allowed",
		`<Reference URI=""><Transforms><Transform/></Transforms>` + method + value + `</Reference>`:                   "Transform has no Algorithm",
		`<Reference URI=""><Transforms>text<Transform Algorithm="a"/></Transforms>` + method + value + `</Reference>`: "Transforms holds text, which is not allowed there",
	} {
		doc, err := infoset.Parse([]byte(strings.Replace(inner, "<Reference", `<Reference xmlns="`+wssec.DSIG+`"`, 1)), infoset.Header)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := wssec.ParseReference(doc.Root()); err == nil || err.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", inner, err, want)
		}
	}
}

// TestTokenForms: every way in which a signature may name its certificate, and those
// in which it may not.
func TestTokenForms(t *testing.T) {
	signer := of(t, "signer", "ed25519")
	thumbprint := sha1.Sum(signer.certificate.Raw)
	b64 := base64.StdEncoding.EncodeToString
	const (
		ski     = `ValueType="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-x509-token-profile-1.0#X509SubjectKeyIdentifier"`
		x509v3  = `ValueType="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-x509-token-profile-1.0#X509v3"`
		thumb   = `ValueType="http://docs.oasis-open.org/wss/oasis-wss-soap-message-security-1.1#ThumbprintSHA1"`
		base64s = `EncodingType="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0#Base64Binary"`
		unknown = "the certificate of the signature cannot be told: "
	)
	str := func(inner string) string {
		return "<wsse:SecurityTokenReference>" + inner + "</wsse:SecurityTokenReference>"
	}
	sent := secure(t, nil, signer.signing(), nil)
	info := cut(t, string(sent.SOAP), "<ds:KeyInfo>", "</ds:KeyInfo>")
	for _, c := range []struct{ what, info, want string }{
		{"subject key identifier", str(`<wsse:KeyIdentifier ` + ski + ` ` + base64s + `>` + b64(signer.certificate.SubjectKeyId) + `</wsse:KeyIdentifier>`), ""},
		{"subject key identifier without its encoding", str(`<wsse:KeyIdentifier ` + ski + `>` + b64(signer.certificate.SubjectKeyId) + `</wsse:KeyIdentifier>`), ""},
		{"thumbprint", str(`<wsse:KeyIdentifier ` + thumb + `>` + b64(thumbprint[:]) + `</wsse:KeyIdentifier>`), ""},
		{"certificate as an identifier", str(`<wsse:KeyIdentifier ` + x509v3 + `>` + b64(signer.certificate.Raw) + `</wsse:KeyIdentifier>`), ""},
		{"X509Data with the certificate", `<ds:X509Data><ds:X509Certificate>` + b64(signer.certificate.Raw) + `</ds:X509Certificate></ds:X509Data>`, ""},
		{"X509Data with the identifier", str(`<ds:X509Data><ds:X509SKI>` + b64(signer.certificate.SubjectKeyId) + `</ds:X509SKI></ds:X509Data>`), ""},
		{"another identifier", str(`<wsse:KeyIdentifier ` + ski + `>AAAA</wsse:KeyIdentifier>`), "the message is signed by the certificate with subject key identifier 000000, which is not the partner's"},
		{"an identifier of another kind", str(`<wsse:KeyIdentifier ValueType="urn:x">AAAA</wsse:KeyIdentifier>`), unknown + `the KeyIdentifier has the type "urn:x"; X509SubjectKeyIdentifier, X509v3 and ThumbprintSHA1 are read`},
		{"an identifier in another encoding", str(`<wsse:KeyIdentifier EncodingType="urn:hex" ` + ski + `>AAAA</wsse:KeyIdentifier>`), unknown + `the KeyIdentifier has the encoding "urn:hex", only http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0#Base64Binary is read`},
		{"an identifier that is empty", str(`<wsse:KeyIdentifier ` + ski + `></wsse:KeyIdentifier>`), unknown + "wsse:KeyIdentifier is empty"},
		{"a certificate that is none", str(`<wsse:KeyIdentifier ` + x509v3 + `>AAAA</wsse:KeyIdentifier>`), unknown + "x509: malformed certificate"},
		{"two names", str(`<wsse:KeyIdentifier ` + ski + `>AAAA</wsse:KeyIdentifier><wsse:KeyIdentifier ` + ski + `>AAAA</wsse:KeyIdentifier>`), unknown + "wsse:SecurityTokenReference holds 2 elements, one is expected"},
		{"no name", str(""), unknown + "wsse:SecurityTokenReference holds 0 elements, one is expected"},
		{"nothing", "", unknown + "ds:KeyInfo holds 0 elements, one is expected"},
		{"an embedded token", str(`<wsse:Embedded/>`), unknown + "the key is named by {" + wssec.WSSE + "}Embedded; use a BinarySecurityToken, a KeyIdentifier or X509Data"},
		{"a serial number that is none", str(`<ds:X509Data><ds:X509IssuerSerial><ds:X509IssuerName>CN=a</ds:X509IssuerName><ds:X509SerialNumber>0x1</ds:X509SerialNumber></ds:X509IssuerSerial></ds:X509Data>`), unknown + `ds:X509SerialNumber "0x1" is not a number`},
		{"a serial number without end", str(`<ds:X509Data><ds:X509IssuerSerial><ds:X509IssuerName>CN=a</ds:X509IssuerName><ds:X509SerialNumber>` + strings.Repeat("1", 200) + `</ds:X509SerialNumber></ds:X509IssuerSerial></ds:X509Data>`), unknown + "ds:X509SerialNumber is longer than a serial number"},
		{"an issuer without a number", str(`<ds:X509Data><ds:X509IssuerSerial><ds:X509IssuerName>CN=a</ds:X509IssuerName></ds:X509IssuerSerial></ds:X509Data>`), unknown + "ds:X509IssuerSerial holds no element {" + wssec.DSIG + "}X509SerialNumber"},
		{"X509Data with a list of revocations", str(`<ds:X509Data><ds:X509CRL/></ds:X509Data>`), unknown + "ds:X509Data holds {" + wssec.DSIG + "}X509CRL; X509IssuerSerial, X509SKI and X509Certificate are read"},
	} {
		t.Run(c.what, func(t *testing.T) {
			soap := swap(t, info, "<ds:KeyInfo>"+c.info+"</ds:KeyInfo>")(string(sent.SOAP))
			_, err := read(t, []byte(soap)).Verify(nil, wssec.Verification{Signer: wssec.Pinned(signer.certificate)})
			if (err == nil) != (c.want == "") || err != nil && (err.Error() != c.want || wssec.ReasonOf(err) != wssec.Unauthenticated) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			token, err := read(t, []byte(soap)).SignatureToken()
			if told := err == nil; told == strings.HasPrefix(c.want, unknown) {
				t.Errorf("who signed is %v, %v", token, err)
			}
		})
	}
	t.Run("a BinarySecurityToken", func(t *testing.T) {
		path := of(t, "signer", "p256").signing()
		path.Token = wssec.PKIPath
		byPath := secure(t, nil, path, nil)
		der := cut(t, string(byPath.SOAP), "X509PKIPathv1\" wsu:Id=\"signer\">", "<")
		for _, c := range []struct{ what, soap, want string }{
			{"of another type", swap(t, "#X509v3\" wsu:Id", "#X509v1\" wsu:Id")(string(sent.SOAP)), "X509v1\", X509v3 and X509PKIPathv1 are read"},
			{"in another encoding", swap(t, "#Base64Binary", "#HexBinary")(string(sent.SOAP)), "HexBinary\", only "},
			{"that is a path of nothing", swap(t, der, strings.Replace(der, der[strings.IndexByte(der, '>'):], ">MAA=<", 1))(string(byPath.SOAP)), "the PKIPath is no sequence of 1 to 10 certificates"},
			{"that is a path of eleven", swap(t, der, strings.Replace(der, der[strings.IndexByte(der, '>'):], ">MBYFAAUABQAFAAUABQAFAAUABQAFAAUA<", 1))(string(byPath.SOAP)), "the PKIPath is no sequence of 1 to 10 certificates"},
			{"that is a path and more", swap(t, der, strings.Replace(der, der[strings.IndexByte(der, '>'):], ">MAAA<", 1))(string(byPath.SOAP)), "the PKIPath is no sequence of 1 to 10 certificates"},
			{"that is a path of what is no certificate", swap(t, der, strings.Replace(der, der[strings.IndexByte(der, '>'):], ">MAIwAA==<", 1))(string(byPath.SOAP)), "x509: malformed"},
		} {
			if _, err := read(t, []byte(c.soap)).SignatureToken(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %s", c.what, err, c.want)
			}
		}
	})
}

func TestEncryptionShapes(t *testing.T) {
	signer, recipient := of(t, "signer", "ed25519"), of(t, "recipient", "p256")
	sent := secure(t, parts()[:1], signer.signing(), &wssec.Encrypting{Recipient: recipient.certificate})
	concat := secure(t, parts()[:1], signer.signing(), &wssec.Encrypting{Recipient: recipient.certificate, ConcatKDF: true})
	keys := []wssec.DecryptionKey{recipient.decryption()}
	info := cut(t, string(sent.SOAP), `<ds:KeyInfo><wsse:SecurityTokenReference xmlns:wsse11`, "</ds:KeyInfo>")
	key := cut(t, string(sent.SOAP), "<xenc:EncryptedKey", "</xenc:EncryptedKey>")
	originator := cut(t, string(sent.SOAP), "<xenc:OriginatorKeyInfo>", "</xenc:OriginatorKeyInfo>")
	recipientInfo := cut(t, string(sent.SOAP), "<xenc:RecipientKeyInfo>", "</xenc:RecipientKeyInfo>")
	der := func(b []byte) string {
		return `<xenc:OriginatorKeyInfo><dsig11:DEREncodedKeyValue xmlns:dsig11="` + wssec.DSIG11 + `">` + base64.StdEncoding.EncodeToString(b) + `</dsig11:DEREncodedKeyValue></xenc:OriginatorKeyInfo>`
	}
	for _, c := range []struct {
		what   string
		of     *wssec.Secured
		soap   func(string) string
		reason wssec.Reason // 0: it decrypts
		want   string
	}{
		{"as it is made", sent, swap(t, "", ""), 0, ""},
		{"the key is found by its list (Holodeck B2B)", sent, swap(t, info, ""), 0, ""},
		{"the list has no # (AS4.NET)", sent, func(s string) string {
			return swap(t, `DataReference URI="#part`, `DataReference URI="part`)(swap(t, info, "")(s))
		}, 0, ""},
		{"the key stands within what it is for", sent, func(s string) string {
			return swap(t, info, "<ds:KeyInfo>"+key+"</ds:KeyInfo>")(swap(t, key, "")(s))
		}, 0, ""},
		{"the recipient is not named", sent, swap(t, recipientInfo, ""), 0, ""},
		{"no list names the data", sent, func(s string) string {
			return swap(t, `DataReference URI="#part`, `DataReference URI="#other`)(swap(t, info, "")(s))
		}, wssec.Malformed, `no xenc:EncryptedKey belongs to the xenc:EncryptedData "part-1"`},
		{"two lists name the data", sent, func(s string) string {
			return swap(t, key, key+strings.Replace(key, `Id="key"`, `Id="key2"`, 1))(swap(t, info, "")(s))
		}, wssec.Malformed, `two xenc:EncryptedKey list the xenc:EncryptedData "part-1"`},
		{"the key is named by its digest", sent, swap(t, `<wsse:Reference URI="#key">`, `<wsse:KeyIdentifier ValueType="http://docs.oasis-open.org/wss/oasis-wss-soap-message-security-1.1#EncryptedKeySHA1"/><wsse:Reference URI="#key">`), wssec.Malformed, "holds 2 elements, one is expected"},
		{"the data has no method", sent, swap(t, cut(t, cut(t, string(sent.SOAP), "<xenc:EncryptedData", "</xenc:EncryptedData>"), "<xenc:EncryptionMethod", "</xenc:EncryptionMethod>"), ""), wssec.Malformed, "xenc:EncryptedData holds no element"},
		{"the data has something more", sent, swap(t, "</xenc:EncryptedData>", "<x/></xenc:EncryptedData>"), wssec.Malformed, "xenc:EncryptedData holds x, which is not allowed there"},
		{"the key has something more", sent, swap(t, "</xenc:EncryptedKey>", "<x/></xenc:EncryptedKey>"), wssec.Malformed, "xenc:EncryptedKey holds x, which is not allowed there"},
		{"the key has no value", sent, swap(t, cut(t, key, "<xenc:CipherValue>", "</xenc:CipherValue>"), ""), wssec.Malformed, "xenc:CipherData holds no element"},
		{"the reference has no transforms", sent, swap(t, cut(t, string(sent.SOAP), "<xenc:Transforms>", "</xenc:Transforms>"), ""), wssec.Malformed, "xenc:CipherReference holds no element"},
		{"an agreement that is none", sent, swap(t, wssec.ECDHES, "urn:x"), wssec.NonCompliant, `the key agreement "urn:x" is not allowed`},
		{"a derivation with the parameters of another", sent, swap(t, "xmldsig-more#hkdf\"", "xmldsig-more#x\""), wssec.NonCompliant, "the key derivation"},
		{"HKDF of another function", sent, swap(t, "#hmac-sha256", "#hmac-md5"), wssec.NonCompliant, "is not allowed in HKDF; use HMAC with SHA-256"},
		{"HKDF with a salt that is none", sent, swap(t, "</dsig-more:Salt>", "*</dsig-more:Salt>"), wssec.NonCompliant, "dsig-more:Salt is not base64"},
		{"HKDF with a length that is none", sent, swap(t, "<dsig-more:KeyLength>", "<dsig-more:KeyLength>x"), wssec.NonCompliant, "KeyLength of HKDFParams is no number"},
		{"HKDF of another length", sent, swap(t, "<dsig-more:KeyLength>16", "<dsig-more:KeyLength>32"), wssec.Undecryptable, "KeyLength of HKDFParams is 32, the key wrap takes 16 bytes"},
		{"HKDF with more parameters", sent, swap(t, "<dsig-more:PRF", "<x/><dsig-more:PRF"), wssec.NonCompliant, "dsig-more:HKDFParams holds x"},
		{"HKDF with info", sent, swap(t, "<dsig-more:KeyLength>", "<dsig-more:Info>AAAA</dsig-more:Info><dsig-more:KeyLength>"), wssec.Undecryptable, "the wrapped key does not fit"},
		{"ConcatKDF", concat, swap(t, "", ""), 0, ""},
		{"ConcatKDF with other information", concat, swap(t, `PartyUInfo=""`, `PartyUInfo="0041"`), wssec.Undecryptable, "the wrapped key does not fit"},
		{"ConcatKDF with what is no whole byte", concat, swap(t, `PartyUInfo=""`, `PartyUInfo="0341"`), wssec.NonCompliant, "PartyUInfo of ConcatKDFParams is no whole number of bytes"},
		{"ConcatKDF with what is not hexadecimal", concat, swap(t, `PartyUInfo=""`, `PartyUInfo="x"`), wssec.NonCompliant, "PartyUInfo of ConcatKDFParams is not hexadecimal"},
		{"ConcatKDF with SHA-1", concat, swap(t, wssec.SHA256, "http://www.w3.org/2000/09/xmldsig#sha1"), wssec.NonCompliant, "is not allowed in ConcatKDF"},
		{"an originator on another curve of ours", sent, swap(t, originator, der(of(t, "another", "p384").certificate.RawSubjectPublicKeyInfo)), wssec.Undecryptable, "the originator's key is of another curve"},
		{"an originator as DER", sent, swap(t, originator, der(of(t, "another", "p256").certificate.RawSubjectPublicKeyInfo)), wssec.Undecryptable, "the wrapped key does not fit"},
		{"an originator of X25519 for ECDH-ES", sent, swap(t, originator, der(of(t, "another", "x25519").certificate.RawSubjectPublicKeyInfo)), wssec.NonCompliant, "has an originator's key of another curve"},
		{"an originator that signs", sent, swap(t, originator, der(of(t, "another", "ed25519").certificate.RawSubjectPublicKeyInfo)), wssec.NonCompliant, "agrees on no key"},
		{"an originator on no curve of ours", sent, swap(t, "urn:oid:1.2.840.10045.3.1.7", "urn:oid:1.3.36.3.3.2.8.1.1.7"), wssec.NonCompliant, "is not supported; P-256, P-384 and P-521 are"},
		{"an originator that is on no point", sent, swap(t, cut(t, originator, "<dsig11:PublicKey>", "</dsig11:PublicKey>"), "<dsig11:PublicKey>BAAA</dsig11:PublicKey>"), wssec.NonCompliant, "the originator's key cannot be used: "},
		{"an originator by name", sent, swap(t, originator, "<xenc:OriginatorKeyInfo><ds:KeyName/></xenc:OriginatorKeyInfo>"), wssec.NonCompliant, "KeyName; DEREncodedKeyValue and ECKeyValue are read"},
	} {
		t.Run(c.what, func(t *testing.T) {
			plain, err := read(t, []byte(c.soap(string(c.of.SOAP)))).Decrypt(wire(t, c.of.Parts), wssec.Decryption{Keys: keys, Required: true})
			switch {
			case c.reason == 0 && err != nil:
				t.Error(err)
			case c.reason == 0 && !bytes.Equal(content(t, plain[0]), content(t, parts()[0])):
				t.Error("it is decrypted to something else")
			case c.reason != 0 && (wssec.ReasonOf(err) != c.reason || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got  %v: %v\nwant %v: … %s …", wssec.ReasonOf(err), err, c.reason, c.want)
			}
		})
	}
}
