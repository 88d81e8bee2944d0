package main

import (
	"encoding/json"
	"time"
)

type auditCommand struct {
	List auditList `cmd:"" help:"Who did what to what, the latest first."`
}

type auditList struct {
	Person  string    `placeholder:"NAME" help:"Only what this person did."`
	Action  string    `placeholder:"WORD" help:"Only this act, like drift.decided."`
	Subject string    `placeholder:"ID" help:"Only what was done to this: an id or a name."`
	Partner string    `placeholder:"ID" help:"Only what touched this partner's data."`
	After   time.Time `placeholder:"TIME" help:"Done then or later, like 2026-11-28T09:14:00Z."`
	Before  time.Time `placeholder:"TIME" help:"Done earlier than that."`
	listing
}

// auditEntry is a line of the audit log as the API lists it.
type auditEntry struct {
	At      time.Time       `json:"at"`
	Person  string          `json:"person"`
	Role    string          `json:"role"`
	Action  string          `json:"action"`
	Subject string          `json:"subject"`
	Partner string          `json:"partner"`
	Detail  json.RawMessage `json:"detail"`
}

func (c *auditList) Run(a *app) error {
	q := c.filters("person", c.Person, "action", c.Action, "subject", c.Subject, "partner", c.Partner, "after", instant(c.After), "before", instant(c.Before))
	return list(a, c.listing, "/audit", q, []string{"AT", "PERSON", "ROLE", "ACTION", "SUBJECT", "PARTNER", "DETAIL"}, func(e auditEntry) []string {
		detail := string(e.Detail)
		if detail == "{}" {
			detail = ""
		}
		return []string{clock(e.At), e.Person, e.Role, e.Action, e.Subject, e.Partner, shorten(detail, 100)}
	})
}
