package targets

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Secrets are what a configuration only names. Each stands in a file of its own or in
// the environment of the process that uses it, and never in the database.
type Secrets struct {
	Dir string                      // folder with a file for each; "" is none
	Env func(string) (string, bool) // of EDIGW_SECRET_…
}

// ErrNoSecret: this process does not have it.
var ErrNoSecret = errors.New("there is no such secret in this process")

// maxSecret bounds what is read of a file.
const maxSecret = 16 << 10 // a private key of 8192 bits in PEM is 6 KiB

// Secret gives the one of that name, which must be of letters, digits, dots, hyphens
// and underscores; line ends behind it are none of it. A file is read each time, so that
// it can be replaced while the gateway runs.
func (s *Secrets) Secret(name string) (string, error) {
	variable := "EDIGW_SECRET_" + strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(name))
	if s.Dir != "" && filepath.IsLocal(name) && !strings.ContainsAny(name, `/\`) {
		text, err := readSecret(filepath.Join(s.Dir, name))
		if err == nil {
			return text, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("secret %s: %w", name, err)
		}
	}
	if v, ok := s.Env(variable); ok && v != "" {
		return v, nil
	}
	where := "set --secrets-dir and put it into a file of that name there"
	if s.Dir != "" {
		where = "put it into " + filepath.Join(s.Dir, name)
	}
	return "", fmt.Errorf("secret %s: %w: %s, or set %s", name, ErrNoSecret, where, variable)
}

func readSecret(path string) (string, error) {
	st, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !st.Mode().IsRegular() || st.Size() > maxSecret {
		return "", fmt.Errorf("%s is no file of at most %d bytes", path, maxSecret)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	s := strings.TrimRight(string(text), "\r\n")
	if s == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	return s, nil
}

// secretPrefix stands before the Base64 of a webhook's secret (Standard Webhooks 1.0.0).
const secretPrefix = "whsec_"

// NewWebhookSecret makes one of 256 bits, as text.
func NewWebhookSecret() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails: crypto/rand ends the process first
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

// webhookKey gives the bytes of a webhook's secret: 24 to 64 of them.
func webhookKey(name, text string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(text, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(key) < 24 || len(key) > 64 {
		return nil, fmt.Errorf("secret %s must be %s and the Base64 of 24 to 64 bytes; `edigw subscriptions secret` makes one", name, secretPrefix)
	}
	return key, nil
}
