package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/partners/keys"
)

// administration is what changes partners: each act and its audit line in one
// transaction, and the directory of this process loaded anew behind it.
type administration struct {
	pool      *pgxpool.Pool
	partners  *partners.Store
	accounts  *accounts.Store
	directory *partners.Directory
	log       *slog.Logger
	clock     *gateway.Clock
	ring      *keys.Ring
}

// reloadPatience bounds how long an answer waits for the directory of this process.
const reloadPatience = 10 * time.Second

// act does something and writes its audit line; detail is asked for after do. What
// was committed is told as done, whatever becomes of the client or the directory:
// that one notices by itself within a second.
func (s *administration) act(ctx context.Context, by accounts.Identity, e accounts.Entry, do func(tx pgx.Tx) (detail any, err error)) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		detail, err := do(tx)
		if err != nil {
			return err
		}
		if e.Detail, err = json.Marshal(detail); err != nil {
			return err
		}
		e.Who, e.Role = by.Person, by.Role
		return s.accounts.Audit(ctx, tx, e)
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reloadPatience)
	defer cancel()
	if err := s.directory.Reload(ctx); err != nil {
		s.log.WarnContext(ctx, "partners were changed, and this process goes by what they were until the database answers", "action", e.Action, "err", err)
	}
	return nil
}

// apply reads YAML as a server must: without its own environment and files.
func (s *administration) apply(ctx context.Context, by accounts.Identity, text []byte, on *int64) (changes partners.Changes, err error) {
	specs, err := partners.Reader{}.Read("", text)
	if err != nil {
		return nil, err
	}
	err = s.act(ctx, by, accounts.Entry{Action: "partners.applied", Subject: "configuration"}, func(tx pgx.Tx) (any, error) {
		if store := s.partners.As(by.Person); on != nil {
			changes, err = store.ApplyOn(ctx, tx, *on, specs)
		} else {
			changes, err = store.Apply(ctx, tx, specs)
		}
		return map[string]any{"changes": changes}, err
	})
	return changes, err
}

func (s *administration) patchPartner(ctx context.Context, by accounts.Identity, partner string, revision int32, patch []byte) (changes partners.Changes, err error) {
	err = s.act(ctx, by, accounts.Entry{Action: "partner.changed", Subject: "configuration", Partner: partner}, func(tx pgx.Tx) (any, error) {
		changes, err = s.partners.As(by.Person).PatchTx(ctx, tx, partner, revision, patch)
		return map[string]any{"changes": changes}, err
	})
	return changes, err
}

func (s *administration) restorePartner(ctx context.Context, by accounts.Identity, partner string, revision int32, withCredentials bool) (changes partners.Changes, left partners.Left, err error) {
	err = s.act(ctx, by, accounts.Entry{Action: "partner.restored", Subject: "configuration", Partner: partner}, func(tx pgx.Tx) (any, error) {
		changes, left, err = s.partners.As(by.Person).RestoreTx(ctx, tx, partner, revision, withCredentials)
		return map[string]any{"changes": changes, "revision": revision, "with_credentials": withCredentials, "tokens_left_out": left.Tokens, "certificates_left_out": left.Certificates}, err
	})
	return changes, left, err
}

func (s *administration) issueToken(ctx context.Context, by accounts.Identity, partner, label string, expires time.Time) (plain string, err error) {
	e := accounts.Entry{Action: "partner_token.issued", Subject: label, Partner: partner}
	err = s.act(ctx, by, e, func(tx pgx.Tx) (any, error) {
		plain, err = s.partners.IssueTokenTx(ctx, tx, partner, label, expires)
		return map[string]any{"expires": expires}, err
	})
	return plain, err
}

func (s *administration) revokeToken(ctx context.Context, by accounts.Identity, partner, label string) error {
	e := accounts.Entry{Action: "partner_token.revoked", Subject: label, Partner: partner}
	return s.act(ctx, by, e, func(tx pgx.Tx) (any, error) {
		return struct{}{}, s.partners.As(by.Person).RevokeTokenTx(ctx, tx, partner, label)
	})
}

// report notes what was done with a document; the same again is no act.
func (s *administration) report(ctx context.Context, by accounts.Identity, partner string, document uuid.UUID, r documents.Report) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		changed, err := documents.ReportTx(ctx, tx, partner, document, r)
		if err != nil || !changed {
			return err
		}
		detail, err := json.Marshal(map[string]any{"is": r.Is, "note": r.Note})
		if err != nil {
			return err
		}
		return s.accounts.Audit(ctx, tx, accounts.Entry{Who: by.Person, Role: by.Role, Action: "document.reported", Subject: document.String(), Partner: partner, Detail: detail})
	})
}

// record writes an audit line on its own.
func (s *administration) record(ctx context.Context, e accounts.Entry) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return s.accounts.Audit(ctx, tx, e) })
}

// recordAct writes the audit line of a decision in its transaction.
func (s *administration) recordAct(ctx context.Context, tx gateway.Execer, a gateway.Act) error {
	detail, err := json.Marshal(a.Detail)
	if err != nil {
		return err
	}
	return s.accounts.Audit(ctx, tx, accounts.Entry{Who: a.By.Name, Role: accounts.Role(a.By.Role), Action: a.Action, Subject: a.Subject,
		Partner: a.Partner, Detail: detail})
}
