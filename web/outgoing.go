package web

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/outbox"
)

// outgoing is whether anything may leave, and what would.
type outgoing struct {
	outbox.Hold
	Waiting []outbox.Waiting `json:"waiting"`
}

func (c *call) outgoingNow() (o outgoing, err error) {
	if o.Hold, err = c.api.Outgoing.Standing(c.ctx()); err != nil {
		return o, err
	}
	list, err := c.api.Partners.List(c.ctx())
	if err != nil {
		return o, err
	}
	var ids []string
	for _, p := range list {
		ids = append(ids, p.ID, p.Organisation) // our keys' events are the organisation's
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	o.Waiting, err = c.api.Outgoing.Waiting(c.ctx(), ids)
	return o, err
}

// showOutgoing says whether anything may leave, and what waits.
func (c *call) showOutgoing() error {
	o, err := c.outgoingNow()
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, o)
}

// holdOutgoing keeps everything from leaving.
func (c *call) holdOutgoing() error {
	var asked struct {
		Reason string `json:"reason"`
	}
	if err := c.decode(&asked); err != nil {
		return err
	}
	if strings.TrimSpace(asked.Reason) == "" {
		return &problem{Status: http.StatusUnprocessableEntity, Type: "not-as-asked", Detail: "reason must say why nothing is to leave; whoever finds it so is shown it"}
	}
	if err := c.api.Change(c.ctx(), c.who, accounts.Entry{Action: "outgoing.held", Subject: "outgoing"}, asked, outbox.HoldAll(c.who.Person, asked.Reason)); err != nil {
		return err
	}
	return c.showOutgoing()
}

// confirmOutgoing lets everything leave; what waited then stands in the answer and in the
// audit log.
func (c *call) confirmOutgoing() error {
	var asked struct {
		Note string `json:"note"`
	}
	if err := c.decode(&asked); err != nil {
		return err
	}
	if strings.TrimSpace(asked.Note) == "" {
		return &problem{Status: http.StatusUnprocessableEntity, Type: "not-as-asked", Detail: "note must say how it is known that what waits may leave from this database; it stands in the audit log"}
	}
	was, err := c.outgoingNow()
	if err != nil {
		return err
	}
	err = c.api.Change(c.ctx(), c.who, accounts.Entry{Action: "outgoing.confirmed", Subject: "outgoing"},
		map[string]any{"note": asked.Note, "reason": was.Reason, "held_since": was.Since, "waiting": was.Waiting}, outbox.Confirm(c.who.Person))
	if errors.Is(err, outbox.ErrNotHeld) {
		return &problem{Status: http.StatusConflict, Type: "not-decided", Detail: err.Error()}
	}
	if err != nil {
		return err
	}
	now, err := c.api.Outgoing.Standing(c.ctx())
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, outgoing{now, was.Waiting})
}
