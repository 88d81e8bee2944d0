package cms_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/edigw/edigw/cms"
)

// identity is a key with a certificate of its own issue, as files for openssl too.
type identity struct {
	name        string
	key         crypto.Signer
	certificate *cms.Certificate
	keyFile     string
	file        string // of the certificate
}

// rsaKeys are made once: making them is slow.
var rsaKeys = sync.OnceValue(func() (list [2]*rsa.PrivateKey) {
	for i := range list {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			panic(err)
		}
		list[i] = key
	}
	return list
})

// newIdentity makes the certificate of a key.
func newIdentity(t testing.TB, name string, key crypto.Signer) *identity {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes([]byte(name)),
		Subject:      pkix.Name{CommonName: name, Organization: []string{"Muster & Söhne, GmbH"}},
		NotBefore:    time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:     time.Date(2049, 1, 1, 0, 0, 0, 0, time.UTC),
		SubjectKeyId: []byte(name + " key identifier"),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	id := &identity{name: name, key: key}
	if id.certificate, err = cms.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	id.file = write(t, dir, "certificate.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	id.keyFile = write(t, dir, "key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	return id
}

func newEC(t testing.TB, name string, curve elliptic.Curve) *identity {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return newIdentity(t, name, key)
}

func write(t testing.TB, dir, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// openssl runs `openssl cms`, and gives what it writes to its standard output.
func openssl(t testing.TB, args ...string) []byte {
	t.Helper()
	out, err := tryOpenssl(args...)
	if err != nil {
		t.Fatalf("openssl cms %q: %v (apt-get install openssl if it is missing)\n%s", args, err, out)
	}
	return out
}

func tryOpenssl(args ...string) ([]byte, error) {
	cmd := exec.Command("openssl", append([]string{"cms"}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stderr.Bytes(), err
	}
	return stdout.Bytes(), nil
}

// message is content as AS2 signs it: bytes that a text mode would change.
var message = []byte("Content-Type: application/EDIFACT\r\n\r\nUNB+UNOC:3+A+B+261130:1000+1'\nUNZ+0+1'\r\n\x00\xff\x1a")
