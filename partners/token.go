package partners

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// TokenPrefix begins every token we issue, so that secret scanners know it.
const TokenPrefix = "edigw_p_"

// Token is what we keep of a partner's token: its digest, never its text.
type Token struct {
	ID       uuid.UUID
	Partner  string
	Label    string
	SHA256   [32]byte
	Declared bool       // it stands in the partner's YAML
	Created  time.Time  // UTC
	Expires  *time.Time // first instant it is refused; nil is never
	Revoked  *time.Time
}

func (t Token) hex() string { return hex.EncodeToString(t.SHA256[:]) }

// IssueToken makes a token for a partner in a transaction of its own. See
// IssueTokenTx.
func (s *Store) IssueToken(ctx context.Context, partner, label string, expires time.Time) (plain string, err error) {
	err = pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error {
		plain, err = s.IssueTokenTx(ctx, tx, partner, label, expires)
		return err
	})
	if err != nil {
		return "", err
	}
	return plain, nil
}

// IssueTokenTx makes a token of 32 random bytes for a partner and gives its
// text, this once. label tells the partner's tokens apart; the zero time never
// expires. The error wraps ErrUnknown if there is no such partner, and is Faults
// if the label is taken or unfit.
func (s *Store) IssueTokenTx(ctx context.Context, tx pgx.Tx, partner, label string, expires time.Time) (plain string, err error) {
	if label == "" || utf8.RuneCountInString(label) > 60 || !printable(label) {
		return "", Faults{{Key: "label", Text: "must be 1 to 60 printable characters on one line"}}
	}
	until := (*time.Time)(nil)
	if !expires.IsZero() {
		if !expires.After(s.now()) {
			return "", Faults{{Key: "expires", Text: "is past: " + expires.UTC().Format(time.RFC3339)}}
		}
		until = &expires
	}
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return "", fmt.Errorf("issue token: %w", err)
	}
	plain = TokenPrefix + base64.RawURLEncoding.EncodeToString(secret)
	id, err := s.newID()
	if err != nil {
		return "", fmt.Errorf("issue token: %w", err)
	}
	if _, err := tx.Exec(ctx, `select counter from configuration for update`); err != nil {
		return "", fmt.Errorf("lock configuration: %w", err)
	}
	sum := sha256.Sum256([]byte(plain))
	_, err = tx.Exec(ctx, `
		insert into partner_token (partner_id, token_id, label, sha256, declared, created_at, expires_at)
		values ($1, $2, $3, $4, false, $5, $6)`,
		partner, id, label, sum[:], s.now(), until)
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) {
		switch pg.ConstraintName {
		case "partner_token_label":
			return "", Faults{{Key: "label", Text: fmt.Sprintf("partner %s has a token %q; take another label, or revoke that one", partner, label)}}
		case "partner_token_partner_id_fkey":
			return "", fmt.Errorf("partner %s: %w", partner, ErrUnknown)
		}
	}
	if err != nil {
		return "", fmt.Errorf("issue token for %s: %w", partner, err)
	}
	return plain, s.count(ctx, tx)
}

// RevokeToken revokes a token in a transaction of its own. See RevokeTokenTx.
func (s *Store) RevokeToken(ctx context.Context, partner, label string) error {
	return pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error { return s.RevokeTokenTx(ctx, tx, partner, label) })
}

// RevokeTokenTx ends a partner's token for good. One declared in YAML leaves the
// partner's configuration too, with a new revision; a file that still names it
// is refused afterwards, so that no old file brings it back. The error wraps
// ErrUnknown if no live token of the partner has the label.
func (s *Store) RevokeTokenTx(ctx context.Context, tx pgx.Tx, partner, label string) error {
	if _, err := tx.Exec(ctx, `select counter from configuration for update`); err != nil {
		return fmt.Errorf("lock configuration: %w", err)
	}
	var declared bool
	err := tx.QueryRow(ctx, `
		update partner_token set revoked_at = $3
		where partner_id = $1 and label = $2 and revoked_at is null
		returning declared`,
		partner, label, s.now()).Scan(&declared)
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("token %q of partner %s: %w", label, partner, ErrUnknown)
	}
	if err != nil {
		return fmt.Errorf("revoke token %q of partner %s: %w", label, partner, err)
	}
	if declared {
		before, err := read(ctx, tx)
		if err != nil {
			return fmt.Errorf("revoke token %q of partner %s: %w", label, partner, err)
		}
		spec := before.partners[partner].spec
		spec.HTTP.Tokens = slices.DeleteFunc(slices.Clone(spec.HTTP.Tokens), func(t TokenSpec) bool { return t.Label == label })
		spec.normalise()
		_, err = s.Apply(ctx, tx, []Spec{{Partner: &spec}})
		return err
	}
	return s.count(ctx, tx)
}

