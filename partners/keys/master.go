package keys

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Master seals private keys at rest. The first key seals; the others only open
// what was sealed before it took over.
type Master struct {
	keys []masterKey
}

type masterKey struct {
	id   [8]byte
	aead cipher.AEAD
}

// ErrNoMaster is wrapped where a key cannot be sealed or opened for want of its
// master key.
var ErrNoMaster = errors.New("the master key is missing")

// ParseMaster reads the master key, and those before it: 32 random bytes each, in
// base64 or as 64 hex digits. An empty current one gives a Master that can
// neither seal nor open.
func ParseMaster(current string, former ...string) (*Master, error) {
	m := &Master{}
	if strings.TrimSpace(current) == "" {
		if len(former) > 0 {
			return nil, errors.New("former master keys are given, and no present one")
		}
		return m, nil
	}
	for i, text := range append([]string{current}, former...) {
		k, err := parseMasterKey(strings.TrimSpace(text))
		if err != nil {
			if i > 0 {
				return nil, fmt.Errorf("former master key %d %w", i, err)
			}
			return nil, fmt.Errorf("the master key %w", err)
		}
		if slices.ContainsFunc(m.keys, func(o masterKey) bool { return o.id == k.id }) {
			return nil, errors.New("one master key is given twice")
		}
		m.keys = append(m.keys, k)
	}
	return m, nil
}

// parseMasterKey never tells what it was given.
func parseMasterKey(text string) (masterKey, error) {
	key, err := hex.DecodeString(text)
	if err != nil || len(key) != 32 {
		key, err = base64.StdEncoding.DecodeString(text)
	}
	if err != nil || len(key) != 32 {
		return masterKey{}, errors.New("must be 32 bytes in base64 or as 64 hex digits: make one with `openssl rand -base64 32`")
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return masterKey{}, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return masterKey{}, err
	}
	sum := sha256.Sum256(append([]byte("edigw master key id\x00"), key...))
	return masterKey{id: [8]byte(sum[:8]), aead: aead}, nil
}

// seal encrypts under the present master key. bound is what the ciphertext belongs
// to: it opens under nothing else, so that rows cannot be swapped.
func (m *Master) seal(plain, bound []byte) (sealed, under []byte, err error) {
	if len(m.keys) == 0 {
		return nil, nil, fmt.Errorf("%w: give --master-key, EDIGW_MASTER_KEY or EDIGW_MASTER_KEY_FILE; `openssl rand -base64 32` makes one", ErrNoMaster)
	}
	k := m.keys[0]
	nonce := make([]byte, k.aead.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return nil, nil, fmt.Errorf("seal: %w", err)
	}
	return k.aead.Seal(nonce, nonce, plain, bound), k.id[:], nil
}

// open decrypts what seal made, under the master key it was made under.
func (m *Master) open(sealed, under, bound []byte) ([]byte, error) {
	i := slices.IndexFunc(m.keys, func(k masterKey) bool { return string(k.id[:]) == string(under) })
	if i < 0 {
		return nil, fmt.Errorf("%w: it is sealed under master key %x, and given are %s", ErrNoMaster, under, m.ids())
	}
	k := m.keys[i]
	if len(sealed) < k.aead.NonceSize() {
		return nil, errors.New("the sealed key is cut short")
	}
	plain, err := k.aead.Open(nil, sealed[:k.aead.NonceSize()], sealed[k.aead.NonceSize():], bound)
	if err != nil {
		return nil, errors.New("the sealed key was changed, or is another row's")
	}
	return plain, nil
}

// has reports whether under names one of the keys.
func (m *Master) has(under []byte) bool {
	return slices.ContainsFunc(m.keys, func(k masterKey) bool { return string(k.id[:]) == string(under) })
}

// present reports whether under names the key that seals now.
func (m *Master) present(under []byte) bool {
	return len(m.keys) > 0 && string(m.keys[0].id[:]) == string(under)
}

func (m *Master) ids() string {
	if len(m.keys) == 0 {
		return "none"
	}
	var ids []string
	for _, k := range m.keys {
		ids = append(ids, hex.EncodeToString(k.id[:]))
	}
	return strings.Join(ids, ", ")
}
