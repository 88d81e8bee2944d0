package wssec

import (
	"errors"

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
