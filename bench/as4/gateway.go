package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/edigw/edigw/bench/site"
)

// gateway is edigw, as it is built, with the partners of the combinations.
type gateway struct{ *site.Keyed }

// agreement is a partner of one of our organisations, with the keys of one kind.
type agreement struct {
	name, keys, profile, partyType string
	sender, recipient              string // in UNB, 0004 and 0010
	processing                     string // inline, or deferred
}

// deferred names the partner whose documents are left to workers.
const deferred = "deferred"

// agreements are one for each profile and kind of keys, and one whose documents are left
// to workers. A partner's name is that of the suite or of Peppol, an organisation's that
// of its keys.
func agreements() []agreement {
	return []agreement{
		{"rsa", "rsa", "edelivery-1.15", unregistered, gln(1), gln(101), "inline"},
		{"peppol", "rsa", "peppol", peppolParty, gln(2), gln(101), "inline"},
		{"ed25519", "ed25519", "edelivery-2.0", unregistered, gln(3), gln(103), "inline"},
		{"p256", "p256", "edelivery-2.0", unregistered, gln(4), gln(104), "inline"},
		{deferred, "rsa", "edelivery-1.15", unregistered, gln(5), gln(101), "deferred"},
	}
}

// gln is a GS1 location number: thirteen digits, the last of which checks them (GS1
// General Specifications §7.9).
func gln(n int) string {
	digits := fmt.Sprintf("9520001%05d", n)
	sum := 0
	for i, d := range digits {
		sum += int(d-'0') * (1 + 2*(i%2))
	}
	return fmt.Sprint(digits, (10-sum%10)%10)
}

// yaml is what there is to apply.
func (r *run) yaml() (string, error) {
	var b strings.Builder
	for _, keys := range []string{"rsa", "ed25519", "p256"} {
		var recipient string
		for _, a := range agreements() {
			if a.keys == keys {
				recipient = a.recipient
			}
		}
		fmt.Fprintf(&b, "kind: Organisation\nid: %s-%s\nidentifiers: [{qualifier: \"14\", id: %q}]\n---\n", receiver, keys, recipient)
	}
	for _, a := range agreements() {
		fmt.Fprintf(&b, "kind: Partner\nid: %s-%s\norganisation: %s-%s\nidentifiers: [{qualifier: \"14\", id: %q}]\ntypes: [INVOIC, %s]\nprocessing: %s\n", sender, a.name, receiver, a.keys, a.sender, keptType, a.processing)
		fmt.Fprintf(&b, "as4:\n  profile: %s\n  from: {id: %s-%s, type: %q}\n  to: {id: %s-%s, type: %q}\n", a.profile, sender, a.name, a.partyType, receiver, a.keys, a.partyType)
		fmt.Fprintf(&b, "  services: [{service: %q, type: %q, action: %s}]\n  unencrypted: accept\ncertificates:\n", service, serviceType, action)
		for _, purpose := range []string{"sign", "encrypt"} {
			pem, err := os.ReadFile(filepath.Join(r.keys, sender+"-"+a.keys+"-"+purpose+".cert.pem"))
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "  - label: %q\n    purposes: [as4_%s]\n    certificate: |\n      %s\n", purpose, purpose, strings.ReplaceAll(strings.TrimSpace(string(pem)), "\n", "\n      "))
		}
		b.WriteString("---\n")
	}
	return strings.TrimSuffix(b.String(), "---\n"), nil
}

// startGateway builds edigw and starts it with the partners and our keys, and with env.
func (r *run) startGateway(ctx context.Context, env ...string) (_ *gateway, err error) {
	yaml, err := r.yaml()
	if err != nil {
		return nil, err
	}
	opened, err := site.OpenKeyed(ctx, yaml, r.keys, env...)
	if err != nil {
		return nil, err
	}
	g := &gateway{opened}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.Close(context.WithoutCancel(ctx)))
		}
	}()
	for _, k := range keyPairs {
		if err := g.importKey(ctx, r.keys, k); err != nil {
			return nil, err
		}
	}
	return g, g.Start(ctx)
}

// importKey gives the organisation of those keys one of them.
func (g *gateway) importKey(ctx context.Context, dir string, k keyPair) error {
	name := filepath.Join(dir, receiver+"-"+k.keys+"-"+k.purpose)
	whole, err := chained(name, filepath.Join(dir, "ca.cert.pem"))
	if err != nil {
		return err
	}
	purpose := map[string]string{"sign": "as4_sign", "encrypt": "as4_decrypt"}[k.purpose]
	_, err = g.Run(ctx, "keys", "import", receiver+"-"+k.keys, k.purpose, whole, "--for", purpose)
	return err
}

// chained puts a key, its certificate and its issuer's into one file and gives its
// name.
func chained(name, issuer string) (string, error) {
	var all []byte
	for _, file := range []string{name + ".key.pem", name + ".cert.pem", issuer} {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		all = append(all, text...)
	}
	return name + ".pem", os.WriteFile(name+".pem", all, 0o600)
}

// holds tells whether exactly the interchanges of the payloads were accepted, byte
// for byte, each with one document, since before were there.
func (g *gateway) holds(ctx context.Context, m message, before int64) error {
	var digests [][]byte
	for _, p := range m.Payloads {
		for _, interchange := range p.interchanges {
			sum := sha256.Sum256(interchange)
			digests = append(digests, sum[:])
		}
	}
	var held int
	err := g.Site.Pool.QueryRow(ctx, `select count(distinct message_id) from inbox where partner_id = $1 and message_id like 'unb:%' and payload_sha256 = any($2)`,
		m.From, digests).Scan(&held)
	if err != nil {
		return err
	}
	documents, err := g.documents(ctx)
	if err != nil {
		return err
	}
	if held != len(digests) || documents-before != int64(len(digests)) {
		return fmt.Errorf("of %d interchanges %d are held as they were sent, and %d documents have been made", len(digests), held, documents-before)
	}
	return nil
}

func (g *gateway) documents(ctx context.Context) (int64, error) {
	return g.Site.Count(ctx, `select count(*) from document`)
}
