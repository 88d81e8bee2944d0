package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/edigw/edigw/bench/invoic"
	"github.com/edigw/edigw/bench/site"
)

// gateway is edigw, as it is built, with its partner.
type gateway struct{ *site.Keyed }

// partner is who sends to edigw, by all of the senders. hosts are where its
// asynchronous MDNs go, host:port.
func (r *run) partner(names, hosts []string) (string, error) {
	pem, err := os.ReadFile(filepath.Join(r.keys, sender+".cert.pem"))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(`kind: Organisation
id: %[1]s
identifiers: [{qualifier: "%[2]s", id: "%[3]s"}]
as2: {names: [%[4]q, %[5]q]}
---
kind: Partner
id: %[6]s
organisation: %[1]s
identifiers: [{qualifier: "%[2]s", id: "%[7]s"}]
types: [INVOIC]
as2:
  names: ["%[8]s"]
  signature: optional
  old_algorithms: [3des, md5, sha1, sha224]
  mdn_hosts: ["%[9]s"]
certificates:
  - label: "as2"
    purposes: [as2_sign, as2_encrypt]
    certificate: |
      %[10]s
`, receiver, invoic.Qualifier, invoic.Recipient, receiverName, plainName, sender, invoic.Sender, strings.Join(names, `", "`), strings.Join(hosts, `", "`),
		indented(pem)), nil
}

// indented is a block of YAML, six columns in.
func indented(pem []byte) string {
	return strings.ReplaceAll(strings.TrimSpace(string(pem)), "\n", "\n      ")
}

// startGateway builds edigw and starts it with the partners and our key, and with env.
func (r *run) startGateway(ctx context.Context, partners string, env ...string) (_ *gateway, err error) {
	// The peers are on this machine, which is no public network.
	k, err := site.OpenKeyed(ctx, partners, r.keys, append(env, "EDIGW_ALLOW_TARGETS=127.0.0.1")...)
	if err != nil {
		return nil, err
	}
	g := &gateway{k}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.Close(context.WithoutCancel(ctx)))
		}
	}()
	whole := filepath.Join(r.keys, receiver+".pem")
	var all []byte
	for _, part := range []string{".key.pem", ".cert.pem"} {
		text, err := os.ReadFile(filepath.Join(r.keys, receiver+part))
		if err != nil {
			return nil, err
		}
		all = append(all, text...)
	}
	if err := os.WriteFile(whole, all, 0o600); err != nil {
		return nil, err
	}
	if _, err := g.Run(ctx, "keys", "import", receiver, "as2", whole, "--for", "as2_sign,as2_decrypt"); err != nil {
		return nil, err
	}
	return g, g.Start(ctx)
}

// holds tells whether the interchange was accepted, byte for byte, with exactly one
// document since before were there, and the name of its file is known.
func (g *gateway) holds(ctx context.Context, m message, before int64) error {
	if err := g.heldOnce(ctx, m.content, m.filename, false); err != nil {
		return err
	}
	documents, err := g.documents(ctx)
	if err == nil && documents-before != 1 {
		err = fmt.Errorf("%d documents have been made", documents-before)
	}
	return err
}

func (g *gateway) documents(ctx context.Context) (int64, error) {
	return g.count(ctx, `select count(*) from document`)
}

func (g *gateway) count(ctx context.Context, sql string, args ...any) (n int64, err error) {
	err = g.Site.Pool.QueryRow(ctx, sql, args...).Scan(&n)
	return n, err
}
