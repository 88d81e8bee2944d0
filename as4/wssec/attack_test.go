package wssec_test

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/edigw/edigw/as4/infoset"
	"github.com/edigw/edigw/as4/wssec"
)

// attack is a genuine message that somebody on the way has made into another.
type attack struct {
	what   string
	soap   func(string) string
	parts  func([]wssec.Part) []wssec.Part
	reason wssec.Reason
	want   string // of the detail
}

// cut gives what stands from begin to the end of end, which has to be there.
func cut(t *testing.T, s, begin, end string) string {
	t.Helper()
	_, rest, ok := strings.Cut(s, begin)
	inner, _, found := strings.Cut(rest, end)
	if !ok || !found {
		t.Fatalf("there is no %s…%s in %s", begin, end, s)
	}
	return begin + inner + end
}

// swap replaces what has to be there.
func swap(t *testing.T, old, new string) func(string) string {
	return func(s string) string {
		t.Helper()
		if !strings.Contains(s, old) {
			t.Fatalf("there is no %s in %s", old, s)
		}
		return strings.Replace(s, old, new, 1)
	}
}

// forged is an eb:Messaging that nobody signed, with attributes.
func forged(attributes string, inner ...string) string {
	return `<eb:Messaging xmlns:eb="` + wssec.EBMS3 + `" xmlns:wsu="` + wssec.WSU + `" ` + attributes + `><eb:UserMessage><eb:MessageInfo><eb:MessageId>forged</eb:MessageId></eb:MessageInfo></eb:UserMessage>` + strings.Join(inner, "") + `</eb:Messaging>`
}

func run(t *testing.T, a attack, sent *wssec.Secured, v wssec.Verification) {
	t.Helper()
	soap, parts := string(sent.SOAP), wire(t, sent.Parts)
	if a.soap != nil {
		soap = a.soap(soap)
	}
	if a.parts != nil {
		parts = a.parts(parts)
	}
	e, err := wssec.Read([]byte(soap))
	if err == nil {
		_, err = e.Verify(parts, v)
	}
	if err == nil {
		t.Fatalf("the forgery verifies:\n%s", soap)
	}
	if wssec.ReasonOf(err) != a.reason || !strings.Contains(err.Error(), a.want) {
		t.Errorf("got  %v: %v\nwant %v: … %s …", wssec.ReasonOf(err), err, a.reason, a.want)
	}
}

