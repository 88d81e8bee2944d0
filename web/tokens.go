package web

import (
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/accounts"
)

// tokenItem is what is told of an API token.
type tokenItem struct {
	ID       string        `json:"token_id"`
	Person   string        `json:"person"`
	Role     accounts.Role `json:"role"`
	Label    string        `json:"label"`
	Created  time.Time     `json:"created_at"`
	Expires  *time.Time    `json:"expires_at,omitempty"`
	LastUsed *time.Time    `json:"last_used_at,omitempty"` // to the minute
	Revoked  *time.Time    `json:"revoked_at,omitempty"`
	Token    string        `json:"token,omitempty"` // its text, where it was just made
}

func tokenOf(t accounts.Token) tokenItem {
	return tokenItem{ID: t.ID.String(), Person: t.Person, Role: t.Role, Label: t.Label, Created: t.Created, Expires: t.Expires, LastUsed: t.LastUsed, Revoked: t.Revoked}
}

var tokenFilters = append([]Parameter{
	{"person", Text, nil},
	{"role", Text, roles},
	{"state", Text, []string{accounts.TokenValid, accounts.TokenExpired, accounts.TokenRevoked}},
}, paging...)

// listTokens gives tokens, the latest first.
func (c *call) listTokens() error {
	f := accounts.TokenFilter{Person: c.text["person"], Role: accounts.Role(c.text["role"]), State: c.text["state"], Limit: c.limit + 1}
	if c.cursor != "" {
		at, id, _ := strings.Cut(c.cursor, "\t")
		created, err := time.Parse(time.RFC3339Nano, at)
		if err != nil {
			return badCursor()
		}
		f.Before = &accounts.Token{Created: created}
		if f.Before.ID, err = uuid.Parse(id); err != nil {
			return badCursor()
		}
	}
	list, err := c.api.Accounts.ListTokens(c.ctx(), f)
	if err != nil {
		return err
	}
	items := make([]tokenItem, len(list))
	for i, t := range list {
		items[i] = tokenOf(t)
	}
	return c.reply(http.StatusOK, pageOf(&c.query, items, func(t tokenItem) string { return t.Created.Format(time.RFC3339Nano) + "\t" + t.ID }))
}

func (c *call) createToken() error {
	var asked struct {
		Person  string        `json:"person"`
		Role    accounts.Role `json:"role"`
		Label   string        `json:"label"`
		Expires *time.Time    `json:"expires_at"`
	}
	if err := c.decode(&asked); err != nil {
		return err
	}
	plain, t, err := c.api.Accounts.CreateToken(c.ctx(), c.who, accounts.NewToken{
		Person: asked.Person, Role: asked.Role, Label: asked.Label, Expires: orZero(asked.Expires)})
	if err != nil {
		return err
	}
	made := tokenOf(t)
	made.Token = plain
	return c.reply(http.StatusCreated, made)
}

func (c *call) revokeToken() error {
	id, err := c.pathID("token_id")
	if err != nil {
		return err
	}
	if err := c.api.Accounts.RevokeToken(c.ctx(), c.who, id); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
