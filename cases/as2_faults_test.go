package cases_test

import (
	"bytes"
	"crypto"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/edigw/edigw/as2"
	"github.com/edigw/edigw/cms"
)

// TestAS2Faults sends what fails before it is received, under a name that is known. Each
// is told by its disposition, in an MDN that is signed as it was asked for; journalled
// with its bytes; makes no key; and the message as it should have come is then First.
func TestAS2Faults(t *testing.T) {
	t.Parallel()
	talquist, other := newSigner(t, "talquist"), newSigner(t, "somebody else")
	good := invoic("1", "R-1", "100.00")
	sound := talquist.signed(good)
	encrypted := func(to *cms.Envelope) as2.Composed {
		return talquist.wrap(as2.Wrapping{Signature: talquist.signature(), Envelope: to}, good)
	}
	bySHA1 := talquist.signature()
	bySHA1.Hash = crypto.SHA1
	cut := func(c as2.Composed) as2.Composed {
		c.Body = c.Body[:len(c.Body)-len(c.Body)/3]
		return c
	}
	const asks = "signed-receipt-protocol=required, pkcs7-signature; signed-receipt-micalg=required, sha-256"
	for _, c := range []struct {
		name, settings string // of as2, beside the name
		c              as2.Composed
		options        string // of the MDN; "" is asks
		fields         string
		want, reason   string
	}{
		{name: "it is changed on its way", c: broken(sound), want: "processed/error: integrity-check-failed", reason: "integrity-check-failed"},
		{name: "it is signed by somebody else", c: other.signed(good), want: "processed/error: authentication-failed", reason: "authentication-failed"},
		{name: "it is not signed, and has to be", c: as2.Composed{ContentType: "application/EDIFACT", Body: []byte(good)}, want: "processed/error: insufficient-message-security", reason: "insufficient-message-security"},
		{name: "it is not encrypted, and has to be", settings: "encryption: required", c: sound, want: "processed/error: insufficient-message-security", reason: "insufficient-message-security"},
		{name: "it is signed by SHA-1, which is not agreed", settings: "old_algorithms: []", c: talquist.wrap(as2.Wrapping{Signature: bySHA1}, good), want: "processed/error: insufficient-message-security", reason: "insufficient-message-security"},
		{name: "it is encrypted by 3DES, which is not agreed", settings: "old_algorithms: []", c: encrypted(&cms.Envelope{Recipients: toUs(t).Recipients, Encryption: cms.TripleDES}), want: "processed/error: insufficient-message-security", reason: "insufficient-message-security"},
		{name: "it is encrypted to somebody else", c: encrypted(&cms.Envelope{Recipients: []*cms.Certificate{other.cms()}}), want: "processed/error: decryption-failed", reason: "decryption-failed"},
		{name: "its encryption is cut off", c: cut(encrypted(toUs(t))), want: "processed/error: decryption-failed", reason: "decryption-failed"},
		{name: "its compression is cut off", c: cut(talquist.wrap(as2.Wrapping{Compress: true}, good)), want: "processed/error: decompression-failed", reason: "decompression-failed"},
		{name: "it is no MIME", c: as2.Composed{ContentType: "multipart/signed; boundary=b", Body: []byte(good)}, want: "processed/error: unexpected-processing-error", reason: "unexpected-processing-error"},
		{name: "nothing is signed in it", c: talquist.signed(""), want: "processed/error: unexpected-processing-error", reason: "empty"},
		{name: "a check by an algorithm that nobody knows is required", c: sound, options: "signed-receipt-protocol=required, pkcs7-signature; signed-receipt-micalg=required, tiger, whirlpool",
			want: "failed/failure: unsupported mic-algorithms", reason: "unsupported-mic-algorithms"},
		{name: "an MDN signed by what nobody knows is required", c: sound, options: "signed-receipt-protocol=required, pgp-signature", want: "failed/failure: unsupported format", reason: "unsupported-format"},
		{name: "the sender is the receiver", c: sound, fields: "AS2-To: TALQUIST-AS2\r\n", want: "failed/failure: sender-equals-receiver", reason: "sender-equals-receiver"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var more []string
			if c.settings != "" {
				more = []string{c.settings}
			}
			r := newRig(t, talquist.settings(more...))
			r.apply("kind: Organisation\nid: nordhafen\nas2: {names: [NORDHAFEN-AS2, TALQUIST-AS2]}\nidentifiers: [{qualifier: \"14\", id: \"9520002000019\"}]\n")
			options := c.options
			if options == "" {
				options = asks
			}
			how := "signed"
			if c.reason == "unsupported-format" { // it cannot be signed as is asked for
				how = "unsigned"
			}
			fields := asksMDN + "Disposition-Notification-Options: " + options + "\r\n"
			send := func() *mdn {
				text := posting("TALQUIST-AS2", "m-1", fields, c.c)
				if c.fields != "" {
					text = bytes.Replace(text, []byte("AS2-To: NORDHAFEN-AS2\r\n"), []byte(c.fields), 1)
				}
				return r.rawBytes(text)
			}
			for n := 1; n <= 2; n++ {
				m := send()
				r.told(m, fmt.Sprintf("200 %s %s", how, c.want), "")
				if m.says.Original != "<m-1@talquist.example>" || len(m.says.Errors) != 1 || !strings.HasSuffix(m.says.Errors[0], ".") {
					t.Errorf("it is for %s, and says %q", m.says.Original, m.says.Errors)
				}
				rows := r.deliveries(10)
				if len(rows) != n || rows[0].Outcome != c.reason || rows[0].Payload == nil || rows[0].Bytes != int64(len(c.c.Body)) {
					t.Fatalf("%d lines in the journal, the last %+v", len(rows), rows[0])
				}
			}
			kept := r.tables()
			for _, table := range []string{"inbox", "variant", "document", "document_key", "outbox", "acknowledgement", "effect", "drift_alert"} {
				if kept[table] != 0 {
					t.Errorf("%d rows in %s", kept[table], table)
				}
			}
			right := sound
			if c.settings == "encryption: required" {
				right = encrypted(toUs(t))
			}
			r.told(r.composed("m-1", asksSigned, right), asSigned, "")
			if r.rows() != "T1 I1b" {
				t.Errorf("the message as it should have come is judged by %s", r.rows())
			}
			r.postedOnce("R-1")
		})
	}
}

