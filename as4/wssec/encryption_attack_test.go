package wssec_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/edigw/edigw/as4/wssec"
)

func TestEncryptionAttacks(t *testing.T) {
	signer, recipient := of(t, "signer", "p256"), of(t, "recipient", "rsa")
	sent := secure(t, parts()[:2], signer.signing(), &wssec.Encrypting{Recipient: recipient.certificate})
	agreed := of(t, "recipient", "x25519")
	byAgreement := secure(t, parts()[:2], signer.signing(), &wssec.Encrypting{Recipient: agreed.certificate})
	soap := string(sent.SOAP)
	key := cut(t, soap, "<xenc:EncryptedKey", "</xenc:EncryptedKey>")
	data := cut(t, soap, "<xenc:EncryptedData", "</xenc:EncryptedData>")
	value := cut(t, soap, "<xenc:CipherValue>", "</xenc:CipherValue>")
	const same = "the message cannot be decrypted with any key of ours"
	flip := func(at int) func([]wssec.Part) []wssec.Part {
		return func(p []wssec.Part) []wssec.Part {
			b := content(t, p[0])
			b[(at+len(b))%len(b)] ^= 1
			p[0] = part(p[0].ContentID, p[0].MimeType, b)
			return p
		}
	}
	keys := []wssec.DecryptionKey{recipient.decryption(), agreed.decryption()}
	for _, c := range []struct {
		attack
		sent *wssec.Secured
		keys []wssec.DecryptionKey
	}{
		{attack{what: "the nonce is changed", parts: flip(0), reason: wssec.Undecryptable, want: same}, sent, keys},
		{attack{what: "the ciphertext is changed", parts: flip(50), reason: wssec.Undecryptable, want: same}, sent, keys},
		{attack{what: "the tag is changed", parts: flip(-1), reason: wssec.Undecryptable, want: same}, sent, keys},
		{attack{what: "the ciphertext is cut", parts: func(p []wssec.Part) []wssec.Part { p[0] = part(p[0].ContentID, "", content(t, p[0])[:100]); return p }, reason: wssec.Undecryptable, want: same}, sent, keys},
		{attack{what: "the part is empty", parts: func(p []wssec.Part) []wssec.Part { p[0] = part(p[0].ContentID, "", nil); return p }, reason: wssec.Undecryptable, want: same}, sent, keys},
		{attack{what: "the wrapped key is changed", soap: swap(t, value, "<xenc:CipherValue>"+base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 256))+"</xenc:CipherValue>"), reason: wssec.Undecryptable, want: same}, sent, keys},
		{attack{what: "the wrapped key is cut", soap: swap(t, value, "<xenc:CipherValue>AAAA</xenc:CipherValue>"), reason: wssec.Undecryptable, want: same}, sent, keys},
		{attack{what: "the agreed key wraps another", soap: swap(t, cut(t, string(byAgreement.SOAP), "<xenc:CipherValue>", "</xenc:CipherValue>"), "<xenc:CipherValue>"+base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 24))+"</xenc:CipherValue>"), reason: wssec.Undecryptable, want: same}, byAgreement, keys},
		{attack{what: "we have no key at all", reason: wssec.Undecryptable, want: same}, sent, nil},
		{attack{what: "we have another key", reason: wssec.Undecryptable, want: same}, sent, []wssec.DecryptionKey{agreed.decryption(), of(t, "another", "rsa").decryption()}},
		{attack{what: "the data has another key length", soap: swap(t, wssec.AES128GCM, wssec.AES256GCM), reason: wssec.Undecryptable, want: same}, sent, keys},

		{attack{what: "the key is encrypted as Bleichenbacher likes it", soap: swap(t, wssec.RSAOAEP, "http://www.w3.org/2001/04/xmlenc#rsa-1_5"), reason: wssec.NonCompliant, want: `the key encryption "http://www.w3.org/2001/04/xmlenc#rsa-1_5" is not allowed; use http://www.w3.org/2009/xmlenc11#rsa-oaep`}, sent, keys},
		{attack{what: "the data is encrypted without integrity", soap: swap(t, wssec.AES128GCM, "http://www.w3.org/2001/04/xmlenc#aes128-cbc"), reason: wssec.NonCompliant, want: `aes128-cbc" is not allowed; use http://www.w3.org/2009/xmlenc11#aes128-gcm`}, sent, keys},
		{attack{what: "a mask generation function that is none", soap: swap(t, "mgf1sha256", "mgf1md5"), reason: wssec.NonCompliant, want: "the mask generation function"}, sent, keys},
		{attack{what: "a derivation that is none", soap: swap(t, "xmldsig-more#hkdf", "xmldsig-more#pbkdf2"), reason: wssec.NonCompliant, want: "the key derivation"}, byAgreement, keys},
		{attack{what: "an originator's key that is none", soap: func(s string) string {
			return swap(t, cut(t, s, "<dsig11:DEREncodedKeyValue", "</dsig11:DEREncodedKeyValue>"), `<dsig11:DEREncodedKeyValue xmlns:dsig11="`+wssec.DSIG11+`">AAAA</dsig11:DEREncodedKeyValue>`)(s)
		}, reason: wssec.NonCompliant, want: "the originator's key cannot be used: "}, byAgreement, keys},
		{attack{what: "an originator's key of small order", soap: func(s string) string {
			der := append([]byte{0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x6e, 0x03, 0x21, 0x00}, make([]byte, 32)...)
			return swap(t, cut(t, s, "<dsig11:DEREncodedKeyValue", "</dsig11:DEREncodedKeyValue>"), `<dsig11:DEREncodedKeyValue xmlns:dsig11="`+wssec.DSIG11+`">`+base64.StdEncoding.EncodeToString(der)+`</dsig11:DEREncodedKeyValue>`)(s)
		}, reason: wssec.Undecryptable, want: same}, byAgreement, keys},
		{attack{what: "a part is not encrypted", parts: func(p []wssec.Part) []wssec.Part { return append(p, part("plain", "", nil)) }, reason: wssec.NonCompliant, want: `the part "plain" is not encrypted`}, sent, keys},
		{attack{what: "nothing is encrypted", soap: func(s string) string {
			for strings.Contains(s, "<xenc:EncryptedData") {
				s = strings.Replace(s, cut(t, s, "<xenc:EncryptedData", "</xenc:EncryptedData>"), "", 1)
			}
			return s
		}, reason: wssec.NonCompliant, want: `the part "gzip@example" is not encrypted`}, sent, keys},
		{attack{what: "one part is named twice", soap: swap(t, data, data+strings.ReplaceAll(data, "part-1", "part-9")), reason: wssec.Malformed, want: `two xenc:EncryptedData name the part "gzip@example"`}, sent, keys},
		{attack{what: "a part that is none", soap: swap(t, `CipherReference URI="cid:gzip`, `CipherReference URI="cid:none`), reason: wssec.Malformed, want: `names "cid:none@example", which is no part of the message`}, sent, keys},
		{attack{what: "something on the net", soap: swap(t, `CipherReference URI="cid:gzip@example"`, `CipherReference URI="http://example.org/"`), reason: wssec.Malformed, want: `names "http://example.org/", which is no part`}, sent, keys},
		{attack{what: "the Body is encrypted", soap: swap(t, `wsu:Id="body">`, `wsu:Id="body"><xenc:EncryptedData xmlns:xenc="`+wssec.XENC+`"/>`), reason: wssec.NonCompliant, want: "xenc:EncryptedData stands within S12:Body: only parts may be encrypted"}, sent, keys},
		{attack{what: "a part with its MIME header", soap: swap(t, "Attachment-Content-Only", "Attachment-Complete"), reason: wssec.NonCompliant, want: "Attachment-Complete\", only "}, sent, keys},
		{attack{what: "another transform", soap: swap(t, "Attachment-Ciphertext-Transform", "Attachment-Content-Signature-Transform"), reason: wssec.Malformed, want: "the CipherReference has the transform"}, sent, keys},
		{attack{what: "the key is in the data", soap: swap(t, `<xenc:CipherReference URI="cid:gzip@example">`+cut(t, data, "<xenc:Transforms>", "</xenc:Transforms>")+"</xenc:CipherReference>", value), reason: wssec.Malformed, want: "xenc:CipherData holds no element"}, sent, keys},
		{attack{what: "the key is nowhere", soap: swap(t, `Reference URI="#key"`, `Reference URI="#nokey"`), reason: wssec.Malformed, want: `"#nokey", which is no xenc:EncryptedKey of the Security header`}, sent, keys},
		{attack{what: "the key is outside of the Security header", soap: func(s string) string {
			declared := strings.Replace(key, "<xenc:EncryptedKey", `<xenc:EncryptedKey xmlns:wsse="`+wssec.WSSE+`"`, 1)
			return swap(t, "</wsse:Security>", "</wsse:Security>"+declared)(swap(t, key, "")(s))
		}, reason: wssec.Malformed, want: `"#key", which is no xenc:EncryptedKey of the Security header`}, sent, keys},
		{attack{what: "the key is twice", soap: swap(t, key, key+key), reason: wssec.Malformed, want: `the id "key" stands at`}, sent, keys},
	} {
		t.Run(c.what, func(t *testing.T) {
			text, parts := string(c.sent.SOAP), wire(t, c.sent.Parts)
			if c.soap != nil {
				text = c.soap(text)
			}
			if c.parts != nil {
				parts = c.parts(parts)
			}
			e, err := wssec.Read([]byte(text))
			if err == nil {
				_, err = e.Decrypt(parts, wssec.Decryption{Keys: c.keys, Required: true})
			}
			if wssec.ReasonOf(err) != c.reason || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got  %v: %v\nwant %v: … %s …", wssec.ReasonOf(err), err, c.reason, c.want)
			}
			if f, ok := errors.AsType[*wssec.Fault](err); c.reason == wssec.Undecryptable && (!ok || f.Detail != same) {
				t.Errorf("the partner is told %+v", f)
			}
		})
	}
	t.Run("parts that are exchanged decrypt under one key, and the signature tells", func(t *testing.T) {
		parts := wire(t, sent.Parts)
		parts[0].Open, parts[1].Open = parts[1].Open, parts[0].Open
		e := read(t, sent.SOAP)
		plain, err := e.Decrypt(parts, wssec.Decryption{Keys: keys})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Verify(plain, wssec.Verification{Signer: wssec.Pinned(signer.certificate)}); wssec.ReasonOf(err) != wssec.Unauthenticated {
			t.Error(err)
		}
	})
	t.Run("what is not decrypted does not verify", func(t *testing.T) {
		if _, err := read(t, sent.SOAP).Verify(wire(t, sent.Parts), wssec.Verification{Signer: wssec.Pinned(signer.certificate)}); wssec.ReasonOf(err) != wssec.Unauthenticated {
			t.Error(err)
		}
	})
	t.Run("a thousand keys cost no thousand decryptions", func(t *testing.T) {
		more, named := "", wire(t, sent.Parts)
		for _, n := range strings.Split("abcdefgh", "") {
			more += strings.Replace(key, `Id="key"`, `Id="key-`+n+`"`, 1)
			more += strings.NewReplacer("#key", "#key-"+n, "part-1", "more-"+n, "gzip@example", n).Replace(data)
			named = append(named, part(n, "", nil))
		}
		e := read(t, []byte(swap(t, "</wsse:Security>", more+"</wsse:Security>")(soap)))
		if _, err := e.Decrypt(named, wssec.Decryption{Keys: keys}); wssec.ReasonOf(err) != wssec.NonCompliant || !strings.Contains(err.Error(), "more than 8 encrypted keys") {
			t.Error(err)
		}
	})
}
