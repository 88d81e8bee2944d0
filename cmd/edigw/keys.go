package main

import (
	"bytes"
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
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
	Create  keysCreate  `cmd:"" help:"Make a private key of ours, with a certificate of its own issue."`
	Import  keysImport  `cmd:"" help:"Take a private key and its certificate from PEM or PKCS#12."`
	Rotate  keysRotate  `cmd:"" help:"Make a key's successor; what is encrypted to the old one is opened for a while."`
	Retire  keysRetire  `cmd:"" help:"End a key for good."`
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

// toldKey is a key as it is shown.
type toldKey struct {
	Organisation string     `json:"organisation"`
	Label        string     `json:"label"`
	ID           string     `json:"key_id"`
	Purposes     []string   `json:"purposes"`
	Algorithm    string     `json:"algorithm"`
	Fingerprint  string     `json:"sha256_fingerprint"` // of its certificate
	SPKI         string     `json:"spki_sha256"`
	Issuer       string     `json:"issuer"`
	From         time.Time  `json:"use_from"`
	Until        time.Time  `json:"use_until"`
	By           string     `json:"created_by"`
	Created      time.Time  `json:"created_at"`
	Retired      *time.Time `json:"retired_at,omitempty"`
	Master       string     `json:"sealed_under"`
}

func tellKey(k *keys.Key) toldKey {
	return toldKey{k.Organisation, k.Label, k.ID.String(), k.Purposes, k.Algorithm, partners.Fingerprint(k.Certificates[0]), hex.EncodeToString(k.SPKI[:]),
		k.Certificates[0].Issuer.String(), k.From.UTC(), k.End().UTC(), k.By, k.Created.UTC(), k.Retired, hex.EncodeToString(k.Under)}
}

// made shows a key that was made.
func made(a *app, output string, k *keys.Key) error {
	if output == "json" {
		return a.json(tellKey(k))
	}
	_, err := fmt.Fprintf(a.stdout, "%s for %s\n  fingerprint  %s\n  valid until  %s\n", k, strings.Join(k.Purposes, ", "), partners.Fingerprint(k.Certificates[0]), clock(k.End()))
	return err
}

type keysCreate struct {
	keyRef
	For       []string `required:"" placeholder:"PURPOSE" help:"What it is for, with commas between: as2_sign, as2_decrypt, as4_sign, as4_decrypt, tls_client, evidence_sign."`
	Algorithm string   `enum:"rsa-2048,rsa-3072,rsa-4096,ec-p256,ec-p384,ed25519" default:"rsa-3072" help:"rsa-2048, rsa-3072, rsa-4096, ec-p256, ec-p384 or ed25519."`
	Name      string   `placeholder:"NAME" help:"Common name of the certificate; the label if left out."`
	Days      int      `default:"730" help:"Days that the certificate is valid."`
	Output    string   `short:"o" enum:"table,json" default:"table" help:"table or json."`
	keyFlags
}

func (c *keysCreate) Run(a *app) error {
	var k *keys.Key
	err := c.act(a, "key.created", c.Organisation, c.Label, func(ctx context.Context, s *keys.Store, tx pgx.Tx, by string) (_ any, err error) {
		k, err = s.CreateTx(ctx, tx, keys.New{Organisation: c.Organisation, Label: c.Label, Purposes: c.For, Algorithm: c.Algorithm, CommonName: c.Name,
			Valid: time.Duration(c.Days) * 24 * time.Hour, By: by})
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
	Output       string   `short:"o" enum:"table,json" default:"table" help:"table or json."`
	keyFlags
}

func (c *keysImport) Run(a *app) error {
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
		k, err = s.ImportTx(ctx, tx, keys.New{Organisation: c.Organisation, Label: c.Label, Purposes: c.For, By: by}, key, chain)
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

type keysRotate struct {
	keyRef
	To      string `required:"" placeholder:"LABEL" help:"Label of the successor."`
	Overlap int    `default:"30" placeholder:"DAYS" help:"Days for which what is encrypted to the old key is still opened."`
	Output  string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	keyFlags
}

func (c *keysRotate) Run(a *app) error {
	var k *keys.Key
	err := c.act(a, "key.rotated", c.Organisation, c.Label, func(ctx context.Context, s *keys.Store, tx pgx.Tx, by string) (_ any, err error) {
		k, err = s.RotateTx(ctx, tx, c.Organisation, c.Label, c.To, by, time.Duration(c.Overlap)*24*time.Hour)
		if err != nil {
			return nil, err
		}
		return tellKey(k), nil
	})
	if err != nil {
		return err
	}
	a.progress("send partners the new certificate: edigw keys show %s %s", c.Organisation, c.To)
	return made(a, c.Output, k)
}

type keysRetire struct {
	keyRef
	keyFlags
}

func (c *keysRetire) Run(a *app) error {
	err := c.act(a, "key.retired", c.Organisation, c.Label, func(ctx context.Context, s *keys.Store, tx pgx.Tx, _ string) (any, error) {
		return struct{}{}, s.RetireTx(ctx, tx, c.Organisation, c.Label)
	})
	if err == nil {
		a.progress("key %s of %s is retired", printable(c.Label), printable(c.Organisation))
	}
	return err
}

type keysRequest struct {
	keyRef
	Name string `required:"" placeholder:"NAME" help:"Common name that the certificate is to have."`
	keyFlags
}

func (c *keysRequest) Run(a *app) error {
	return c.with(a, func(s *keys.Store) error {
		text, err := s.Request(a.ctx, c.Organisation, c.Label, pkix.Name{CommonName: c.Name})
		if err != nil {
			return err
		}
		_, err = a.stdout.Write(text)
		return err
	})
}

type keysCertify struct {
	keyRef
	File   string `arg:"" help:"The certificate and its issuers, PEM."`
	Output string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	keyFlags
}

func (c *keysCertify) Run(a *app) error {
	chain, err := readChain(c.File)
	if err != nil {
		return err
	}
	var k *keys.Key
	err = c.act(a, "key.certified", c.Organisation, c.Label, func(ctx context.Context, s *keys.Store, tx pgx.Tx, _ string) (_ any, err error) {
		if k, err = s.CertifyTx(ctx, tx, c.Organisation, c.Label, chain); err != nil {
			return nil, err
		}
		return tellKey(k), nil
	})
	if err != nil {
		return err
	}
	return made(a, c.Output, k)
}

type keysShow struct {
	keyRef
	keyFlags
}

func (c *keysShow) Run(a *app) error {
	return c.with(a, func(s *keys.Store) error {
		list, err := s.List(a.ctx)
		if err != nil {
			return err
		}
		for _, k := range list {
			if k.Organisation != c.Organisation || k.Label != c.Label || k.Retired != nil {
				continue
			}
			var b bytes.Buffer
			for _, cert := range k.Certificates {
				if err := pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}); err != nil {
					return err
				}
			}
			_, err := a.stdout.Write(b.Bytes())
			return err
		}
		return fmt.Errorf("%w: %s has no key %q that is not retired", keys.ErrUnknown, c.Organisation, c.Label)
	})
}

type keysList struct {
	Output string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	keyFlags
}

func (c *keysList) Run(a *app) error {
	return c.with(a, func(s *keys.Store) error {
		list, err := s.List(a.ctx)
		if err != nil {
			return err
		}
		items, rows := []toldKey{}, [][]string{}
		for _, k := range list {
			t := tellKey(k)
			items = append(items, t)
			state := "until " + t.Until.Format(time.DateOnly)
			switch now := time.Now(); {
			case k.Retired != nil:
				state = "retired"
			case !now.Before(k.End()):
				state = "ended " + t.Until.Format(time.DateOnly)
			}
			rows = append(rows, []string{t.Organisation, t.Label, strings.Join(t.Purposes, " "), t.Algorithm, state, shorten(t.Fingerprint, 24)})
		}
		if c.Output == "json" {
			return a.json(struct {
				Items []toldKey `json:"items"`
			}{items})
		}
		return a.table([]string{"ORGANISATION", "KEY", "FOR", "ALGORITHM", "USED", "FINGERPRINT"}, rows)
	})
}

type keysReseal struct{ keyFlags }

func (c *keysReseal) Run(a *app) error {
	n := 0
	err := c.act(a, "keys.resealed", "all", "keys", func(ctx context.Context, s *keys.Store, tx pgx.Tx, _ string) (_ any, err error) {
		n, err = s.ResealTx(ctx, tx)
		return map[string]any{"keys": n}, err
	})
	if err == nil {
		a.progress("%d keys are sealed anew; former master keys are not needed any more", n)
	}
	return err
}
