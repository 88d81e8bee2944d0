package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// The two parties of every combination: who sends and who receives. Each has the
// keys of both directions.
const (
	sender   = "brennholm"
	receiver = "nordhafen"
)

// keyPair is a kind of key with what it is for.
type keyPair struct {
	keys, purpose string // as they stand in the names of the files
	options       []string
}

// keyPairs are what the profiles sign and encrypt with: RSA of eDelivery AS4 1.15,
// Ed25519 with X25519 of 2.0, and P-256 of its elliptic curve profile.
var keyPairs = []keyPair{
	{"rsa", "sign", []string{"-algorithm", "RSA"}},
	{"rsa", "encrypt", []string{"-algorithm", "RSA"}},
	{"ed25519", "sign", []string{"-algorithm", "ED25519"}},
	{"ed25519", "encrypt", []string{"-algorithm", "X25519"}},
	{"p256", "sign", []string{"-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"}},
	{"p256", "encrypt", []string{"-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"}},
}

// makeKeys has openssl make every key with a certificate in dir, as PEM files
// party-keys-purpose.{key,cert}.pem, and their issuer's in ca.{key,cert}.pem. Those of
// RSA have so many bits.
func makeKeys(ctx context.Context, dir string, rsa int) error {
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(in("extensions"), []byte("subjectKeyIdentifier=hash\nkeyUsage=digitalSignature,keyEncipherment,keyAgreement\n"), 0o600); err != nil {
		return err
	}
	err := openssl(ctx, "req", "-x509", "-newkey", "rsa:3072", "-nodes", "-keyout", in("ca.key.pem"), "-out", in("ca.cert.pem"),
		"-subj", "/O=interop/CN=issuer", "-days", "3", "-addext", "keyUsage=critical,keyCertSign")
	if err != nil {
		return err
	}
	for _, party := range []string{sender, receiver} {
		for _, k := range keyPairs {
			name := in(party + "-" + k.keys + "-" + k.purpose)
			if k.keys == "rsa" {
				k.options = append(slices.Clone(k.options), "-pkeyopt", fmt.Sprint("rsa_keygen_bits:", rsa))
			}
			// A key of X25519 signs no request, so the issuer asks in its place and
			// is given the key apart.
			steps := [][]string{
				append([]string{"genpkey", "-out", name + ".key.pem"}, k.options...),
				{"pkey", "-in", name + ".key.pem", "-pubout", "-out", name + ".pub.pem"},
				{"req", "-new", "-key", in("ca.key.pem"), "-subj", "/O=interop/CN=" + party + " " + k.keys + " " + k.purpose, "-out", name + ".csr.pem"},
				{"x509", "-req", "-in", name + ".csr.pem", "-force_pubkey", name + ".pub.pem", "-CA", in("ca.cert.pem"), "-CAkey", in("ca.key.pem"),
					"-CAcreateserial", "-days", "3", "-extfile", in("extensions"), "-out", name + ".cert.pem"},
			}
			for _, arguments := range steps {
				if err := openssl(ctx, arguments...); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func openssl(ctx context.Context, arguments ...string) error {
	if out, err := exec.CommandContext(ctx, "openssl", arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("openssl %s: %w: %s", arguments[0], err, out)
	}
	return nil
}