// TestWrapping: the eight ways of having one element verified and another used
// (McIntosh and Austel 2005; Jensen, Liao and Schwenk 2009).
func TestWrapping(t *testing.T) {
	signer := of(t, "signer", "p256")
	sent := secure(t, parts(), signer.signing(), nil)
	soap := string(sent.SOAP)
	genuine, body := cut(t, soap, "<eb:Messaging", "</eb:Messaging>"), cut(t, soap, "<S12:Body", "</S12:Body>")
	security := cut(t, soap, "<wsse:Security", "</wsse:Security>")
	for _, a := range []attack{
		{what: "1 the signed header is moved aside, into a header of its own",
			soap:   swap(t, genuine, forged(`wsu:Id="other"`)+`<x:aside xmlns:x="urn:x">`+genuine+`</x:aside>`),
			reason: wssec.Malformed, want: "Messaging stands within x:aside: it has one place in the envelope"},
		{what: "1a the signed Body is moved aside",
			soap:   swap(t, body, `<S12:Body><x:order xmlns:x="urn:x">`+body+`</x:order></S12:Body>`),
			reason: wssec.Malformed, want: "Body stands within x:order: it has one place"},
		{what: "2 two elements have the id that is signed",
			soap:   swap(t, genuine, forged(`wsu:Id="messaging"`, `<eb:SignalMessage><eb:Receipt>`+genuine+`</eb:Receipt></eb:SignalMessage>`)),
			reason: wssec.Malformed, want: `the id "messaging" stands at eb:Messaging and at eb:Messaging: an id names one element`},
		{what: "3 the id stands at another attribute of the forgery",
			soap:   swap(t, genuine, forged(`wsu:Id="other" xml:id="messaging"`, `<eb:SignalMessage><eb:Receipt>`+genuine+`</eb:Receipt></eb:SignalMessage>`)),
			reason: wssec.Malformed, want: "an id names one element"},
		{what: "3a the id is only what something else is called",
			soap:   swap(t, `wsu:Id="messaging"`, `Id="messaging"`),
			reason: wssec.Unauthenticated, want: `"#messaging", which names no element of the message by its wsu:Id`},
		{what: "4 the signed header is nested where copies may be",
			soap:   swap(t, genuine, forged(`wsu:Id="other"`, `<eb:SignalMessage><eb:Receipt>`+genuine+`</eb:Receipt></eb:SignalMessage>`)),
			reason: wssec.NonCompliant, want: "eb:Messaging is not covered by the signature"},
		{what: "4a the signed header is nested in the Body",
			soap: func(s string) string {
				return swap(t, `wsu:Id="body">`, `wsu:Id="body">`+genuine)(swap(t, genuine, forged(`wsu:Id="other"`))(s))
			},
			reason: wssec.Malformed, want: "Messaging stands within S12:Body: it has one place"},
		{what: "5 there are two Security headers",
			soap:   swap(t, security, security+`<wsse:Security xmlns:wsse="`+wssec.WSSE+`"/>`),
			reason: wssec.Malformed, want: "S12:Header holds 2 elements"},
		{what: "5a the second is in another place",
			soap:   swap(t, `wsu:Id="body">`, `wsu:Id="body"><wsse:Security xmlns:wsse="`+wssec.WSSE+`"/>`),
			reason: wssec.Malformed, want: "Security stands within S12:Body: it has one place"},
		{what: "5b one Security header has two signatures",
			soap:   swap(t, "</wsse:Security>", cut(t, soap, "<ds:Signature ", "</ds:Signature>")+"</wsse:Security>"),
			reason: wssec.NonCompliant, want: "holds 2 signatures, one is allowed"},
		{what: "5c there are two headers to choose from",
			soap:   swap(t, genuine, genuine+forged(`wsu:Id="other"`)),
			reason: wssec.Malformed, want: "S12:Header holds 2 elements"},
		{what: "6 the signed header is in an Object of the signature",
			soap: func(s string) string {
				return swap(t, "</ds:Signature>", "<ds:Object>"+genuine+"</ds:Object></ds:Signature>")(swap(t, genuine, forged(`wsu:Id="other"`))(s))
			},
			reason: wssec.Malformed, want: "Messaging stands within ds:Object: it has one place"},
		{what: "6a an Object that holds nothing",
			soap:   swap(t, "</ds:Signature>", "<ds:Object></ds:Object></ds:Signature>"),
			reason: wssec.Unauthenticated, want: "Object, which is not allowed there"},
		{what: "7 ids of several kinds at one element name it once, and the digest says what was added",
			soap:   swap(t, `wsu:Id="messaging"`, `wsu:Id="messaging" id="messaging"`),
			reason: wssec.Unauthenticated, want: `the digest of "#messaging" is not that of the signature`},
		{what: "7a ID and wsu:Id at two elements",
			soap:   swap(t, "<S12:Body ", `<S12:Body ID="messaging" `),
			reason: wssec.Malformed, want: "an id names one element"},
		{what: "8 a document type makes an attribute an id",
			soap:   func(s string) string { return `<!DOCTYPE S12:Envelope [<!ATTLIST eb:Messaging x ID #IMPLIED>]>` + s },
			reason: wssec.Malformed, want: "a document type declaration is not allowed"},
		{what: "8a the prefix of the id stands for something else",
			soap:   swap(t, genuine, forged(`xmlns:x="urn:x" x:Id="other"`)),
			reason: wssec.Unauthenticated, want: `"#messaging", which names no element`},
		{what: "8b the header's prefix stands for something else",
			soap:   swap(t, `xmlns:eb="`+wssec.EBMS3+`"`, `xmlns:eb="urn:x"`),
			reason: wssec.Malformed, want: "the envelope has no eb:Messaging"},
		{what: "8c an entity is in a value",
			soap:   swap(t, "1@example", "&x;"),
			reason: wssec.Malformed, want: "the reference &x; is not allowed"},
		{what: "8d a processing instruction is in it",
			soap:   swap(t, "1@example", "1@<?x?>example"),
			reason: wssec.Malformed, want: "a processing instruction is not allowed"},
		{what: "two Bodies",
			soap:   swap(t, body, body+`<S12:Body/>`),
			reason: wssec.Malformed, want: "Body where a Header and then a Body are expected, each once"},
		{what: "a Body of another SOAP before the one that is signed",
			soap:   swap(t, body, `<x:Body xmlns:x="`+wssec.SOAP11+`"/>`+body),
			reason: wssec.Malformed, want: "{http://schemas.xmlsoap.org/soap/envelope/}Body where"},
		{what: "a Header after the Body",
			soap:   swap(t, body, body+`<S12:Header/>`),
			reason: wssec.Malformed, want: "Header where a Header and then a Body are expected"},
	} {
		t.Run(a.what, func(t *testing.T) { run(t, a, sent, wssec.Verification{Signer: wssec.Pinned(signer.certificate)}) })
	}
	t.Run("a comment in a value is not signed, and does not cut the value", func(t *testing.T) {
		commented := swap(t, "1@example", "1@<!-- evil.-->example")(soap)
		e := read(t, []byte(commented))
		if _, err := e.Verify(wire(t, sent.Parts), wssec.Verification{Signer: wssec.Pinned(signer.certificate)}); err != nil {
			t.Fatal(err) // exclusive canonical XML leaves comments out
		}
		id := e.Messaging.FindElement("./UserMessage/MessageInfo/MessageId")
		if got, err := infoset.Text(id); err != nil || got != "1@example" {
			t.Errorf("the MessageId is read as %q", got)
		}
	})
}

