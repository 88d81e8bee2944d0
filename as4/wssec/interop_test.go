package wssec_test

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/beevik/etree"

	"github.com/edigw/edigw/as4/infoset"
	"github.com/edigw/edigw/as4/wssec"
)

// files writes a key and its certificate as PEM.
func (i identity) files(t *testing.T) (key, certificate string) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(i.key)
	if err != nil {
		t.Fatal(err)
	}
	key, certificate = filepath.Join(t.TempDir(), "key.pem"), filepath.Join(t.TempDir(), "certificate.pem")
	for path, block := range map[string]*pem.Block{key: {Type: "PRIVATE KEY", Bytes: der}, certificate: {Type: "CERTIFICATE", Bytes: i.certificate.Raw}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return key, certificate
}

// program runs a program of others with a message as its input.
func program(t *testing.T, message []byte, name string, arguments ...string) ([]byte, error) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s, which ours is held against, is not here: run deploy/xmlsec", name)
	}
	cmd := exec.Command(path, arguments...)
	cmd.Stdin = bytes.NewReader(message)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("%w: %s", err, said.Bytes())
	}
	return out, nil
}

// xmlsec1 runs xmlsec1 over a message in a file, with what it has to be told of ids.
func xmlsec1(t *testing.T, message []byte, arguments ...string) ([]byte, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "message.xml")
	if err := os.WriteFile(path, message, 0o600); err != nil {
		t.Fatal(err)
	}
	arguments = append(arguments, "--id-attr:Id", wssec.SOAP12+":Body", "--id-attr:Id", wssec.EBMS3+":Messaging", path)
	return program(t, nil, "xmlsec1", arguments...)
}

const python = "../../bin/signxml/bin/python"

// envelopes are spellings of one message, in which canonicalisation differs.
var envelopes = map[string]string{
	"plain":              `<S12:Envelope xmlns:S12="SOAP"><S12:Header><wsse:Security xmlns:wsse="WSSE">SIGNATURE</wsse:Security><eb:Messaging xmlns:eb="EBMS" xmlns:wsu="WSU" S12:mustUnderstand="true" wsu:Id="messaging"><eb:UserMessage/></eb:Messaging></S12:Header><S12:Body xmlns:wsu="WSU" wsu:Id="body"/></S12:Envelope>`,
	"attribute order":    `<S12:Envelope xmlns:S12="SOAP" xmlns:z="urn:a" xmlns:a="urn:z"><S12:Header><wsse:Security xmlns:wsse="WSSE">SIGNATURE</wsse:Security><eb:Messaging a:one="1" z:two="2" three="3" xmlns:eb="EBMS" xmlns:wsu="WSU" S12:mustUnderstand="true" wsu:Id="messaging"/></S12:Header><S12:Body xmlns:wsu="WSU" wsu:Id="body"/></S12:Envelope>`,
	"default namespaces": `<Envelope xmlns="SOAP" xmlns:w="WSU"><Header><Security xmlns="WSSE">SIGNATURE</Security><Messaging xmlns="EBMS" w:Id="messaging"><UserMessage xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="x"/></Messaging></Header><Body w:Id="body"><x xmlns=""><y/></x></Body></Envelope>`,
	"undone default":     `<S12:Envelope xmlns:S12="SOAP" xmlns="urn:d"><S12:Header><wsse:Security xmlns:wsse="WSSE">SIGNATURE</wsse:Security><eb:Messaging xmlns:eb="EBMS" xmlns:wsu="WSU" wsu:Id="messaging"><x xmlns=""><y a="1"/></x><z/></eb:Messaging></S12:Header><S12:Body xmlns:wsu="WSU" wsu:Id="body"><q xmlns=""/></S12:Body></S12:Envelope>`,
	"line breaks":        "<?xml version='1.0' encoding='UTF-8'?>\r\n<S12:Envelope\r\n  xmlns:S12='SOAP'>\r\n <S12:Header><wsse:Security xmlns:wsse='WSSE'>SIGNATURE</wsse:Security>\r\n  <eb:Messaging xmlns:eb='EBMS' xmlns:wsu='WSU' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'\r\n   xsi:schemaLocation='urn:a\r\n\ta.xsd' wsu:Id='messaging'>\r\n&#13;\r\n<![CDATA[<x>\r\n]]></eb:Messaging></S12:Header><S12:Body xmlns:wsu='WSU' wsu:Id='body'>\r\n</S12:Body></S12:Envelope>\r\n",
	"comments":           `<S12:Envelope xmlns:S12="SOAP"><!-- a --><S12:Header><wsse:Security xmlns:wsse="WSSE">SIGNATURE</wsse:Security><eb:Messaging xmlns:eb="EBMS" xmlns:wsu="WSU" wsu:Id="messaging"><!-- b --><eb:UserMessage>te<!-- c -->xt</eb:UserMessage></eb:Messaging></S12:Header><S12:Body xmlns:wsu="WSU" wsu:Id="body"><!-- d --></S12:Body></S12:Envelope>`,
	"unicode":            `<S12:Envelope xmlns:S12="SOAP"><S12:Header><wsse:Security xmlns:wsse="WSSE">SIGNATURE</wsse:Security><eb:Messaging xmlns:eb="EBMS" xmlns:wsu="WSU" wsu:Id="messaging" ä="&#x1F600;é"><größe>&#xFC;ü😀&#x85;</größe></eb:Messaging></S12:Header><S12:Body xmlns:wsu="WSU" wsu:Id="body"/></S12:Envelope>`,
	"many elements":      `<S12:Envelope xmlns:S12="SOAP"><S12:Header><wsse:Security xmlns:wsse="WSSE">SIGNATURE</wsse:Security><eb:Messaging xmlns:eb="EBMS" xmlns:wsu="WSU" wsu:Id="messaging">` + strings.Repeat(`<eb:PartInfo href="cid:x"><p xmlns="urn:p"/></eb:PartInfo>`, 2_000) + `</eb:Messaging></S12:Header><S12:Body xmlns:wsu="WSU" wsu:Id="body"/></S12:Envelope>`,
}

