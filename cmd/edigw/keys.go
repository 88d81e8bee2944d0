package main

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/partners/keys"
)

// keysCommand works on the database itself: a private key goes over no network,
// and who may is who has the master key.
type keysCommand struct {
	Create keysCreate `cmd:"" help:"Make a private key of ours, with a certificate of its own issue."`
	Import keysImport `cmd:"" help:"Take a private key and its certificate from PEM or PKCS#12."`
	Rotate keysRotate `cmd:"" help:"Make a key's successor, which signs from a day on; what is encrypted to the old one is opened for a while."`

	SignFrom keysSignFrom `cmd:"" help:"Move the day from which a key signs."`

	Retire  keysRetire  `cmd:"" help:"End a key for good. Needs no master key."`
	Request keysRequest `cmd:"" help:"Write a certificate signing request for a key."`
	Certify keysCertify `cmd:"" help:"Give a key the certificate that was issued for it."`
	Show    keysShow    `cmd:"" help:"Write a key's certificate with its issuers, PEM, for partners."`
	List    keysList    `cmd:"" help:"All keys, retired ones too; never the keys themselves."`
	Reseal  keysReseal  `cmd:"" help:"Seal all keys under the present master key."`
}

// masterFlags say what private keys are sealed under.
type masterFlags struct {
	MasterKey        string   `setting:"" secret:"" placeholder:"KEY" help:"32 random bytes in base64 or hex, under which private keys are sealed; best from a file."`
	FormerMasterKeys []string `setting:"" secret:"" placeholder:"KEY" help:"Master keys from before, with commas between, until edigw keys reseal has run."`
}

func (f masterFlags) master() (*keys.Master, error) {
	m, err := keys.ParseMaster(f.MasterKey, f.FormerMasterKeys...)
	if err != nil {
		return nil, usage("%w", err)
	}
	return m, nil
}

// keyFlags say where keys are kept, and what they are sealed under.
type keyFlags struct {
	masterFlags
	databaseFlags
}

// keyRef names a key.
type keyRef struct {
	Organisation string `arg:"" help:"The organisation's id."`
	Label        string `arg:"" help:"The key's label."`
}

// with opens the store for do.
func (f keyFlags) with(a *app, do func(s *keys.Store) error) (err error) {
	master, err := f.master()
	if err != nil {
		return err
	}
	db, err := a.openDatabase(a.ctx, f.databaseFlags, a.logger("text", "warn"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.close(a.ctx)) }()
	if err := db.migrated(a.ctx); err != nil {
		return err
	}
	for _, e := range a.exposedSecrets() {
		a.progress("warning: %s", e)
	}
	return do(&keys.Store{Pool: db.pool, Master: master})
}

// act changes keys and writes the audit line, in one transaction.
func (f keyFlags) act(a *app, action, organisation, label string, do func(ctx context.Context, s *keys.Store, tx pgx.Tx, by string) (detail any, err error)) error {
	return f.with(a, func(s *keys.Store) error {
		by := keyboard()
		return pgx.BeginFunc(a.ctx, s.Pool, func(tx pgx.Tx) error {
			detail, err := do(a.ctx, s, tx, by)
			if err != nil {
				return err
			}
			text, err := json.Marshal(detail)
			if err != nil {
				return err
			}
			return (&accounts.Store{Pool: s.Pool}).Audit(a.ctx, tx, accounts.Entry{Who: by, Role: accounts.Admin, Action: action, Subject: organisation + " " + label, Detail: text})
		})
	})
}

// keyboard is the user at the keyboard.
func keyboard() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "local"
}

// made shows a key that was made.
func made(a *app, output string, k *keys.Key) error {
	if output == "json" {
		return a.json(tellKey(k))
	}
	now := time.Now()
	_, err := fmt.Fprintf(a.stdout, "%s for %s\n  fingerprint  %s\n  valid until  %s\n", k, strings.Join(k.Purposes, ", "), partners.Fingerprint(k.Present(now).Leaf()), clock(k.End()))
	if err == nil && k.From.After(now) {
		_, err = fmt.Fprintf(a.stdout, "  signs from   %s\n", clock(k.From))
	}
	if next := k.Next(now); err == nil && next != nil && next != k.Present(now) {
		from, _ := next.Window()
		_, err = fmt.Fprintf(a.stdout, "  then         %s from %s\n", partners.Fingerprint(next.Leaf()), clock(from))
	}
	return err
}

// signFlags say from when a key signs.
type signFlags struct {
	SignFrom string `placeholder:"DATE" help:"From when it signs: a day (in UTC), an instant like 2027-01-15T08:00:00Z, or now. Has to be said where another key signs."`
}

func (f signFlags) at() (time.Time, error) { return dateOf("--sign-from", f.SignFrom) }

