package main

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/edigw/edigw/cms"
)

// ours reads a message and decrypts or verifies it, as openssl does beside: the
// content goes to the null device.
func ours(work string, args []string) error {
	if len(args) != 3 {
		return errors.New("give message, certificate and key")
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	certificate, err := readPEM(args[1], cms.ParseCertificate)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(open(out, work, text, certificate, args[2]), out.Close())
}

func open(out io.Writer, work string, text []byte, certificate *cms.Certificate, keyFile string) error {
	switch work {
	case "decrypt":
		key, err := readPEM(keyFile, func(der []byte) (crypto.PrivateKey, error) { return x509.ParsePKCS8PrivateKey(der) })
		if err != nil {
			return err
		}
		e, err := cms.ParseEnveloped(text, cms.Limits{})
		if err != nil {
			return err
		}
		d, err := e.Decrypt([]cms.Key{{Certificate: certificate, Private: key}})
		if err != nil {
			return fmt.Errorf("%w: %s", err, cms.Detail(err))
		}
		_, err = out.Write(d.Content)
		return err
	case "verify":
		s, err := cms.ParseSigned(text, cms.Limits{})
		if err != nil {
			return err
		}
		if _, err := s.Verify(nil, []*cms.Certificate{certificate}, cms.Policy{}); err != nil {
			return err
		}
		return s.Content.Write(out)
	}
	return fmt.Errorf("nobody knows how to %s", work)
}

// readPEM reads the one block of a file.
func readPEM[T any](path string, parse func([]byte) (T, error)) (T, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		var none T
		return none, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		var none T
		return none, fmt.Errorf("%s holds no PEM", path)
	}
	return parse(block.Bytes)
}