// ascii spells a message for signxml, whose lxml writes names that are not ASCII as
// references.
func ascii(message []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(message, []byte("größe"), []byte("size")), []byte(` ä="`), []byte(` a="`))
}

func envelope(style, signature string) []byte {
	return []byte(strings.NewReplacer("SIGNATURE", signature, "SOAP", wssec.SOAP12, "EBMS", wssec.EBMS3, "WSSE", wssec.WSSE, "WSU", wssec.WSU).Replace(envelopes[style]))
}

// template is a ds:Signature to be filled in by xmlsec1.
func template(method, prefixes string, c *x509.Certificate) string {
	list := ""
	if prefixes != "" {
		list = `<ec:InclusiveNamespaces xmlns:ec="` + wssec.EXCC14N + `" PrefixList="` + prefixes + `"/>`
	}
	reference := func(id string) string {
		return `<ds:Reference URI="#` + id + `"><ds:Transforms><ds:Transform Algorithm="` + wssec.EXCC14N + `">` + list + `</ds:Transform></ds:Transforms><ds:DigestMethod Algorithm="` + wssec.SHA256 + `"/><ds:DigestValue/></ds:Reference>`
	}
	return `<ds:Signature xmlns:ds="` + wssec.DSIG + `"><ds:SignedInfo><ds:CanonicalizationMethod Algorithm="` + wssec.EXCC14N + `">` + list + `</ds:CanonicalizationMethod><ds:SignatureMethod Algorithm="` + method + `"/>` +
		reference("messaging") + reference("body") + `</ds:SignedInfo><ds:SignatureValue/><ds:KeyInfo><wsse:SecurityTokenReference xmlns:wsse="` + wssec.WSSE + `"><wsse:KeyIdentifier ValueType="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-x509-token-profile-1.0#X509SubjectKeyIdentifier">` +
		base64.StdEncoding.EncodeToString(c.SubjectKeyId) + `</wsse:KeyIdentifier></wsse:SecurityTokenReference></ds:KeyInfo></ds:Signature>`
}

func TestWhatXmlsec1Signs(t *testing.T) {
	for style := range envelopes {
		for i, prefixes := range []string{"", "S12", "S12 xsi eb", "#default S12"} {
			kind, method := "rsa", []string{wssec.RSASHA256, wssec.RSASHA384, wssec.RSASHA512, wssec.RSASHA256}[i]
			if i%2 == 1 {
				kind, method = "p256", []string{wssec.ECDSASHA256, wssec.ECDSASHA384, wssec.ECDSASHA512, wssec.ECDSASHA256}[i]
			}
			t.Run(style+" PrefixList "+prefixes, func(t *testing.T) {
				signer := of(t, "signer", kind)
				key, _ := signer.files(t)
				signed, err := xmlsec1(t, envelope(style, template(method, prefixes, signer.certificate)), "--sign", "--privkey-pem", key)
				if err != nil {
					t.Fatal(err)
				}
				pinned := wssec.Verification{Signer: wssec.Pinned(signer.certificate)}
				s, err := read(t, signed).Verify(nil, pinned)
				if err != nil {
					t.Fatalf("%v\n%s", err, signed)
				}
				if s.Method != method || s.Messaging == nil || s.Body == nil {
					t.Errorf("%+v", s)
				}
				if _, err := read(t, bytes.Replace(signed, []byte(`ody"`), []byte(`ody" x="1"`), 1)).Verify(nil, pinned); wssec.ReasonOf(err) != wssec.Unauthenticated {
					t.Errorf("changed: %v", err)
				}
			})
		}
	}
}

