package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/edigw/edigw/cms"
)

// bouncy lets Bouncy Castle and us open what the other made, and prints what failed
// and how many there were.
type bouncy struct {
	dir, jars string
	content   []byte
	keys      map[string]cms.Key
}

// interop runs all combinations, and gives how many failed.
func interop(ctx context.Context, w io.Writer, peers string) (failed int, err error) {
	if err := command(ctx, "bench/cms/fetch", peers); err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "edigw-cms-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b := &bouncy{dir: dir, jars: filepath.Join(peers, "jars", "*"), keys: map[string]cms.Key{},
		content: []byte("Content-Type: application/EDIFACT\r\n\r\nUNB+UNOC:3+A+B+261130:1000+1'\nUNZ+0+1'\r\n\x00\xff\x1a")}
	if err := b.prepare(); err != nil {
		return 0, err
	}
	theirs, err := b.java(ctx, "make")
	if err != nil {
		return 0, err
	}
	ok := 0
	told := func(what string, err error) {
		if err == nil {
			ok++
			return
		}
		failed++
		fmt.Fprintf(w, "failed: %s: %v\n", what, err)
	}
	for _, f := range theirs {
		if len(f) != 4 {
			return 0, fmt.Errorf("bouncy castle says %q", f)
		}
		text, err := os.ReadFile(filepath.Join(dir, f[2]))
		if err != nil {
			return 0, err
		}
		told("we open "+f[0]+" of theirs, "+f[3], b.open(cms.Kind(f[0]), f[1], text))
	}
	ours, err := b.make()
	if err != nil {
		return 0, err
	}
	answers, err := b.java(ctx, "open")
	if err != nil {
		return 0, err
	}
	for _, f := range answers {
		if len(f) != 2 || ours[f[0]] == "" {
			return 0, fmt.Errorf("bouncy castle says %q", f)
		}
		var err error
		if f[1] != "ok" {
			err = errors.New(f[1])
		}
		told("they open "+ours[f[0]]+" of ours", err)
		delete(ours, f[0])
	}
	fmt.Fprintf(w, "%d combinations, %d ok, %d failed, %d skipped\n", ok+failed+len(ours), ok, failed, len(ours))
	return failed + len(ours), nil
}

func command(ctx context.Context, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	return nil
}

// java runs their program, and gives the lines that it says by field.
func (b *bouncy) java(ctx context.Context, verb string) (lines [][]string, err error) {
	cmd := exec.CommandContext(ctx, "java", "-Xmx512m", "-cp", b.jars, "bench/cms/programs/BouncyCms.java", verb, b.dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("bouncy castle, %s: %w", verb, err)
	}
	for s := bufio.NewScanner(&out); s.Scan(); {
		lines = append(lines, strings.Split(s.Text(), "\t"))
	}
	return lines, nil
}

// prepare makes the keys, and writes what they read.
func (b *bouncy) prepare() error {
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		return err
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	for name, key := range map[string]crypto.Signer{"rsa": r, "p256": p256, "p384": p384, "ed25519": edwards} {
		if err := b.certify(name, key); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(b.dir, "content"), b.content, 0o600)
}

// certify makes the certificate of a key. Its key identifier is the one that Bouncy
// Castle computes: RFC 5280 §4.2.1.2 (1).
func (b *bouncy) certify(name string, key crypto.Signer) error {
	info, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	public := struct {
		Algorithm pkix.AlgorithmIdentifier
		Key       asn1.BitString
	}{}
	if _, err := asn1.Unmarshal(info, &public); err != nil {
		return err
	}
	id := sha1.Sum(public.Key.Bytes)
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, SubjectKeyId: id[:],
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	c, err := cms.ParseCertificate(der)
	if err != nil {
		return err
	}
	b.keys[name] = cms.Key{Certificate: c, Private: key}
	return errors.Join(os.WriteFile(filepath.Join(b.dir, name+".crt"), der, 0o600), os.WriteFile(filepath.Join(b.dir, name+".key"), private, 0o600))
}

// open opens a message of theirs.
func (b *bouncy) open(kind cms.Kind, who string, text []byte) error {
	if got := cms.KindOf(text); got != kind {
		return fmt.Errorf("it is %s", got)
	}
	content, err := b.contentOf(kind, who, text)
	if err == nil && !bytes.Equal(content, b.content) {
		err = errors.New("other content")
	}
	return err
}

func (b *bouncy) contentOf(kind cms.Kind, who string, text []byte) ([]byte, error) {
	switch kind {
	case cms.SignedData:
		s, err := cms.ParseSigned(text, cms.Limits{})
		if err != nil {
			return nil, err
		}
		content, outside := b.content, cms.InMemory(b.content)
		if s.Content != nil {
			content, outside = s.Content.Bytes(), nil
		}
		_, err = s.Verify(outside, []*cms.Certificate{b.keys[who].Certificate}, cms.Policy{Old: []crypto.Hash{crypto.MD5, crypto.SHA1, crypto.SHA224}})
		return content, err
	case cms.CompressedData:
		c, err := cms.ParseCompressed(text, cms.Limits{})
		if err != nil {
			return nil, err
		}
		return c.Decompress(1 << 20)
	}
	e, err := cms.ParseEnveloped(text, cms.Limits{})
	if err != nil {
		return nil, err
	}
	d, err := e.Decrypt([]cms.Key{b.keys[who]})
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, cms.Detail(err))
	}
	return d.Content, nil
}
