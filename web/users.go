package web

import (
	"net/http"
	"time"

	"github.com/edigw/edigw/accounts"
)

// userItem is a person who may act.
type userItem struct {
	Person   string        `json:"person"`
	Role     accounts.Role `json:"role"`
	Created  time.Time     `json:"created_at"`
	Disabled *time.Time    `json:"disabled_at,omitempty"`
	Tokens   int           `json:"tokens"` // that prove the person now
}

func userOf(u accounts.User) userItem {
	return userItem{Person: u.Person, Role: u.Role, Created: u.Created, Disabled: u.Disabled, Tokens: u.Tokens}
}

// roles are those of people and of their tokens.
var roles = []string{string(accounts.Viewer), string(accounts.Consumer), string(accounts.Operator), string(accounts.Approver), string(accounts.Admin)}

var userFilters = append([]Parameter{
	{"role", Text, roles},
	{"state", Text, []string{"active", "disabled"}},
}, paging...)

// listUsers gives people, by name.
func (c *call) listUsers() error {
	list, err := c.api.Accounts.Users(c.ctx())
	if err != nil {
		return err
	}
	var items []userItem
	for _, u := range list {
		role, state := c.text["role"], c.text["state"]
		if (role == "" || role == string(u.Role)) && (state == "" || (state == "disabled") == (u.Disabled != nil)) {
			items = append(items, userOf(u))
		}
	}
	return c.reply(http.StatusOK, pageByName(&c.query, items, func(u userItem) string { return u.Person }))
}

func (c *call) addUser() error {
	var asked struct {
		Person string        `json:"person"`
		Role   accounts.Role `json:"role"`
	}
	if err := c.decode(&asked); err != nil {
		return err
	}
	u, err := c.api.Accounts.AddUser(c.ctx(), c.who, asked.Person, asked.Role)
	if err != nil {
		return err
	}
	return c.reply(http.StatusCreated, userOf(u))
}

func (c *call) setUserRole() error {
	var asked struct {
		Role accounts.Role `json:"role"`
	}
	if err := c.decode(&asked); err != nil {
		return err
	}
	return c.changeUser(func(person string) (accounts.User, error) {
		return c.api.Accounts.SetRole(c.ctx(), c.who, person, asked.Role)
	})
}

func (c *call) disableUser() error {
	return c.changeUser(func(person string) (accounts.User, error) { return c.api.Accounts.Disable(c.ctx(), c.who, person) })
}

func (c *call) enableUser() error {
	return c.changeUser(func(person string) (accounts.User, error) { return c.api.Accounts.Enable(c.ctx(), c.who, person) })
}

// changeUser changes the person that the path names.
func (c *call) changeUser(change func(person string) (accounts.User, error)) error {
	person, err := c.path("person")
	if err != nil {
		return err
	}
	u, err := change(person)
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, userOf(u))
}
