package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// The two parties of every combination: who sends and who receives.
const (
	sender   = "brennholm"
	receiver = "nordhafen"

	senderName   = "BRENNHOLM"
	receiverName = "NORDHAFEN AS2" // has to be quoted (RFC 4130 §6.2)
	plainName    = "NORDHAFEN"     // the receiver's, too
)

// makeKeys has openssl make a key with a self-signed certificate for each party in
// dir, as PEM files party.{key,cert}.pem.
func makeKeys(ctx context.Context, dir string) error {
	for _, party := range []string{sender, receiver} {
		name := filepath.Join(dir, party)
		_, err := openssl(ctx, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", name+".key.pem", "-out", name+".cert.pem",
			"-subj", "/O=interop/CN="+party, "-days", "3", "-addext", "keyUsage=critical,digitalSignature,keyEncipherment")
		if err != nil {
			return err
		}
	}
	return nil
}

// openssl runs a command of openssl's and gives its output.
func openssl(ctx context.Context, arguments ...string) ([]byte, error) {
	out, err := exec.CommandContext(ctx, "openssl", arguments...).Output()
	if err != nil {
		var said []byte
		if exit, is := err.(*exec.ExitError); is {
			said = exit.Stderr
		}
		return nil, fmt.Errorf("openssl %s: %w: %s", arguments[0], err, said)
	}
	return out, nil
}
