package accounts

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// StandingToken gives the one token that a place keeps for itself, such as a data
// folder: its label is the place's own. Where known, the text that stands in the
// place, is that token and still holds, it is given again, until n.Expires; else
// there is a new one. Every other token of that person and label is revoked: its
// text is gone, or somebody else's. Otherwise it is as FirstToken.
func (s *Store) StandingToken(ctx context.Context, by Identity, n NewToken, known string) (plain string, id uuid.UUID, err error) {
	if err := s.first(ctx, by, n); err != nil {
		return "", id, err
	}
	err = pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error {
		person, err := s.fits(ctx, tx, n) // and has the person's row: two at once wait for each other
		if err != nil {
			return err
		}
		others, err := s.standing(ctx, tx, person, n, known, &id)
		if err != nil {
			return err
		}
		for _, other := range others {
			if err := s.revokeTokenTx(ctx, tx, by, other); err != nil {
				return err
			}
		}
		if id != uuid.Nil {
			plain = known
			_, err := tx.Exec(ctx, `update api_token set expires_at = $2 where token_id = $1`, id, orNil(n.Expires))
			return err
		}
		var t Token
		plain, t, err = s.createTokenTx(ctx, tx, by, n, false)
		id = t.ID
		return err
	})
	if err != nil {
		return "", uuid.Nil, fmt.Errorf("standing token: %w", err)
	}
	return plain, id, nil
}

// standing looks for the token of a text, and gives the others of its label that
// are not revoked.
func (s *Store) standing(ctx context.Context, tx pgx.Tx, person string, n NewToken, known string, id *uuid.UUID) (others []uuid.UUID, err error) {
	rows, err := tx.Query(ctx, `
		select token_id, role, sha256, expires_at from api_token
		where person = $1 and label = $2 and revoked_at is null`, person, n.Label)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(known))
	var one uuid.UUID
	var role Role
	var digest []byte
	var expires *time.Time
	_, err = pgx.ForEachRow(rows, []any{&one, &role, &digest, &expires}, func() error {
		holds := expires == nil || s.now().Before(*expires)
		if holds && role == n.Role && subtle.ConstantTimeCompare(sum[:], digest) == 1 {
			*id = one
		} else {
			others = append(others, one)
		}
		return nil
	})
	return others, err
}

// ProlongToken moves the end of a token that holds, which no person has to do for
// a place that is in use. The error wraps ErrUnknown where it holds no more.
func (s *Store) ProlongToken(ctx context.Context, id uuid.UUID, until time.Time) error {
	err := s.Pool.QueryRow(ctx, `
		update api_token set expires_at = $2
		where token_id = $1 and revoked_at is null and expires_at > $3 returning token_id`, id, until, s.now()).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrUnknown
	}
	if err != nil {
		return fmt.Errorf("prolong token %s: %w", id, err)
	}
	return nil
}
