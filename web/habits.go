package web

import (
	"errors"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/habits"
)

var gapFilters = append([]Parameter{
	{"partner", Text, nil},
	{"state", Text, []string{"open", "closed"}},
}, paging...)

// partnerHabits says what a partner usually does, and what that speaks for.
func (c *call) partnerHabits() error {
	id, err := c.path("partner")
	if err != nil {
		return err
	}
	p, err := c.api.Partners.Get(c.ctx(), id)
	if err != nil {
		return err
	}
	report, err := c.api.Habits.Of(c.ctx(), p)
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, report)
}

// listGaps gives numbers that did not come, the latest first.
func (c *call) listGaps() error {
	f := habits.GapFilter{Partner: c.text["partner"], State: c.text["state"], Limit: c.limit + 1}
	if c.cursor != "" {
		id, partner, _ := strings.Cut(c.cursor, "\t")
		gap, err := uuid.Parse(id)
		if err != nil {
			return badCursor()
		}
		f.Before = &habits.GapRef{Partner: partner, ID: gap}
	}
	list, err := c.api.Habits.Gaps(c.ctx(), f)
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, pageOf(&c.query, list, func(g *habits.Gap) string { return g.ID.String() + "\t" + g.Partner }))
}

// dismissGap closes a gap by hand.
func (c *call) dismissGap() error {
	partner, err := c.path("partner")
	if err != nil {
		return err
	}
	id, err := c.pathID("gap_id")
	if err != nil {
		return err
	}
	var asked struct {
		Reason string `json:"reason"`
	}
	if err := c.decode(&asked); err != nil {
		return err
	}
	if strings.TrimSpace(asked.Reason) == "" {
		return &problem{Status: http.StatusUnprocessableEntity, Type: "not-as-asked", Detail: "reason must say what became of the numbers; it stands in the gap and in the audit log"}
	}
	p, err := c.api.Partners.Get(c.ctx(), partner)
	if err != nil {
		return err
	}
	err = c.api.Change(c.ctx(), c.who, accounts.Entry{Action: "gap.dismissed", Subject: id.String(), Partner: partner}, asked, c.api.DismissGap(p, id, c.who.Person, asked.Reason))
	if errors.Is(err, habits.ErrNoGap) {
		return &problem{Status: http.StatusNotFound, Type: "not-found", Detail: "there is no such open gap: `edigw gaps list` shows those there are"}
	}
	if err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
