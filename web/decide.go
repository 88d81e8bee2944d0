package web

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/gateway"
)

// person is who asks: identity is the person, not the token.
func (c *call) person() gateway.Person {
	return gateway.Person{Name: c.who.Person, Role: string(c.who.Role)}
}

// assignDrift gives an alert to a person, or back to everybody.
func (c *call) assignDrift() error {
	id, err := c.pathID("alert_id")
	if err != nil {
		return err
	}
	var asked struct {
		Person string `json:"person"`
	}
	if err := c.decode(&asked); err != nil {
		return err
	}
	to := ""
	if asked.Person != "" {
		u, err := c.api.Accounts.User(c.ctx(), asked.Person)
		if errors.Is(err, accounts.ErrUnknown) || err == nil && u.Disabled != nil {
			return &problem{Status: http.StatusUnprocessableEntity, Type: "not-as-asked", Detail: fmt.Sprintf("there is no user %q who could look at it; `edigw users list` shows who is there", asked.Person)}
		}
		if err != nil {
			return err
		}
		to = u.Person
	}
	return c.ruled(c.api.Gateway.Assign(c.ctx(), id, to, c.person()))
}

// decideDrift takes a decision, or keeps it for a second person.
func (c *call) decideDrift() error {
	id, err := c.pathID("alert_id")
	if err != nil {
		return err
	}
	var asked struct {
		Decision string `json:"decision"`
		SHA256   string `json:"payload_sha256"`
		Payloads int    `json:"payloads"`
		Reason   string `json:"reason"`
		Note     string `json:"note"`
	}
	if err := c.decode(&asked); err != nil {
		return err
	}
	d := gateway.Decision{Alert: id, Choice: gateway.Choice(asked.Decision), Payloads: asked.Payloads, Reason: asked.Reason, Note: asked.Note, By: c.person()}
	if d.Digest, err = digestOf(asked.SHA256); err != nil {
		return err
	}
	return c.ruled(c.api.Gateway.Decide(c.ctx(), d))
}

// approveDrift applies what another person proposed.
func (c *call) approveDrift() error {
	id, err := c.pathID("alert_id")
	if err != nil {
		return err
	}
	return c.ruled(c.api.Gateway.Approve(c.ctx(), id, c.person()))
}

// withdrawDrift drops a proposal.
func (c *call) withdrawDrift() error {
	id, err := c.pathID("alert_id")
	if err != nil {
		return err
	}
	var asked struct {
		Note string `json:"note"`
	}
	if err := c.decode(&asked); err != nil {
		return err
	}
	return c.ruled(c.api.Gateway.Withdraw(c.ctx(), id, asked.Note, c.person()))
}

func (c *call) ruled(r *gateway.Ruling, err error) error {
	if err != nil {
		return err
	}
	status := http.StatusOK
	if r.State == "awaiting_approval" {
		status = http.StatusAccepted
	}
	return c.reply(status, r)
}

// digestOf reads 64 hex digits; none are no digest.
func digestOf(text string) ([]byte, error) {
	if text == "" {
		return nil, nil
	}
	d, err := hex.DecodeString(text)
	if err != nil || len(d) != 32 {
		return nil, &problem{Status: http.StatusBadRequest, Type: "bad-body", Detail: "payload_sha256 must be 64 hex digits"}
	}
	return d, nil
}

// refused tells why nothing was changed.
func refused(r *gateway.Refusal) *problem {
	p := &problem{Status: http.StatusConflict, Type: "not-decided", Detail: "nothing was changed: " + r.Error()}
	switch r.Code {
	case gateway.NotApplicable, gateway.NoReason, gateway.WhichPayload:
		p.Status = http.StatusUnprocessableEntity
	case gateway.SamePerson:
		p.Status = http.StatusForbidden
	}
	for _, why := range r.Why {
		p.Faults = append(p.Faults, fault{Key: string(r.Code), Detail: why})
	}
	return p
}