// TestAS2NoMessages sends requests that can have no MDN: one status and a sentence, and
// nothing is kept.
func TestAS2NoMessages(t *testing.T) {
	t.Parallel()
	r := newRig(t, unsignedAS2)
	r.as2.Limits = as2.Limits{MaxBody: 2000, MaxOpened: 1000}
	good := invoic("1", "R-1", "100.00")
	post := func(head, body string) *mdn {
		return r.rawBytes(fmt.Appendf(nil, "POST /as2 HTTP/1.1\r\nHost: gw\r\nMessage-ID: <m-1@talquist.example>\r\n%s%sContent-Length: %d\r\n\r\n%s", asksMDN, head, len(body), body))
	}
	const names = "AS2-From: TALQUIST-AS2\r\nAS2-To: NORDHAFEN-AS2\r\n"
	for _, c := range []struct {
		name, head, body string
		status           int
		says             string
	}{
		{"larger than is taken", names, strings.Repeat("x", 2001), http.StatusRequestEntityTooLarge, "2000 bytes"},
		{"larger than is opened", names + "Content-Type: application/pkcs7-mime\r\n", strings.Repeat("x", 1001), http.StatusRequestEntityTooLarge, "1000 bytes"},
		{"in a coding of HTTP", names + "Content-Encoding: gzip\r\n", good, http.StatusUnsupportedMediaType, "RFC 5402"},
		{"without names", "", good, http.StatusBadRequest, "RFC 4130"},
		{"without its own name", "AS2-To: NORDHAFEN-AS2\r\n", good, http.StatusBadRequest, "RFC 4130"},
		{"with a name that is none", "AS2-From: \"\"\r\nAS2-To: NORDHAFEN-AS2\r\n", good, http.StatusBadRequest, "1 to 128"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := post(c.head, c.body)
			if m.status != c.status || m.says != nil || !strings.Contains(string(m.body), c.says) {
				t.Errorf("told %s", m)
			}
			r.empty(c.name)
		})
	}
	t.Run("larger than is taken, in chunks, of which nobody told the length", func(t *testing.T) {
		l := r.dial()
		l.head("m-1", "Transfer-Encoding: chunked")
		l.send("%x\r\n%s\r\n", 2001, strings.Repeat("x", 2001))
		if m := l.answer(); m.status != http.StatusRequestEntityTooLarge || m.says != nil {
			t.Errorf("told %s", m)
		}
		r.empty("in chunks")
	})
	r.as2.Limits = as2.Limits{}
	r.brings("m-1", good, "T1 I1b", positive)
}
