package accounts

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// TokenPrefix begins every API token, so that secret scanners know it.
const TokenPrefix = "edigw_t_"

// ErrNotAuthenticated is wrapped where a token does not prove anybody. The
// wrapping says why, for the log; whoever showed the token learns only this.
var ErrNotAuthenticated = errors.New("not authenticated")

// ErrUnknown is wrapped where a person or a token is named that does not exist,
// or a token that is revoked already.
var ErrUnknown = errors.New("unknown")

// ErrUnfit is wrapped where a person or a token cannot be made as asked; the text
// says why.
var ErrUnfit = errors.New("cannot be made as asked")

// Identity is who acts.
type Identity struct {
	Person  string
	Role    Role      // the lesser of the token's and the person's
	TokenID uuid.UUID // zero if no token was used
}

// Token is what we keep of an API token: never its text.
type Token struct {
	ID       uuid.UUID  `json:"id"`
	Person   string     `json:"person"`
	Role     Role       `json:"role"`
	Label    string     `json:"label"`
	Created  time.Time  `json:"created"`
	Expires  *time.Time `json:"expires,omitempty"`   // first instant it is refused; nil is never
	LastUsed *time.Time `json:"last_used,omitempty"` // to the minute
	Revoked  *time.Time `json:"revoked,omitempty"`
}

// NewToken is what a token is to be.
type NewToken struct {
	Person  string
	Role    Role
	Label   string
	Expires time.Time // zero is never
}

// CreateToken makes a token of 32 random bytes, gives its text, this once, and
// writes the audit line. by is who asks for it. The error wraps ErrUnfit if it
// cannot be as asked: the person must be there, and a name that is spelt wrong
// must not become a second person; and who asks again because the answer was lost
// must not leave a token behind that holds and that nobody knows.
func (s *Store) CreateToken(ctx context.Context, by Identity, n NewToken) (plain string, t Token, err error) {
	return s.createToken(ctx, by, n, true)
}

func (s *Store) createToken(ctx context.Context, by Identity, n NewToken, once bool) (plain string, t Token, err error) {
	err = pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) (err error) {
		plain, t, err = s.createTokenTx(ctx, tx, by, n, once)
		return err
	})
	if err != nil {
		return "", Token{}, fmt.Errorf("create token: %w", err)
	}
	return plain, t, nil
}

func (s *Store) createTokenTx(ctx context.Context, tx pgx.Tx, by Identity, n NewToken, once bool) (plain string, t Token, err error) {
	if _, err := ParseRole(string(n.Role)); err != nil {
		return "", Token{}, fmt.Errorf("%w: %w", ErrUnfit, err)
	}
	if !oneLine(n.Person, 100) || !oneLine(n.Label, 60) {
		return "", Token{}, fmt.Errorf("%w: person and label must be printable, on one line, of at most 100 and 60 characters", ErrUnfit)
	}
	if !n.Expires.IsZero() && !n.Expires.After(s.now()) {
		return "", Token{}, fmt.Errorf("%w: it would be expired since %s", ErrUnfit, n.Expires.UTC().Format(time.RFC3339))
	}
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return "", Token{}, err
	}
	plain = TokenPrefix + base64.RawURLEncoding.EncodeToString(secret)
	t = Token{Person: n.Person, Role: n.Role, Label: n.Label, Created: s.now().Truncate(time.Microsecond), Expires: orNil(n.Expires)}
	if t.ID, err = s.newID(); err != nil {
		return "", Token{}, err
	}
	sum := sha256.Sum256([]byte(plain))
	if t.Person, err = s.fits(ctx, tx, n); err != nil {
		return "", Token{}, err
	}
	if once {
		if err := s.onlyOne(ctx, tx, t); err != nil {
			return "", Token{}, err
		}
	}
	_, err = tx.Exec(ctx, `
		insert into api_token (token_id, person, role, label, sha256, created_at, expires_at)
		values ($1, $2, $3, $4, $5, $6, $7)`,
		t.ID, t.Person, string(t.Role), t.Label, sum[:], t.Created, t.Expires)
	if err != nil {
		return "", Token{}, err
	}
	return plain, t, s.auditToken(ctx, tx, by, "token.created", t)
}

// onlyOne refuses a token where one of the same person, role and label holds. tx
// has the person's row: two at once wait for each other.
func (s *Store) onlyOne(ctx context.Context, tx pgx.Tx, t Token) error {
	var id uuid.UUID
	var made time.Time
	err := tx.QueryRow(ctx, `
		select token_id, created_at from api_token
		where person = $1 and role = $2 and label = $3 and revoked_at is null and (expires_at is null or expires_at > $4)
		order by created_at desc limit 1`,
		t.Person, string(t.Role), t.Label, s.now()).Scan(&id, &made)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: %s has a token %q with the role %s since %s, whose text is told only once: end it with `edigw tokens revoke %s`, or take another label",
		ErrUnfit, t.Person, t.Label, t.Role, made.UTC().Format(time.RFC3339), id)
}

// RevokeToken ends a token for good and writes the audit line. The error wraps
// ErrUnknown if there is no such token, or it was revoked before.
func (s *Store) RevokeToken(ctx context.Context, by Identity, id uuid.UUID) error {
	return pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error { return s.revokeTokenTx(ctx, tx, by, id) })
}

