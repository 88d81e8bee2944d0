package accounts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrLastAdmin is wrapped where nobody would be left who may add people.
var ErrLastAdmin = errors.New("this is the last administrator")

// User is a person who may act. Names that differ in case alone are one person's:
// who approves must not be the proposer spelt otherwise.
type User struct {
	Person   string     `json:"person"`
	Role     Role       `json:"role"` // the most that a token of the person allows
	Created  time.Time  `json:"created"`
	Disabled *time.Time `json:"disabled,omitempty"`
	Tokens   int        `json:"tokens"` // that prove the person now
}

// AddUser adds a person. by is who asks for it. The error wraps ErrUnfit if the
// name is unfit or taken, by a disabled person too, or the role unknown.
func (s *Store) AddUser(ctx context.Context, by Identity, person string, role Role) (User, error) {
	if _, err := ParseRole(string(role)); err != nil {
		return User{}, fmt.Errorf("%w: %w", ErrUnfit, err)
	}
	if !oneLine(person, 100) || strings.TrimSpace(person) != person {
		return User{}, fmt.Errorf("%w: a person's name must be printable, on one line, of at most 100 characters, without space around it", ErrUnfit)
	}
	u := User{Person: person, Role: role, Created: s.now().Truncate(time.Microsecond)}
	err := s.people(ctx, func(tx pgx.Tx, all []User) error {
		if other := find(all, person); other != nil {
			return fmt.Errorf("%w: there is %s already", ErrUnfit, other)
		}
		if _, err := tx.Exec(ctx, `insert into account (person, role, created_at) values ($1, $2, $3)`, u.Person, string(u.Role), u.Created); err != nil {
			return err
		}
		return s.auditUser(ctx, tx, by, "user.added", u.Person, map[string]any{"role": role})
	})
	if err != nil {
		return User{}, fmt.Errorf("add %s: %w", person, err)
	}
	return u, nil
}

// SetRole gives a person another role. Tokens that were made for more allow no
// more than it from now on. The error wraps ErrUnknown if there is no such person,
// ErrUnfit if there is no such role, ErrLastAdmin if no administrator were left.
func (s *Store) SetRole(ctx context.Context, by Identity, person string, role Role) (User, error) {
	if _, err := ParseRole(string(role)); err != nil {
		return User{}, fmt.Errorf("%w: %w", ErrUnfit, err)
	}
	return s.change(ctx, by, person, "user.role", func(u *User) map[string]any {
		before := u.Role
		u.Role = role
		return map[string]any{"role": role, "before": before}
	})
}

// Disable ends what a person may do, at once and with every token: those are
// revoked, so that whoever is enabled again gets new ones. Errors are those of
// SetRole.
func (s *Store) Disable(ctx context.Context, by Identity, person string) (User, error) {
	return s.change(ctx, by, person, "user.disabled", func(u *User) map[string]any {
		if u.Disabled == nil {
			now := s.now().Truncate(time.Microsecond)
			u.Disabled = &now
		}
		revoked := u.Tokens
		u.Tokens = 0
		return map[string]any{"tokens_revoked": revoked}
	})
}

// Enable lets a person who was disabled act again. Errors are those of SetRole.
func (s *Store) Enable(ctx context.Context, by Identity, person string) (User, error) {
	return s.change(ctx, by, person, "user.enabled", func(u *User) map[string]any {
		u.Disabled = nil
		return map[string]any{"role": u.Role}
	})
}

// change writes what edit makes of a person, unless it leaves him as he is.
func (s *Store) change(ctx context.Context, by Identity, person, action string, edit func(*User) (detail map[string]any)) (User, error) {
	var u User
	err := s.people(ctx, func(tx pgx.Tx, all []User) error {
		found := find(all, person)
		if found == nil {
			return fmt.Errorf("there is no user %q: %w", person, ErrUnknown)
		}
		before := *found
		detail := edit(found)
		if u = *found; u == before {
			return nil
		}
		if before.mayAdd() && !anyAdmin(all) {
			return fmt.Errorf("%s: %w; make another one first", u.Person, ErrLastAdmin)
		}
		if _, err := tx.Exec(ctx, `update account set role = $2, disabled_at = $3 where person = $1`, u.Person, string(u.Role), u.Disabled); err != nil {
			return err
		}
		if u.Disabled != nil {
			if _, err := tx.Exec(ctx, `update api_token set revoked_at = $2 where person = $1 and revoked_at is null`, u.Person, *u.Disabled); err != nil {
				return err
			}
		}
		return s.auditUser(ctx, tx, by, action, u.Person, detail)
	})
	if err != nil {
		return User{}, fmt.Errorf("%s: %w", action, err)
	}
	return u, nil
}

