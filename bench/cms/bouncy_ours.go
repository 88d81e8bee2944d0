package main

import (
	"crypto"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/edigw/edigw/cms"
)

// make makes what they are to open: it gives by file what it is, for people.
func (b *bouncy) make() (ours map[string]string, err error) {
	ours = map[string]string{}
	var list strings.Builder
	add := func(kind cms.Kind, who, what string, text []byte, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		file := fmt.Sprintf("ours%d", len(ours))
		ours[file] = string(kind) + ", " + what
		fmt.Fprintf(&list, "%s\t%s\t%s\n", kind, who, file)
		return os.WriteFile(filepath.Join(b.dir, file), text, 0o600)
	}
	for _, who := range []string{"rsa", "p256", "p384", "ed25519"} {
		for _, hash := range []crypto.Hash{crypto.SHA1, crypto.SHA256, crypto.SHA384, crypto.SHA512} {
			for _, pss := range []bool{false, true} {
				if pss && who != "rsa" || who == "ed25519" && hash != crypto.SHA512 {
					continue
				}
				for i := range 8 {
					s := cms.Signature{Key: b.keys[who].Private.(crypto.Signer), Certificate: b.keys[who].Certificate, Hash: hash, PSS: pss,
						NoAttributes: i&1 == 1, KeyIdentifier: i&2 == 2}
					what := fmt.Sprintf("%s with %s, pss %v, no attributes %v, key identifier %v, attached %v", who, hash, pss, s.NoAttributes, s.KeyIdentifier, i&4 == 4)
					text, err := s.Sign(cms.InMemory(b.content))
					if i&4 == 4 {
						text, err = s.SignAttached(b.content)
					}
					if err := add(cms.SignedData, who, what, text, err); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	for _, encryption := range cms.Encryptions {
		for _, who := range []string{"rsa", "p256", "p384"} {
			for _, hash := range []crypto.Hash{0, crypto.SHA1, crypto.SHA256, crypto.SHA512} {
				for _, keyID := range []bool{false, true} {
					e := cms.Envelope{Recipients: []*cms.Certificate{b.keys[who].Certificate}, Encryption: encryption, OAEP: hash, KDF: hash, KeyIdentifier: keyID}
					text, err := e.Encrypt(b.content)
					what := fmt.Sprintf("%s to %s, hash %s, key identifier %v", encryption, who, hash, keyID)
					if err := add(cms.KindOf(text), who, what, text, err); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	text, err := cms.Compress(b.content)
	if err := add(cms.CompressedData, "", "zlib", text, err); err != nil {
		return nil, err
	}
	return ours, os.WriteFile(filepath.Join(b.dir, "ours"), []byte(list.String()), 0o600)
}
