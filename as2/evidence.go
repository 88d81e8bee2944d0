package as2

import (
	"encoding/pem"
	"io"
	"slices"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/journal"
)

// without gives an entity behind its header without the payload's bytes, if those stand
// in it as they are, and where they belong: they are not kept twice.
func without(header, entity []byte, payload *edi.Payload) (*edi.Payload, []journal.Stretch) {
	inner, ok := payload.InMemory()
	// Both are slices of one memory where nothing was decoded; a search could find the
	// bytes at another place.
	at := cap(entity) - cap(inner)
	if !ok || len(inner) == 0 || at < 0 || at+len(inner) > len(entity) || &entity[at] != &inner[0] {
		return edi.Bytes(append(slices.Clip(header), entity...)), nil
	}
	rest := make([]byte, 0, len(header)+len(entity)-len(inner))
	rest = append(append(append(rest, header...), entity[:at]...), entity[at+len(inner):]...)
	return edi.Bytes(rest), []journal.Stretch{{At: int64(len(header) + at), Offset: 0, Length: int64(len(inner))}}
}

// certificatePEM is what a signature was verified with, for openssl: the partner's
// certificate, and where the signature is by another one of the same key that one.
func certificatePEM(m *Opened) []byte {
	var text []byte
	if m.Signer != nil && m.Signer.X509 != nil {
		text = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: m.Signer.X509.Raw})
	}
	if m.Shown != nil {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: m.Shown})...)
	}
	return text
}

// contentOf writes a payload to a hash, wherever it is.
func contentOf(p *edi.Payload) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.Copy(w, p.Reader(0, p.Size()))
		return err
	}
}