// people runs a change of who may act with all people at hand. Changes wait for
// each other: the last administrator must not go in two of them at once. There
// are few, and nothing else waits.
func (s *Store) people(ctx context.Context, do func(tx pgx.Tx, all []User) error) error {
	return pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `lock table account in share row exclusive mode`); err != nil {
			return err
		}
		all, err := s.readUsers(ctx, tx)
		if err != nil {
			return err
		}
		return do(tx, all)
	})
}

// Users gives everybody, disabled people too, by name.
func (s *Store) Users(ctx context.Context) ([]User, error) {
	users, err := s.readUsers(ctx, s.Pool)
	if err != nil {
		return nil, fmt.Errorf("list users: %w", err)
	}
	return users, nil
}

// User finds a person by name. The error wraps ErrUnknown if there is none.
func (s *Store) User(ctx context.Context, person string) (User, error) {
	users, err := s.Users(ctx)
	if err != nil {
		return User{}, err
	}
	if u := find(users, person); u != nil {
		return *u, nil
	}
	return User{}, fmt.Errorf("there is no user %q: %w", person, ErrUnknown)
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func (s *Store) readUsers(ctx context.Context, q querier) ([]User, error) {
	rows, err := q.Query(ctx, `
		select a.person, a.role, a.created_at, a.disabled_at,
			(select count(*) from api_token t where t.person = a.person and t.revoked_at is null and (t.expires_at is null or t.expires_at > $1))
		from account a order by a.person`, s.now())
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (u User, err error) {
		err = row.Scan(&u.Person, &u.Role, &u.Created, &u.Disabled, &u.Tokens)
		u.Created = u.Created.UTC()
		if u.Disabled != nil {
			*u.Disabled = u.Disabled.UTC()
		}
		return u, err
	})
}

// find finds a person: whoever is spelt so, else in another case.
func find(all []User, person string) *User {
	for i := range all {
		if all[i].Person == person {
			return &all[i]
		}
	}
	for i := range all {
		if strings.EqualFold(all[i].Person, person) {
			return &all[i]
		}
	}
	return nil
}

func (u User) mayAdd() bool { return u.Role == Admin && u.Disabled == nil }

func anyAdmin(all []User) bool {
	for _, u := range all {
		if u.mayAdd() {
			return true
		}
	}
	return false
}

// String says who it is, in words.
func (u User) String() string {
	text := fmt.Sprintf("%s, %s", u.Person, u.Role)
	if u.Disabled != nil {
		text += ", disabled"
	}
	return text
}

func (s *Store) auditUser(ctx context.Context, tx pgx.Tx, by Identity, action, person string, detail map[string]any) error {
	text, err := json.Marshal(detail)
	if err != nil {
		return err
	}
	return s.Audit(ctx, tx, Entry{Who: by.Person, Role: by.Role, Action: action, Subject: person, Detail: text})
}

// fits refuses a token that its person may not have, and gives the person's name
// as it is written. tx holds the person's row until the token is made: whoever is
// disabled meanwhile waits, and takes the token with the others.
func (s *Store) fits(ctx context.Context, tx pgx.Tx, n NewToken) (string, error) {
	all, err := s.readUsers(ctx, tx)
	if err != nil {
		return "", err
	}
	u := find(all, n.Person)
	if u == nil {
		return "", fmt.Errorf("%w: there is no user %q; `edigw users add` adds one", ErrUnfit, n.Person)
	}
	var disabled *time.Time
	err = tx.QueryRow(ctx, `select role, disabled_at from account where person = $1 for no key update`, u.Person).Scan(&u.Role, &disabled)
	switch {
	case err != nil:
		return "", err
	case disabled != nil:
		return "", fmt.Errorf("%w: %s is disabled; `edigw users enable` ends that", ErrUnfit, u.Person)
	case !u.Role.AtLeast(n.Role):
		return "", fmt.Errorf("%w: %s has the role %s, and a token allows no more; `edigw users role` gives another one", ErrUnfit, u.Person, u.Role)
	}
	return u.Person, nil
}

// least gives the lesser of two roles.
func least(a, b Role) Role {
	if a.AtLeast(b) {
		return b
	}
	return a
}

// FirstToken makes a token for a person who need not be there yet: for whoever
// holds the database itself, where nobody can be asked. Errors are those of
// CreateToken, but for a label that is there already: who has lost the text takes
// another.
func (s *Store) FirstToken(ctx context.Context, by Identity, n NewToken) (string, Token, error) {
	if err := s.first(ctx, by, n); err != nil {
		return "", Token{}, err
	}
	return s.createToken(ctx, by, n, false)
}

// first adds the person of a token who is not there yet.
func (s *Store) first(ctx context.Context, by Identity, n NewToken) error {
	if _, err := s.User(ctx, n.Person); !errors.Is(err, ErrUnknown) {
		return err
	}
	if _, err := s.AddUser(ctx, by, n.Person, n.Role); err != nil && !errors.Is(err, ErrUnfit) {
		return err
	} // unfit: another process was first, or what follows says why
	return nil
}
