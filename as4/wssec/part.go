package wssec

import "io"

// Part is one payload part of a message, beside its SOAP part.
type Part struct {
	ContentID string // without the angle brackets: RFC 2392
	MimeType  string // of its Content-Type; after decryption of EncryptedData/@MimeType. Nobody signs either

	// SignedType is the type that the signed header gives the part: application/gzip for
	// one that is compressed, else its property MimeType; "" if it gives none. Without it,
	// who changes MimeType on the way chooses what a digest overlooks: line ends of text,
	// comments of XML (SwA profile 1.1 §5.4.2 against the type of another).
	SignedType string

	// Open reads its bytes without transfer encoding. It is called several times, at
	// different moments, and has to give the same bytes each time. After decryption it
	// gives the plaintext; nothing is opened before its tag was verified.
	Open func() (io.ReadCloser, error)

	Encrypted bool // it arrived, or goes out, encrypted

	// Canonical tells, after Verify, that Open gives the canonical form that was digested,
	// and no longer the bytes that came: nobody signed what those had beside it.
	Canonical bool

	cbc bool // it was decrypted by AES-CBC
}
