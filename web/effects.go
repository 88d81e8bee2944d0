package web

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/outbox"
)

var effectFilters = append([]Parameter{
	{"partner", Text, nil},
	{"target", Text, nil},
	{"state", Text, []string{"pending", "started", "done", "given_up", "unknown", "stuck"}},
}, paging...)

// effect is something an event causes outside the database.
type effect struct {
	*outbox.Effect
	State string     `json:"state"`
	Next  *time.Time `json:"next_try,omitempty"` // of one that is still tried
}

func effectOf(e *outbox.Effect) effect {
	out := effect{Effect: e, State: e.State.String()}
	if e.State == outbox.Pending || e.State == outbox.Started {
		at := e.DueAt.UTC()
		out.Next = &at
	}
	return out
}

// listEffects gives effects, those of the latest events first.
func (c *call) listEffects() error {
	f := outbox.EffectFilter{Partner: c.text["partner"], Target: c.text["target"], Limit: c.limit + 1}
	switch word := c.text["state"]; word {
	case "":
	case "stuck":
		f.States = []outbox.State{outbox.GivenUp, outbox.Unknown}
	default:
		f.States = []outbox.State{outbox.StateOf(word)}
	}
	if c.cursor != "" {
		var id string
		f.Before = &outbox.EffectRef{}
		id, f.Before.Partner, _ = strings.Cut(c.cursor, "\t")
		f.Before.Partner, f.Before.Target, _ = strings.Cut(f.Before.Partner, "\t")
		var err error
		if f.Before.Event, err = uuid.Parse(id); err != nil {
			return badCursor()
		}
	}
	list, err := c.api.Effects.List(c.ctx(), f)
	if err != nil {
		return err
	}
	items := make([]effect, len(list))
	for i, e := range list {
		items[i] = effectOf(e)
	}
	return c.reply(http.StatusOK, pageOf(&c.query, items, func(e effect) string {
		return e.Event.String() + "\t" + e.Partner + "\t" + e.Target
	}))
}

// resolveEffect ends by hand what waits for an operator.
func (c *call) resolveEffect() error {
	var asked struct {
		Partner string    `json:"partner"`
		Event   uuid.UUID `json:"event_id"`
		Target  string    `json:"target"`
		As      string    `json:"as"`
		Note    string    `json:"note"`
	}
	if err := c.decode(&asked); err != nil {
		return err
	}
	if asked.As != "done" && asked.As != "repeat" {
		return &problem{Status: http.StatusUnprocessableEntity, Type: "not-as-asked", Detail: "as must be done or repeat"}
	}
	if asked.Target == "" && asked.As == "done" {
		return &problem{Status: http.StatusUnprocessableEntity, Type: "not-as-asked", Detail: "target is missing: at which the effect is done"}
	}
	r := outbox.EffectRef{Partner: asked.Partner, Event: asked.Event, Target: asked.Target}
	err := c.api.Gateway.ResolveEffect(c.ctx(), r, asked.As == "repeat", asked.Note, c.person())
	var no *gateway.Refusal
	switch {
	case errors.As(err, &no):
		return &problem{Status: http.StatusUnprocessableEntity, Type: "not-as-asked", Detail: no.Error()}
	case errors.Is(err, outbox.ErrNotStuck):
		detail := "no such effect waits for an operator: it is not there, is done, or is still tried"
		if asked.Target == "" {
			detail = "no acknowledgement with this id leaves to this partner by another way than the response, or it is being sent just now"
		}
		return &problem{Status: http.StatusNotFound, Type: "not-found", Detail: detail}
	case err != nil:
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
