package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

type usersCommand struct {
	Add     usersAdd     `cmd:"" help:"Add a person; tokens are made for people that are there."`
	List    usersList    `cmd:"" help:"People, by name, disabled ones too."`
	Role    usersRole    `cmd:"" help:"Give a person another role; his tokens allow no more than it."`
	Disable usersDisable `cmd:"" help:"End what a person may do, at once; his tokens are revoked."`
	Enable  usersEnable  `cmd:"" help:"Let a disabled person act again, with new tokens."`
}

// person is one as the API tells of him.
type person struct {
	Person   string     `json:"person"`
	Role     string     `json:"role"`
	Created  time.Time  `json:"created_at"`
	Disabled *time.Time `json:"disabled_at"`
	Tokens   int        `json:"tokens"`
}

type usersList struct {
	Role  string `placeholder:"ROLE" help:"Only those with this role."`
	State string `placeholder:"WORD" help:"active or disabled."`
	wholeListing
}

func (c *usersList) Run(a *app) error {
	titles := []string{"PERSON", "ROLE", "TOKENS", "ADDED", "DISABLED"}
	l := c.listing()
	return list(a, l, "/users", l.filters("role", c.Role, "state", c.State), titles, func(u person) []string {
		disabled := ""
		if u.Disabled != nil {
			disabled = clock(*u.Disabled)
		}
		return []string{u.Person, u.Role, strconv.Itoa(u.Tokens), clock(u.Created), disabled}
	})
}

// changed are the commands that change a person.
type changed struct {
	Person string `arg:"" help:"The person's name."`
	Output string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	connection
}

type usersAdd struct {
	changed
	Role string `required:"" enum:"viewer,consumer,operator,approver,admin" help:"viewer, consumer, operator, approver or admin."`
}

type usersRole struct {
	changed
	Role string `arg:"" enum:"viewer,consumer,operator,approver,admin" help:"viewer, consumer, operator, approver or admin."`
}

type usersDisable struct{ changed }

type usersEnable struct{ changed }

func (c *usersAdd) Run(a *app) error {
	return c.send(a, "/users", map[string]any{"person": c.Person, "role": c.Role})
}

func (c *usersRole) Run(a *app) error {
	return c.send(a, c.path("role"), map[string]any{"role": c.Role})
}

func (c *usersDisable) Run(a *app) error { return c.send(a, c.path("disable"), nil) }

func (c *usersEnable) Run(a *app) error { return c.send(a, c.path("enable"), nil) }

func (c *changed) path(verb string) string { return "/users/" + url.PathEscape(c.Person) + "/" + verb }

// send asks for it and says how the person stands then.
func (c *changed) send(a *app, path string, body any) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	var u person
	text, err := api.ask(a, http.MethodPost, path, nil, body, &u)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return a.rawJSON(text)
	}
	state := ""
	if u.Disabled != nil {
		state = ", disabled"
	}
	_, err = fmt.Fprintf(a.stdout, "%s: %s%s, %d tokens\n", printable(u.Person), u.Role, state, u.Tokens)
	return err
}
