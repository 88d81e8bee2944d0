package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/user"
	"time"

	"github.com/edigw/edigw/accounts"
)

type tokensCommand struct {
	Create tokensCreate `cmd:"" help:"Make a token for a person; its text is shown this once."`
	List   tokensList   `cmd:"" help:"Tokens, the latest first, revoked ones too."`
	Revoke tokensRevoke `cmd:"" help:"End a token for good."`
}

// tokensCreate goes through the API like every verb, but for the first token:
// where there is no gateway to ask, it uses the database itself.
type tokensCreate struct {
	Role    string        `required:"" enum:"viewer,consumer,operator,approver,admin" help:"viewer, consumer, operator, approver or admin."`
	Person  string        `placeholder:"NAME" help:"Who acts with it, one of edigw users list; the user at the keyboard if left out. Two tokens of one person are not two people."`
	Label   string        `default:"command line" help:"Tells the person's tokens apart."`
	Expires time.Duration `placeholder:"DURATION" help:"For how long it holds, like 2160h; for ever if left out."`
	Output  string        `short:"o" enum:"table,json" default:"table" help:"table or json."`
	connection
	databaseFlags
}

func (c *tokensCreate) Run(a *app) error {
	if c.Person == "" {
		c.Person = "local"
		if u, err := user.Current(); err == nil && u.Username != "" {
			c.Person = u.Username
		}
	}
	expires, err := expiry(c.Expires)
	if err != nil {
		return err
	}
	direct, err := c.direct(a)
	if err != nil {
		return err
	}
	if direct {
		return c.first(a, expires)
	}
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	send := map[string]any{"person": c.Person, "role": c.Role, "label": c.Label}
	if !expires.IsZero() {
		send["expires_at"] = expires
	}
	var made struct {
		Token string `json:"token"`
	}
	body, err := api.ask(a, http.MethodPost, "/tokens", nil, send, &made)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return a.rawJSON(body)
	}
	_, err = fmt.Fprintln(a.stdout, made.Token)
	return err
}

// expiry is when a token ends that holds for a while; zero is never. A while that is
// over before it begins is nobody's wish, least of all for ever.
func expiry(holds time.Duration) (time.Time, error) {
	switch {
	case holds < 0:
		return time.Time{}, usage("--expires must be a while like 2160h, not %s", holds)
	case holds == 0:
		return time.Time{}, nil
	}
	return time.Now().UTC().Add(holds), nil
}

// direct reports whether to make the token in the database: no address of an
// API is given or written down, or a database is named and no API.
func (c *tokensCreate) direct(a *app) (bool, error) {
	if c.API != "" {
		return false, nil
	}
	if c.DatabaseURL != "" {
		return true, nil
	}
	_, err := os.Stat(localAccessFile(a.grammar.DataDir))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return false, err
}

func (c *tokensCreate) first(a *app, expires time.Time) (err error) {
	db, err := a.openDatabase(a.ctx, c.databaseFlags, a.logger("text", "warn"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.close(a.ctx)) }()
	if err := db.migrated(a.ctx); err != nil {
		return err
	}
	store := &accounts.Store{Pool: db.pool}
	plain, t, err := store.FirstToken(a.ctx, accounts.Identity{Person: "command line", Role: accounts.Admin}, accounts.NewToken{
		Person: c.Person, Role: accounts.Role(c.Role), Label: c.Label, Expires: expires})
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return a.json(struct {
			ID      string        `json:"token_id"`
			Person  string        `json:"person"`
			Role    accounts.Role `json:"role"`
			Label   string        `json:"label"`
			Created time.Time     `json:"created_at"`
			Expires *time.Time    `json:"expires_at,omitempty"`
			Token   string        `json:"token"`
		}{t.ID.String(), t.Person, t.Role, t.Label, t.Created, t.Expires, plain})
	}
	_, err = fmt.Fprintln(a.stdout, plain)
	return err
}

type tokensList struct {
	Person string `placeholder:"NAME" help:"Only this person's."`
	Role   string `placeholder:"ROLE" help:"Only those with this role."`
	State  string `placeholder:"WORD" help:"valid, expired or revoked."`
	wholeListing
}

func (c *tokensList) Run(a *app) error {
	type token struct {
		ID       string     `json:"token_id"`
		Person   string     `json:"person"`
		Role     string     `json:"role"`
		Label    string     `json:"label"`
		Created  time.Time  `json:"created_at"`
		Expires  *time.Time `json:"expires_at"`
		LastUsed *time.Time `json:"last_used_at"`
		Revoked  *time.Time `json:"revoked_at"`
	}
	titles := []string{"TOKEN", "PERSON", "ROLE", "LABEL", "CREATED", "LAST USED", "EXPIRES", "REVOKED"}
	l := c.listing()
	return list(a, l, "/tokens", l.filters("person", c.Person, "role", c.Role, "state", c.State), titles, func(t token) []string {
		revoked := ""
		if t.Revoked != nil {
			revoked = clock(*t.Revoked)
		}
		return []string{t.ID, t.Person, t.Role, t.Label, clock(t.Created), day(t.LastUsed), day(t.Expires), revoked}
	})
}

type tokensRevoke struct {
	Token string `arg:"" help:"The token's id, as a list shows it."`
	connection
}

func (c *tokensRevoke) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	if _, err := api.ask(a, http.MethodDelete, "/tokens/"+url.PathEscape(c.Token), nil, nil, nil); err != nil {
		return err
	}
	a.progress("token %s is revoked", c.Token)
	return nil
}