// ours are messages that we sign, in the spellings of the envelopes.
func ours(t *testing.T, style string, signer identity, method string) []byte {
	t.Helper()
	e := read(t, envelope(style, ""))
	var body *etree.Element
	if children := e.Body.ChildElements(); len(children) > 0 {
		body = children[0]
	}
	m := e.Messaging.Copy()
	for _, a := range declarations(e.Messaging.Parent()) { // in scope of the copy too
		if infoset.Namespace(m, a.Key) == "" && a.Space == "xmlns" {
			m.CreateAttr("xmlns:"+a.Key, a.Value)
		} else if a.Space == "" && infoset.Namespace(m, "") == "" {
			m.CreateAttr("xmlns", a.Value)
		}
	}
	signing := signer.signing()
	signing.Method = method
	s, err := wssec.Outgoing{Messaging: m, Body: body}.Secure(signing, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s.SOAP
}

// declarations are the namespaces in scope at an element.
func declarations(e *etree.Element) (all []etree.Attr) {
	for ; e != nil; e = e.Parent() {
		for _, a := range e.Attr {
			if a.Space == "xmlns" || a.Space == "" && a.Key == "xmlns" {
				all = append(all, a)
			}
		}
	}
	return all
}

func TestWhatOthersVerify(t *testing.T) {
	methods := []struct{ kind, method string }{
		{"rsa", wssec.RSASHA256}, {"rsa", wssec.RSASHA384}, {"rsa", wssec.RSASHA512},
		{"p256", wssec.ECDSASHA256}, {"p384", wssec.ECDSASHA384}, {"p521", wssec.ECDSASHA512},
	}
	i := 0
	for style := range envelopes {
		for range 2 {
			m := methods[i%len(methods)]
			i++
			t.Run(style+" "+m.method[strings.LastIndexByte(m.method, '#')+1:], func(t *testing.T) {
				signer := of(t, "signer", m.kind)
				_, certificate := signer.files(t)
				message := ours(t, style, signer, m.method)
				forged := bytes.Replace(message, []byte(`"body"`), []byte(`"body" x="1"`), 1)
				if _, err := xmlsec1(t, message, "--verify", "--pubkey-cert-pem", certificate); err != nil {
					t.Errorf("xmlsec1: %v\n%s", err, message)
				}
				if _, err := xmlsec1(t, forged, "--verify", "--pubkey-cert-pem", certificate); err == nil {
					t.Error("xmlsec1 verifies what was changed")
				}
				if i%2 != 0 || style == "unicode" {
					return // a process of a second; and names that it does not take
				}
				if out, err := program(t, message, python, "testdata/with_signxml.py", "verify", certificate); err != nil || string(out) != "2\n" {
					t.Errorf("signxml: %v, %s\n%s", err, out, message)
				}
			})
		}
	}
}

func TestWhatSignxmlSigns(t *testing.T) {
	i := 0
	for style := range envelopes {
		m := []struct{ kind, method string }{{"rsa", "RSA_SHA256"}, {"p256", "ECDSA_SHA256"}, {"rsa", "SHA256_RSA_MGF1"}, {"p384", "ECDSA_SHA384"}, {"rsa", "RSA_SHA512"}}[i%5]
		i++
		t.Run(style+" "+m.method, func(t *testing.T) {
			signer := of(t, "signer", m.kind)
			key, certificate := signer.files(t)
			signed, err := program(t, ascii(envelope(style, "")), python, "testdata/with_signxml.py", "sign", key, certificate, m.method)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := read(t, signed).Verify(nil, wssec.Verification{Signer: wssec.Pinned(signer.certificate)}); err != nil {
				t.Errorf("%v\n%s", err, signed)
			}
		})
	}
}
