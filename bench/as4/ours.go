package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// oursPlanned are what edigw sends to phase4's servlet: changes as those of planned.
// How the key is named is edigw's own, and no test service has a payload of ours.
const oursPlanned = `
rsa: signed
rsa: signed; compressed
rsa: encrypted
rsa: encrypted; compressed
rsa: encrypted; compressed; 2 payloads
rsa: encrypted; compressed; 10 payloads
rsa: encrypted; compressed; signer by pkipath
rsa: encrypted; compressed; signer by issuer-serial
rsa: encrypted; compressed; signer by ski
rsa: a payload as text/plain, lines
rsa: encrypted; a payload as text/plain, lines
rsa: a payload as application/xml
rsa: encrypted; a payload as application/xml
rsa: encrypted; compressed; a payload of 1 MB
rsa: by Peppol's agreement and types; encrypted; compressed
rsa: the test service; no payload
ed25519: signed
ed25519: encrypted
ed25519: encrypted; compressed
ed25519: encrypted; compressed; 2 payloads
ed25519: encrypted; compressed; signer by pkipath
ed25519: encrypted; compressed; signer by issuer-serial
ed25519: encrypted; compressed; signer by ski
p256: signed
p256: encrypted; compressed
p256: encrypted; compressed; signer by ski
p256: encrypted; 2 payloads
`

// edigwToPhase4 has edigw send to phase4's servlet.
func (r *run) edigwToPhase4(ctx context.Context, g *gateway) (err error) {
	folder := filepath.Join(r.work, "received")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	s, err := startServer(ctx, r.dir, r.keys, receiver, sender, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.process.Stop()) }()
	for i, each := range parse(oursPlanned) {
		name := "edigw to phase4: " + each.name
		if !r.Choice.Wants(name) {
			continue
		}
		each.address(s.address + "/" + each.message.Suite)
		if err := each.write(r.work, 5000+i); err != nil {
			return err
		}
		failure, err := r.sendOurs(ctx, g, s, each)
		if err != nil {
			return err
		}
		r.Says(name, failure)
	}
	return nil
}

// sendOurs sends one by `edigw as4 send`, which holds the receipt against what was
// sent. failure says why the combination does not hold; err that there is no saying.
func (r *run) sendOurs(ctx context.Context, g *gateway, to *server, c combination) (failure, err error) {
	m := c.message
	key := func(party, purpose string) string {
		return filepath.Join(r.keys, party+"-"+keysOf(m.Suite)+"-"+purpose)
	}
	own, err := chained(key(sender, "sign"), filepath.Join(r.keys, "ca.cert.pem"))
	if err != nil {
		return nil, err
	}
	arguments := []string{"as4", "send", "-o", "json", "--url", m.URL, "--from", m.From, "--from-type", m.PartyType, "--to", m.To, "--to-type", m.PartyType,
		"--agreement", m.Agreement, "--conversation", m.Conversation, "--message-id", m.MessageID,
		"--key", own, "--token-reference", m.Token, "--signer", key(receiver, "sign") + ".cert.pem"}
	if c.test {
		arguments = append(arguments, "--ping")
	} else {
		arguments = append(arguments, "--service", m.Service, "--service-type", m.ServiceType, "--action", m.Action)
	}
	if m.Encrypted {
		arguments = append(arguments, "--encrypt-to", key(receiver, "encrypt")+".cert.pem")
	}
	if !m.Compressed {
		arguments = append(arguments, "--no-compress")
	}
	for _, p := range m.Payloads {
		arguments = append(arguments, p.File)
	}
	if len(m.Payloads) > 0 {
		arguments = append(arguments, "--mime-type", m.Payloads[0].Type)
	}
	out, failure := g.Run(ctx, arguments...)
	if failure != nil {
		return failure, nil
	}
	var told struct {
		Outcome    string `json:"outcome"`
		References int    `json:"references"`
		Signer     string `json:"signer"`
	}
	if err := json.Unmarshal(out, &told); err != nil {
		return nil, fmt.Errorf("edigw as4 send tells %q: %w", out, err)
	}
	// Messaging, Body, and each payload.
	if told.Outcome != "received" || told.References != 2+len(m.Payloads) || told.Signer == "" {
		return fmt.Errorf("edigw as4 send tells %s", strings.TrimSpace(string(out))), nil
	}
	got, err := to.arrived()
	switch {
	case err != nil:
		return nil, err
	case c.test && len(got) == 0:
		return nil, nil
	case c.test || len(got) != 1:
		return fmt.Errorf("%d have arrived", len(got)), nil
	}
	return got[0].of(m), nil
}