// dateOf reads a day, from its start in UTC, an instant, or now; zero is nothing.
func dateOf(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if text == "now" {
		return time.Now().UTC(), nil
	}
	for _, form := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, usage("%s must be a day like 2027-01-15, an instant like 2027-01-15T08:00:00Z, or now, not %q", flag, text)
}

type keysCreate struct {
	keyRef
	For       []string `required:"" placeholder:"PURPOSE" help:"What it is for, with commas between: as2_sign, as2_decrypt, as4_sign, as4_decrypt, tls_client, evidence_sign."`
	Algorithm string   `enum:"rsa-2048,rsa-3072,rsa-4096,ec-p256,ec-p384,ec-p521,ed25519,x25519" default:"rsa-3072" help:"rsa-2048, rsa-3072, rsa-4096, ec-p256, ec-p384, ec-p521, ed25519, or x25519 for as4_decrypt."`
	Name      string   `placeholder:"NAME" help:"Common name of the certificate; the label if left out."`
	Days      int      `default:"730" help:"Days that the certificate is valid."`
	Output    string   `short:"o" enum:"table,json" default:"table" help:"table or json."`
	signFlags
	keyFlags
}

// daysOf reads a number of days. A duration ends after 292 years, and would go on
// behind that as another one.
func daysOf(flag string, days int) (time.Duration, error) {
	const most = 200 * 365
	if days < 0 || days > most {
		return 0, usage("%s must be a number of days from 0 to %d, not %d", flag, most, days)
	}
	return time.Duration(days) * 24 * time.Hour, nil
}

func (c *keysCreate) Run(a *app) error {
	from, err := c.at()
	if err != nil {
		return err
	}
	valid, err := daysOf("--days", c.Days)
	if err != nil {
		return err
	}
	var k *keys.Key
	err = c.act(a, "key.created", c.Organisation, c.Label, func(ctx context.Context, s *keys.Store, tx pgx.Tx, by string) (_ any, err error) {
		k, err = s.CreateTx(ctx, tx, keys.New{Organisation: c.Organisation, Label: c.Label, Purposes: c.For, Algorithm: c.Algorithm, CommonName: c.Name,
			Valid: valid, SignFrom: from, By: by})
		if err != nil {
			return nil, err
		}
		return tellKey(k), nil
	})
	if err != nil {
		return err
	}
	return made(a, c.Output, k)
}

type keysImport struct {
	keyRef
	File         string   `arg:"" help:"PKCS#12, or PEM with the key and its certificates; - for standard input."`
	For          []string `required:"" placeholder:"PURPOSE" help:"What it is for, as for create."`
	Chain        string   `placeholder:"FILE" help:"The certificate and its issuers, PEM, where they are not in the same file."`
	PasswordFile string   `placeholder:"FILE" help:"File with the password of PKCS#12."`
	KeyUsage     string   `enum:"enforce,ignore" default:"enforce" help:"enforce, or ignore what the certificate is allowed."`
	Output       string   `short:"o" enum:"table,json" default:"table" help:"table or json."`
	signFlags
	keyFlags
}

func (c *keysImport) Run(a *app) error {
	from, err := c.at()
	if err != nil {
		return err
	}
	text, err := a.whole(c.File)
	if err != nil {
		return err
	}
	password := ""
	if c.PasswordFile != "" {
		b, err := os.ReadFile(c.PasswordFile)
		if err != nil {
			return err
		}
		password = strings.TrimRight(string(b), "\r\n")
	}
	key, chain, err := keys.Read(text, password)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	if c.Chain != "" {
		if chain, err = readChain(c.Chain); err != nil {
			return err
		}
	}
	var k *keys.Key
	err = c.act(a, "key.imported", c.Organisation, c.Label, func(ctx context.Context, s *keys.Store, tx pgx.Tx, by string) (_ any, err error) {
		k, err = s.ImportTx(ctx, tx, keys.New{Organisation: c.Organisation, Label: c.Label, Purposes: c.For, SignFrom: from, AnyUsage: c.KeyUsage == "ignore", By: by}, key, chain)
		if err != nil {
			return nil, err
		}
		return tellKey(k), nil
	})
	if err != nil {
		return err
	}
	return made(a, c.Output, k)
}

func readChain(file string) ([]*x509.Certificate, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	chain, err := keys.ReadChain(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return chain, nil
}

type keysReseal struct{ keyFlags }

func (c *keysReseal) Run(a *app) error {
	n, lost := 0, 0
	err := c.act(a, "keys.resealed", "all", "keys", func(ctx context.Context, s *keys.Store, tx pgx.Tx, _ string) (_ any, err error) {
		n, lost, err = s.ResealTx(ctx, tx)
		return map[string]any{"keys": n, "lost": lost}, err
	})
	if err == nil && lost > 0 {
		a.progress("%d retired keys stay as they are: their master key is lost", lost)
	}
	if err == nil {
		a.progress("%d keys are sealed anew; former master keys are not needed any more", n)
	}
	return err
}
