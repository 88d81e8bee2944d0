package wssec

import (
	"crypto"
	"encoding/base64"
	"errors"
	"testing"

	"github.com/edigw/edigw/as4/c14n"
	"github.com/edigw/edigw/as4/infoset"
)

// UnwrapKey opens the first key of an envelope whose parts are not there.
func (e *Envelope) UnwrapKey(keys []DecryptionKey, length int) ([]byte, error) {
	if e.Security == nil {
		return nil, errors.New("there is no Security header")
	}
	found := infoset.Children(e.Security, xenc("EncryptedKey"))
	if len(found) == 0 {
		return nil, errors.New("there is no EncryptedKey")
	}
	w, err := e.parseKey(found[0])
	if err != nil {
		return nil, err
	}
	return w.key(keys, length)
}

// SignedInfo gives the canonical ds:SignedInfo of an envelope.
func SignedInfo(t *testing.T, soap string) []byte {
	t.Helper()
	e, err := Read([]byte(soap))
	if err != nil {
		t.Fatal(err)
	}
	signature, err := e.signature()
	if err != nil {
		t.Fatal(err)
	}
	info, err := infoset.Only(signature, ds("SignedInfo"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := canonical(info, c14n.Exclusive)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// SignValue signs message, with SHA-1 too.
func SignValue(t *testing.T, s *Signing, hash crypto.Hash, message []byte) string {
	t.Helper()
	method, err := s.method()
	if err != nil {
		t.Fatal(err)
	}
	if hash == crypto.SHA1 {
		method = rsaSHA1
	}
	value, err := s.value(method, message)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(value)
}