func TestForgery(t *testing.T) {
	signer, stranger := of(t, "signer", "p256"), of(t, "stranger", "p256")
	sent := secure(t, parts(), signer.signing(), nil)
	soap := string(sent.SOAP)
	pinned := wssec.Verification{Signer: wssec.Pinned(signer.certificate)}
	first := cut(t, soap, "<ds:Reference ", "</ds:Reference>")
	value := cut(t, soap, "<ds:SignatureValue>", "</ds:SignatureValue>")
	exclusive := `<ds:Transforms><ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"></ds:Transform></ds:Transforms>`
	for _, a := range []attack{
		{what: "the header is changed", soap: swap(t, "1@example", "2@example"),
			reason: wssec.Unauthenticated, want: `the digest of "#messaging" is not that of the signature: it was changed after signing`},
		{what: "something is put into the Body", soap: swap(t, `wsu:Id="body">`, `wsu:Id="body"><x/>`),
			reason: wssec.Unauthenticated, want: `the digest of "#body" is not that`},
		{what: "a part is changed", parts: func(p []wssec.Part) []wssec.Part { p[2] = part("text@example", "text/plain", []byte("UNA")); return p },
			reason: wssec.Unauthenticated, want: `the digest of "cid:text@example" is not that`},
		{what: "two parts are exchanged", parts: func(p []wssec.Part) []wssec.Part {
			p[0].Open, p[2].Open = p[2].Open, p[0].Open
			return p
		}, reason: wssec.Unauthenticated, want: `the digest of "cid:gzip@example" is not that`},
		{what: "a part is added", parts: func(p []wssec.Part) []wssec.Part { return append(p, part("more@example", "text/plain", nil)) },
			reason: wssec.NonCompliant, want: `the part "more@example" is not covered by the signature`},
		{what: "a part without Content-ID is added", parts: func(p []wssec.Part) []wssec.Part { return append(p, part("", "text/plain", nil)) },
			reason: wssec.NonCompliant, want: `the part "" is not covered by the signature`},
		{what: "a part is added under the Content-ID of another", parts: func(p []wssec.Part) []wssec.Part { return append(p, part("text@example", "text/plain", nil)) },
			reason: wssec.Malformed, want: `two parts have the Content-ID "text@example"`},
		{what: "a part is left out", parts: func(p []wssec.Part) []wssec.Part { return p[1:] },
			reason: wssec.Unauthenticated, want: `the signature covers "cid:gzip@example", which is no part of the message`},
		{what: "a reference is left out", soap: swap(t, first, ""),
			reason: wssec.Unauthenticated, want: "the signature is not one of the certificate of \"CN=signer p256\""},
		{what: "nothing is signed", soap: swap(t, cut(t, soap, "<ds:Signature ", "</ds:Signature>"), ""),
			reason: wssec.NonCompliant, want: "the message is not signed: its wsse:Security header holds no ds:Signature"},
		{what: "there is no security at all", soap: swap(t, cut(t, soap, "<wsse:Security", "</wsse:Security>"), ""),
			reason: wssec.NonCompliant, want: "the message is not signed: it has no wsse:Security header"},
		{what: "another certificate is put in", soap: swap(t, base64.StdEncoding.EncodeToString(signer.certificate.Raw), base64.StdEncoding.EncodeToString(stranger.certificate.Raw)),
			reason: wssec.Unauthenticated, want: "the message is signed by the certificate of \"CN=stranger p256\", serial number"},
		{what: "the token is a certificate that cannot be read", soap: swap(t, base64.StdEncoding.EncodeToString(signer.certificate.Raw), "AAAA"),
			reason: wssec.Unauthenticated, want: "the certificate of the signature cannot be told: x509: "},
		{what: "the token is nowhere", soap: swap(t, `URI="#signer"`, `URI="#nowhere"`),
			reason: wssec.Unauthenticated, want: `wsse:Reference names "#nowhere", which is no BinarySecurityToken of the Security header`},
		{what: "the token is outside of the Security header", soap: func(s string) string {
			token := cut(t, s, "<wsse:BinarySecurityToken", "</wsse:BinarySecurityToken>")
			declared := strings.Replace(token, "<wsse:BinarySecurityToken", `<wsse:BinarySecurityToken xmlns:wsse="`+wssec.WSSE+`" xmlns:wsu="`+wssec.WSU+`"`, 1)
			return swap(t, "</wsse:Security>", "</wsse:Security>"+declared)(swap(t, token, "")(s))
		}, reason: wssec.Unauthenticated, want: `wsse:Reference names "#signer", which is no BinarySecurityToken of the Security header`},
		{what: "the token is a key itself", soap: swap(t, cut(t, soap, "<ds:KeyInfo>", "</ds:KeyInfo>"), "<ds:KeyInfo><ds:KeyValue/></ds:KeyInfo>"),
			reason: wssec.Unauthenticated, want: "the key is named by {http://www.w3.org/2000/09/xmldsig#}KeyValue"},
		{what: "the value is empty", soap: swap(t, value, "<ds:SignatureValue></ds:SignatureValue>"),
			reason: wssec.Unauthenticated, want: "ds:SignatureValue is empty"},
		{what: "the value is zeros", soap: swap(t, value, "<ds:SignatureValue>"+base64.StdEncoding.EncodeToString(make([]byte, 64))+"</ds:SignatureValue>"),
			reason: wssec.Unauthenticated, want: "the signature value does not fit"},
		{what: "the value is cut", soap: swap(t, value, "<ds:SignatureValue>AAAA</ds:SignatureValue>"),
			reason: wssec.Unauthenticated, want: "the ECDSA signature has 3 bytes, 64 are expected"},
		{what: "the method is one of another key", soap: swap(t, wssec.ECDSASHA256, wssec.RSASHA256),
			reason: wssec.Unauthenticated, want: "the signature method http://www.w3.org/2001/04/xmldsig-more#rsa-sha256 does not go with the certificate's key"},
		{what: "the method takes the certificate for a shared secret", soap: swap(t, wssec.ECDSASHA256, "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256"),
			reason: wssec.NonCompliant, want: `the signature method "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256" is not allowed; use RSA, RSA-PSS or ECDSA`},
		{what: "the method has SHA-1", soap: swap(t, wssec.ECDSASHA256, "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha1"),
			reason: wssec.NonCompliant, want: "ecdsa-sha1\" is not allowed"},
		{what: "a digest has SHA-1", soap: swap(t, wssec.SHA256, "http://www.w3.org/2000/09/xmldsig#sha1"),
			reason: wssec.NonCompliant, want: "the digest method \"http://www.w3.org/2000/09/xmldsig#sha1\" of the reference \"#messaging\" is not allowed; use SHA-256"},
		{what: "a digest is none", soap: swap(t, wssec.SHA256, "urn:none"),
			reason: wssec.NonCompliant, want: "the digest method \"urn:none\""},
		{what: "a transform selects by XPath", soap: swap(t, exclusive, `<ds:Transforms><ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><ds:XPath>true()</ds:XPath></ds:Transform></ds:Transforms>`),
			reason: wssec.Unauthenticated, want: "ds:Transform holds {http://www.w3.org/2000/09/xmldsig#}XPath, which is not allowed there"},
		{what: "ten thousand transforms", soap: swap(t, exclusive, `<ds:Transforms>`+strings.Repeat(`<ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/>`, 10_000)+`</ds:Transforms>`),
			reason: wssec.Unauthenticated, want: "has more than 4 transforms"},
		{what: "three hundred references", soap: func(s string) string {
			return strings.Replace(s, "<ds:Reference ", strings.Repeat(`<ds:Reference URI="#x"><ds:DigestMethod Algorithm="`+wssec.SHA256+`"/><ds:DigestValue>AA==</ds:DigestValue></ds:Reference>`, 300)+"<ds:Reference ", 1)
		}, reason: wssec.NonCompliant, want: "the signature has more than 256 references"},
		{what: "ten thousand prefixes", soap: swap(t, exclusive, strings.Replace(exclusive, "></ds:Transform>", `><ec:InclusiveNamespaces xmlns:ec="http://www.w3.org/2001/10/xml-exc-c14n#" PrefixList="`+strings.Repeat("a ", 10_000)+`"/></ds:Transform>`, 1)),
			reason: wssec.Unauthenticated, want: "the signature is not one of"},
		{what: "ten thousand prefixes for SignedInfo", soap: swap(t, `<ds:CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#">`, `<ds:CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"><ec:InclusiveNamespaces xmlns:ec="http://www.w3.org/2001/10/xml-exc-c14n#" PrefixList="`+strings.Repeat("a ", 10_000)+`"/>`),
			reason: wssec.NonCompliant, want: "the PrefixList has more than 32 prefixes"},
		{what: "SignedInfo holds something more", soap: swap(t, "<ds:SignedInfo>", `<ds:SignedInfo><x/>`),
			reason: wssec.Unauthenticated, want: "ds:SignedInfo holds x, which is not allowed there"},
	} {
		t.Run(a.what, func(t *testing.T) { run(t, a, sent, pinned) })
	}
	t.Run("the digests are not computed for a stranger", func(t *testing.T) {
		opened := 0
		counted := wire(t, sent.Parts)
		for i := range counted {
			open := counted[i].Open
			counted[i].Open = func() (io.ReadCloser, error) { opened++; return open() }
		}
		e := read(t, []byte(swap(t, value, "<ds:SignatureValue>"+base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 64))+"</ds:SignatureValue>")(soap)))
		if _, err := e.Verify(counted, pinned); err == nil || opened > 0 {
			t.Errorf("%v, %d parts were opened", err, opened)
		}
		if err := e.Authenticate(pinned); wssec.ReasonOf(err) != wssec.Unauthenticated {
			t.Errorf("he is taken for the signer: %v", err)
		}
		if err := read(t, sent.SOAP).Authenticate(pinned); err != nil {
			t.Errorf("the signer is not taken for himself: %v", err)
		}
	})
	t.Run("who was authenticated is verified by what is asked then", func(t *testing.T) {
		e := read(t, sent.SOAP)
		if err := e.Authenticate(pinned); err != nil {
			t.Fatal(err)
		}
		whole := wire(t, sent.Parts)
		changed := wire(t, sent.Parts)
		changed[2] = part("text@example", "text/plain", []byte("UNA"))
		another := wssec.Verification{Signer: func(wssec.Token) (*x509.Certificate, error) { return stranger.certificate, nil }}
		nobody := wssec.Verification{Signer: wssec.Pinned(stranger.certificate)}
		for what, err := range map[string]error{
			"with a part that was changed":   second(e.Verify(changed, pinned)),
			"as another one":                 second(e.Verify(whole, another)),
			"as nobody":                      second(e.Verify(whole, nobody)),
			"as another one, before parts":   e.Authenticate(another),
			"as another one, after a change": second(read(t, []byte(swap(t, "1@example", "2@example")(soap))).Verify(whole, pinned)),
		} {
			if wssec.ReasonOf(err) != wssec.Unauthenticated {
				t.Errorf("%s he is taken: %v", what, err)
			}
		}
		if _, err := e.Verify(whole, pinned); err != nil {
			t.Errorf("he is not taken for himself: %v", err)
		}
	})
	t.Run("the signature of another message of the signer's stands for no other header, before any part is read", func(t *testing.T) {
		unsigned := pinned
		unsigned.UnsignedBody = true
		for what, forgery := range map[string]string{
			"another header":         swap(t, "1@example", "2@example")(soap),
			"another Body":           swap(t, `wsu:Id="body">`, `wsu:Id="body"><x/>`)(soap),
			"a header without an id": swap(t, ` wsu:Id="messaging"`, "")(soap),
			"a header and the Body, neither of them the one that is signed": swap(t, `<wsse:BinarySecurityToken `, `<x:x xmlns:x="urn:x" wsu:Id="messaging"/><wsse:BinarySecurityToken `)(swap(t, ` wsu:Id="messaging"`, "")(soap)),
		} {
			for _, v := range []wssec.Verification{pinned, unsigned} {
				if err := read(t, []byte(forgery)).Authenticate(v); wssec.ReasonOf(err) != wssec.Unauthenticated && wssec.ReasonOf(err) != wssec.NonCompliant {
					t.Errorf("%s is taken for the signer's: %v", what, err)
				}
			}
		}
	})
	t.Run("what a message quotes is told in part", func(t *testing.T) {
		long := read(t, []byte(swap(t, wssec.ECDSASHA256, strings.Repeat("ä", 20_000))(soap)))
		_, err := long.Verify(wire(t, sent.Parts), pinned)
		if f, ok := errors.AsType[*wssec.Fault](err); !ok || f.Reason != wssec.NonCompliant || len(f.Detail) > 700 || !utf8.ValidString(f.Detail) {
			t.Errorf("%.2000v", err)
		}
	})
	t.Run("nobody to ask who the signer is", func(t *testing.T) {
		if err := read(t, sent.SOAP).Authenticate(wssec.Verification{}); err == nil || wssec.ReasonOf(err) != 0 {
			t.Error(err)
		}
	})
	t.Run("a type that nobody signed does not choose what a digest overlooks", func(t *testing.T) {
		for genuine, overlooked := range map[string][2]string{
			"UNB\r\nUNZ\r\n": {"text/plain", "UNB\nUNZ\r"},
			"<a><b></b></a>": {"text/xml", "<a><!-- evil --><b/></a>"},
		} {
			sent := secure(t, []wssec.Part{part("a@b", "application/edifact", []byte(genuine))}, signer.signing(), nil)
			for signed, taken := range map[string]bool{"application/edifact": false, "application/gzip": false, overlooked[0]: true, "": true} {
				p := part("a@b", overlooked[0], []byte(overlooked[1]))
				p.SignedType = signed
				verified, err := read(t, sent.SOAP).Verify([]wssec.Part{p}, pinned)
				if taken != (err == nil) || err != nil && wssec.ReasonOf(err) != wssec.Unauthenticated {
					t.Errorf("%q as %s, where %q was signed as %q: %v", overlooked[1], overlooked[0], genuine, signed, err)
				}
				if signed == "" && err == nil { // nobody says what it is, and what is read is what was signed
					if got := string(content(t, verified.Parts[0])); got != genuine {
						t.Errorf("%q is read of what was signed as %q", got, genuine)
					}
				}
				p = part("a@b", overlooked[0], []byte(genuine))
				p.SignedType = signed
				if _, err := read(t, sent.SOAP).Verify([]wssec.Part{p}, pinned); err != nil {
					t.Errorf("the genuine bytes as %s, signed as %q: %v", overlooked[0], signed, err)
				}
			}
		}
	})
}

