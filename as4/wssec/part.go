package wssec

import "io"

// Part is one payload part of a message, beside its SOAP part.
type Part struct {
	ContentID string // without the angle brackets: RFC 2392
	MimeType  string // of its Content-Type; after decryption of EncryptedData/@MimeType

	// Open reads its bytes without transfer encoding. It is called several times, at
	// different moments, and has to give the same bytes each time. After decryption it
	// gives the plaintext; nothing is opened before its tag was verified.
	Open func() (io.ReadCloser, error)

	Encrypted bool // it arrived, or goes out, encrypted
}
