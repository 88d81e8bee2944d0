package wssec_test

import (
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/edigw/edigw/as4/wssec"
)

// stream is a part of n bytes that are made as they are read.
func stream(id, mimeType, line string, n int) wssec.Part {
	return wssec.Part{ContentID: id, MimeType: mimeType, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.LimitReader(&again{line: line}, int64(n))), nil
	}}
}

// again reads a line again and again.
type again struct {
	line string
	at   int
}

func (a *again) Read(p []byte) (int, error) {
	n := copy(p, a.line[a.at:])
	a.at = (a.at + n) % len(a.line)
	return n, nil
}

// TestPartsAreStreamed: what is allocated in all, for signing, encrypting, decrypting
// and verifying, is a small part of what goes through.
func TestPartsAreStreamed(t *testing.T) {
	const size, most = 16 << 20, 2 << 20
	const element = "<b c='d'>e &amp; f</b>\r\n<g/>\r\n"
	line := strings.Repeat("UNB+UNOC:3+SENDER+RECEIVER+260101:1200+1'\r\n", 1<<10)
	signer, recipient := of(t, "signer", "p256"), of(t, "recipient", "p256")
	for _, c := range []struct {
		what       string
		part       wssec.Part
		encrypting *wssec.Encrypting
	}{
		{"bytes", stream("a@b", "application/gzip", line, size), nil},
		{"bytes, encrypted", stream("a@b", "application/gzip", line, size), &wssec.Encrypting{Recipient: recipient.certificate}},
		{"text", stream("a@b", "text/plain", line, size), nil},
		{"XML", wssec.Part{ContentID: "a@b", MimeType: "text/xml", Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader("<a>"), io.LimitReader(&again{line: element}, int64(size/len(element)*len(element))), strings.NewReader("</a>"))), nil
		}}, nil},
	} {
		t.Run(c.what, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			sent := secure(t, []wssec.Part{c.part}, signer.signing(), c.encrypting)
			e := read(t, sent.SOAP)
			parts := sent.Parts
			if c.encrypting != nil {
				var err error
				if parts, err = e.Decrypt(parts, wssec.Decryption{Keys: []wssec.DecryptionKey{recipient.decryption()}, Required: true}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := e.Verify(parts, wssec.Verification{Signer: wssec.Pinned(signer.certificate)}); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			if spent := after.TotalAlloc - before.TotalAlloc; spent > most {
				t.Errorf("%d bytes were allocated for a part of %d", spent, size)
			}
		})
	}
}