// TestSignedOtherwise: who has the signer's key signs what the lists do not have.
func TestSignedOtherwise(t *testing.T) {
	signer := of(t, "signer", "p256")
	pinned := wssec.Verification{Signer: wssec.Pinned(signer.certificate)}
	exclusive := `<ds:Transforms><ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"></ds:Transform></ds:Transforms>`
	swa := "http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Content-Signature-Transform"
	genuine := string(secure(t, parts(), signer.signing(), nil).SOAP)
	first, last := cut(t, genuine, "<ds:Reference ", "</ds:Reference>"), cut(t, genuine, `<ds:Reference URI="cid:empty@example"`, "</ds:Reference>")
	for _, a := range []attack{
		{what: "the Messaging is not covered", soap: swap(t, first, ""),
			reason: wssec.NonCompliant, want: "eb:Messaging is not covered by the signature"},
		{what: "the Body is not covered", soap: swap(t, cut(t, genuine, `<ds:Reference URI="#body"`, "</ds:Reference>"), ""),
			reason: wssec.NonCompliant, want: "the SOAP Body is not covered by the signature"},
		{what: "a part is not covered", soap: swap(t, last, ""),
			reason: wssec.NonCompliant, want: `the part "empty@example" is not covered by the signature`},
		{what: "a part is covered twice", soap: swap(t, last, last+last),
			reason: wssec.Unauthenticated, want: `the signature covers "cid:empty@example" twice`},
		{what: "a part is covered under two spellings", soap: swap(t, last, last+swap(t, "cid:empty@", "cid:empty%40")(last)),
			reason: wssec.Unauthenticated, want: `the signature covers "cid:empty%40example" twice`},
		{what: "nothing is covered", soap: func(s string) string {
			begin, rest, _ := strings.Cut(s, "<ds:Reference ")
			_, end, _ := strings.Cut(rest, "</ds:SignedInfo>")
			return begin + "</ds:SignedInfo>" + end
		}, reason: wssec.NonCompliant, want: `the part "gzip@example" is not covered`},
		{what: "the whole document is covered", soap: swap(t, `URI="#messaging"`, `URI=""`),
			reason: wssec.Unauthenticated, want: `the signature covers "", which names no element`},
		{what: "something on the net is covered", soap: swap(t, `URI="#messaging"`, `URI="http://example.org/"`),
			reason: wssec.Unauthenticated, want: `the signature covers "http://example.org/", which names no element`},
		{what: "an XPointer", soap: swap(t, `URI="#messaging"`, `URI="#xpointer(id('messaging'))"`),
			reason: wssec.Unauthenticated, want: "which names no element"},
		{what: "an element without transforms", soap: swap(t, exclusive, ""),
			reason: wssec.NonCompliant, want: `the reference "#messaging" has 0 transforms, one is expected`},
		{what: "an element with comments", soap: swap(t, exclusive, strings.Replace(exclusive, "exc-c14n#", "exc-c14n#WithComments", 1)),
			reason: wssec.NonCompliant, want: `the canonicalization "http://www.w3.org/2001/10/xml-exc-c14n#WithComments" is not allowed`},
		{what: "SignedInfo in inclusive canonical XML", soap: swap(t, `<ds:CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"`, `<ds:CanonicalizationMethod Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315"`),
			reason: wssec.NonCompliant, want: `the canonicalization "http://www.w3.org/TR/2001/REC-xml-c14n-20010315" is not allowed`},
		{what: "a part with its MIME header", soap: swap(t, swa, strings.Replace(swa, "Content", "Complete", 1)),
			reason: wssec.NonCompliant, want: "has other transforms than the one allowed"},
		{what: "a part that is canonicalised as XML", soap: swap(t, swa, "http://www.w3.org/2001/10/xml-exc-c14n#"),
			reason: wssec.NonCompliant, want: "has other transforms than the one allowed"},
		{what: "a token transform", soap: swap(t, exclusive, `<ds:Transforms><ds:Transform Algorithm="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0#STR-Transform"></ds:Transform></ds:Transforms>`),
			reason: wssec.NonCompliant, want: "STR-Transform\" is not allowed"},
	} {
		t.Run(a.what, func(t *testing.T) {
			sent := secure(t, parts(), signer.signing(), nil)
			sent.SOAP = []byte(resign(t, signer, a.soap(string(sent.SOAP))))
			a.soap = nil
			run(t, a, sent, pinned)
		})
	}
	t.Run("the header alone is enough where the agreement says so, and the Body is empty", func(t *testing.T) {
		sent := secure(t, nil, signer.signing(), nil)
		soap := swap(t, cut(t, string(sent.SOAP), `<ds:Reference URI="#body"`, "</ds:Reference>"), "")(string(sent.SOAP))
		unsigned := pinned
		unsigned.UnsignedBody = true
		s, err := read(t, []byte(resign(t, signer, soap))).Verify(nil, unsigned)
		if err != nil || s.Body != nil {
			t.Error(err, s)
		}
		full := resign(t, signer, swap(t, `wsu:Id="body">`, `wsu:Id="body"><x/>`)(soap))
		if _, err := read(t, []byte(full)).Verify(nil, unsigned); wssec.ReasonOf(err) != wssec.NonCompliant {
			t.Errorf("a Body that is not empty: %v", err)
		}
	})
	t.Run("SHA-1 is taken where the agreement says so", func(t *testing.T) {
		rsa := of(t, "signer", "rsa")
		sent := secure(t, nil, rsa.signing(), nil)
		soap := resign(t, rsa, swap(t, wssec.RSASHA256, "http://www.w3.org/2000/09/xmldsig#rsa-sha1")(string(sent.SOAP)))
		if _, err := read(t, []byte(soap)).Verify(nil, wssec.Verification{Signer: wssec.Pinned(rsa.certificate)}); wssec.ReasonOf(err) != wssec.NonCompliant {
			t.Errorf("without: %v", err)
		}
		if _, err := read(t, []byte(soap)).Verify(nil, wssec.Verification{Signer: wssec.Pinned(rsa.certificate), SHA1: true}); err != nil {
			t.Errorf("with: %v", err)
		}
	})
}

// resign signs the SignedInfo of a document anew, whatever it says.
func resign(t *testing.T, signer identity, soap string) string {
	t.Helper()
	canonical, hash := wssec.SignedInfo(t, soap), crypto.SHA256
	if strings.Contains(soap, "#rsa-sha1") {
		hash = crypto.SHA1
	}
	return swap(t, cut(t, soap, "<ds:SignatureValue>", "</ds:SignatureValue>"), "<ds:SignatureValue>"+wssec.SignValue(t, signer.signing(), hash, canonical)+"</ds:SignatureValue>")(soap)
}

// second is the error beside a signature.
func second(_ *wssec.Signature, err error) error { return err }