func (s *Store) revokeTokenTx(ctx context.Context, tx pgx.Tx, by Identity, id uuid.UUID) error {
	t := Token{ID: id}
	err := tx.QueryRow(ctx, `
		update api_token set revoked_at = $2
		where token_id = $1 and revoked_at is null
		returning person, role, label, expires_at`,
		id, s.now()).Scan(&t.Person, &t.Role, &t.Label, &t.Expires)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrUnknown
	}
	if err == nil {
		err = s.auditToken(ctx, tx, by, "token.revoked", t)
	}
	if err != nil {
		return fmt.Errorf("revoke token %s: %w", id, err)
	}
	return nil
}

func (s *Store) auditToken(ctx context.Context, tx pgx.Tx, by Identity, action string, t Token) error {
	detail, err := json.Marshal(map[string]any{"person": t.Person, "role": t.Role, "label": t.Label, "expires": t.Expires})
	if err != nil {
		return err
	}
	return s.Audit(ctx, tx, Entry{Who: by.Person, Role: by.Role, Action: action, Subject: t.ID.String(), Detail: detail})
}

// TokenFilter narrows ListTokens; empty fields do not.
type TokenFilter struct {
	Person string
	Role   Role
	State  string // TokenValid and its like
	Before *Token // cursor: those before it; Created and ID count
	Limit  int    // 0 is all
}

// The states of a token. One that was revoked is no longer told as expired.
const (
	TokenValid   = "valid"
	TokenExpired = "expired"
	TokenRevoked = "revoked"
)

// ListTokens gives tokens, revoked ones too, the latest first.
func (s *Store) ListTokens(ctx context.Context, f TokenFilter) ([]Token, error) {
	var created *time.Time
	var id uuid.UUID
	if f.Before != nil {
		created, id = &f.Before.Created, f.Before.ID
	}
	rows, err := s.Pool.Query(ctx, `
		select token_id, person, role, label, created_at, expires_at, last_used_at, revoked_at
		from api_token
		where ($1 = '' or person = $1) and ($2 = '' or role = $2)
			and ($3 = '' or $3 = case when revoked_at is not null then 'revoked' when expires_at <= $4 then 'expired' else 'valid' end)
			and ($5::timestamptz is null or (created_at, token_id) < ($5, $6))
		order by created_at desc, token_id desc limit nullif($7, 0)`, f.Person, string(f.Role), f.State, s.now(), created, id, f.Limit)
	if err != nil {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	tokens, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (t Token, err error) {
		err = row.Scan(&t.ID, &t.Person, &t.Role, &t.Label, &t.Created, &t.Expires, &t.LastUsed, &t.Revoked)
		t.Created = t.Created.UTC()
		for _, at := range []*time.Time{t.Expires, t.LastUsed, t.Revoked} {
			if at != nil {
				*at = at.UTC()
			}
		}
		return t, err
	})
	if err != nil {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	return tokens, nil
}

// Authenticate finds who shows a token. The error wraps ErrNotAuthenticated if
// it proves nobody; any other is ours.
func (s *Store) Authenticate(ctx context.Context, plain string) (Identity, error) {
	// No token of ours is longer: do not digest megabytes for a stranger.
	if !strings.HasPrefix(plain, TokenPrefix) || len(plain) > 200 {
		return Identity{}, fmt.Errorf("%w: not a token of ours", ErrNotAuthenticated)
	}
	// The index is asked for the digest, from whose timing nothing can be
	// learned about a token.
	sum := sha256.Sum256([]byte(plain))
	now := s.now()
	var who Identity
	var mayBe *Role // the person's
	var expires, lastUsed, revoked, disabled *time.Time
	err := s.Pool.QueryRow(ctx, `
		select t.token_id, t.person, t.role, t.expires_at, t.last_used_at, t.revoked_at, a.role, a.disabled_at
		from api_token t left join account a on a.person = t.person collate "C" where t.sha256 = $1`, sum[:]).
		Scan(&who.TokenID, &who.Person, &who.Role, &expires, &lastUsed, &revoked, &mayBe, &disabled)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Identity{}, fmt.Errorf("%w: unknown token", ErrNotAuthenticated)
	case err != nil:
		return Identity{}, fmt.Errorf("authenticate: %w", err)
	case mayBe == nil:
		return Identity{}, fmt.Errorf("%w: there is no user %s, whom token %s is for", ErrNotAuthenticated, who.Person, who.TokenID)
	case disabled != nil:
		return Identity{}, fmt.Errorf("%w: %s is disabled", ErrNotAuthenticated, who.Person)
	case revoked != nil:
		return Identity{}, fmt.Errorf("%w: token %s of %s was revoked", ErrNotAuthenticated, who.TokenID, who.Person)
	case expires != nil && !now.Before(*expires):
		return Identity{}, fmt.Errorf("%w: token %s of %s has expired", ErrNotAuthenticated, who.TokenID, who.Person)
	}
	who.Role = least(who.Role, *mayBe)
	if lastUsed == nil || now.Sub(*lastUsed) >= time.Minute {
		_, err := s.Pool.Exec(ctx, `
			update api_token set last_used_at = $2
			where token_id = $1 and (last_used_at is null or last_used_at <= $2::timestamptz - interval '1 minute')`,
			who.TokenID, now)
		if err != nil {
			// A database whose disk is full must not keep its operators out.
			s.log().Warn("last use of a token not noted", "token", who.TokenID, "error", err)
		}
	}
	return who, nil
}

// oneLine reports whether s can be a name: 1 to longest printable characters.
func oneLine(s string, longest int) bool {
	return s != "" && utf8.ValidString(s) && utf8.RuneCountInString(s) <= longest &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}