// Tokens gives all tokens of a partner, revoked ones too, oldest first.
func (s *Store) Tokens(ctx context.Context, partner string) ([]Token, error) {
	var tokens []Token
	err := s.atOnce(ctx, func(tx pgx.Tx) error {
		var known bool
		if err := tx.QueryRow(ctx, `select exists (select from partner where partner_id = $1)`, partner).Scan(&known); err != nil {
			return fmt.Errorf("tokens of %s: %w", partner, err)
		}
		if !known {
			return fmt.Errorf("partner %s: %w", partner, ErrUnknown)
		}
		rows, err := tx.Query(ctx, `
			select partner_id, token_id, label, sha256, declared, created_at, expires_at, revoked_at
			from partner_token where partner_id = $1 order by created_at, token_id`, partner)
		tokens, err = takeTokens(rows, err)
		return err
	})
	return tokens, err
}

// takeTokens reads the rows of a query that may have failed.
func takeTokens(rows pgx.Rows, err error) ([]Token, error) {
	if err != nil {
		return nil, fmt.Errorf("read tokens: %w", err)
	}
	tokens, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (t Token, err error) {
		var sum []byte
		err = row.Scan(&t.Partner, &t.ID, &t.Label, &sum, &t.Declared, &t.Created, &t.Expires, &t.Revoked)
		copy(t.SHA256[:], sum)
		return t, err
	})
	if err != nil {
		return nil, fmt.Errorf("read tokens: %w", err)
	}
	return tokens, nil
}

// writeDeclaredTokens makes the declared tokens of the changed partners those of
// their specs. Issued ones stay; one whose digest is now declared becomes so.
func (s *Store) writeDeclaredTokens(ctx context.Context, tx pgx.Tx, before, after *configuration, changes Changes) error {
	var changed []string
	var kept [][]byte
	for _, ch := range changes {
		if ch.Kind != "Partner" || before.partners[ch.ID] != nil && same(before.partners[ch.ID].spec.HTTP, after.partners[ch.ID].spec.HTTP) {
			continue
		}
		changed = append(changed, ch.ID)
		for _, t := range after.partners[ch.ID].spec.HTTP.Tokens {
			if before.declares(ch.ID, t) {
				sum, err := hex.DecodeString(t.SHA256)
				if err != nil {
					return fmt.Errorf("token %q of %s: %w", t.Label, ch.ID, err)
				}
				kept = append(kept, sum)
			}
		}
	}
	// What goes, goes first: a digest or a label may move to another token.
	if _, err := tx.Exec(ctx, `
		delete from partner_token
		where partner_id = any($1) and declared and revoked_at is null and sha256 <> all($2)`,
		changed, append([][]byte{}, kept...)); err != nil {
		return fmt.Errorf("take tokens away: %w", err)
	}
	for _, partner := range changed {
		for _, t := range after.partners[partner].spec.HTTP.Tokens {
			if err := s.writeDeclaredToken(ctx, tx, partner, t); err != nil {
				return fmt.Errorf("token %q of %s: %w", t.Label, partner, err)
			}
		}
	}
	return nil
}

func (s *Store) writeDeclaredToken(ctx context.Context, tx pgx.Tx, partner string, t TokenSpec) error {
	id, err := s.newID()
	if err != nil {
		return err
	}
	sum, err := hex.DecodeString(t.SHA256)
	if err != nil {
		return err
	}
	// The digest can only be this partner's, and live: check has seen to that.
	_, err = tx.Exec(ctx, `
		insert into partner_token (partner_id, token_id, label, sha256, declared, created_at, expires_at)
		values ($1, $2, $3, $4, true, $5, $6)
		on conflict (sha256) do update set label = excluded.label, declared = true, expires_at = excluded.expires_at`,
		partner, id, t.Label, sum, s.now(), t.Expires)
	return err
}

// declares reports whether the partner declares the same token under the same
// label already.
func (c *configuration) declares(partner string, t TokenSpec) bool {
	p := c.partners[partner]
	return p != nil && slices.ContainsFunc(p.spec.HTTP.Tokens, func(o TokenSpec) bool {
		return o.SHA256 == t.SHA256 && o.Label == t.Label
	})
}
