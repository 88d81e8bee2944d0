package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/purge"
)

// purgeStanding is how the purge stands, and what its last run did.
type purgeStanding struct {
	purge.State
	Refuses bool          `json:"refuses"` // until a person has looked
	Success *time.Time    `json:"last_success_at,omitempty"`
	Last    *purge.Report `json:"last_run,omitempty"` // its steps are those of all partners together
}

// showPurge says how the purge stands, in all processes.
func (c *call) showPurge() error {
	s, err := c.api.Purger.Standing(c.ctx())
	if err != nil {
		return err
	}
	told := purgeStanding{State: s.State, Refuses: s.Refuses()}
	if !s.Success.IsZero() {
		told.Success = &s.Success
	}
	runs, err := c.api.Purger.Runs(c.ctx(), uuid.Nil, 1)
	if err != nil {
		return err
	}
	if len(runs) > 0 {
		told.Last = &runs[0]
	}
	return c.reply(http.StatusOK, told)
}

// listPurgeRuns gives runs of the purge, the latest first, without their partners.
func (c *call) listPurgeRuns() error {
	before, err := c.cursorID()
	if err != nil {
		return err
	}
	list, err := c.api.Purger.Runs(c.ctx(), before, c.limit+1)
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, pageOf(&c.query, list, func(r purge.Report) string { return r.ID.String() }))
}

// showPurgeRun gives a run with what it did, by partner.
func (c *call) showPurgeRun() error {
	id, err := c.pathID("run_id")
	if err != nil {
		return err
	}
	r, err := c.api.Purger.Get(c.ctx(), id)
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, r)
}

// previewPurge counts what a purge would remove now.
func (c *call) previewPurge() error {
	f, err := c.foreseePurge(nil)
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, f)
}

// foreseePurge counts what would go by the windows in force; of partners in set by those
// that are set there. One is counted at a time: each reads all that is due.
func (c *call) foreseePurge(set map[string]partners.Retention) (*purge.Foreseen, error) {
	if !c.api.foreseeing.TryLock() {
		return nil, &problem{Status: http.StatusServiceUnavailable, Type: "unavailable", Detail: "a preview is being counted for somebody; try again when it is there", RetryAfter: "30"}
	}
	defer c.api.foreseeing.Unlock()
	f, err := c.api.Purger.Preview(c.ctx(), set)
	if errors.Is(err, context.DeadlineExceeded) && c.ctx().Err() == nil {
		return nil, &problem{Status: http.StatusServiceUnavailable, Type: "unavailable", RetryAfter: "3600",
			Detail: "so much is due that it could not be counted within " + purge.PreviewEnds.String() + "; nothing is told rather than an estimate: look at the runs' reports, or ask when less is received"}
	}
	return f, err
}

// beginPurge begins a run; its report tells how it goes on.
func (c *call) beginPurge() error {
	r, err := c.api.Purge(c.ctx(), c.who)
	if err != nil {
		return err
	}
	if r.State == purge.Refused {
		return &problem{Status: http.StatusConflict, Type: "not-decided", Detail: "nothing may be purged: " + r.Reason}
	}
	r.Steps = []purge.Step{}
	return c.reply(http.StatusAccepted, r)
}

// pausePurge stops the purge between two transactions, and keeps it from beginning.
func (c *call) pausePurge() error {
	var asked struct {
		Reason string `json:"reason"`
	}
	if err := c.decode(&asked); err != nil {
		return err
	}
	if strings.TrimSpace(asked.Reason) == "" {
		return notAsAsked("reason must say why nothing is to be purged; whoever finds it so is shown it")
	}
	return c.changePurge("retention.paused", asked, purge.Pause(c.who.Person, asked.Reason))
}

// resumePurge ends a pause.
func (c *call) resumePurge() error {
	return c.changePurge("retention.resumed", struct{}{}, purge.Resume())
}

// confirmClock says that the database's clock is right, which had jumped.
func (c *call) confirmClock() error {
	var asked struct {
		Note string `json:"note"`
	}
	if err := c.decode(&asked); err != nil {
		return err
	}
	if strings.TrimSpace(asked.Note) == "" {
		return notAsAsked("note must say how it is known that the database's clock is right; it stands in the audit log")
	}
	s, err := c.api.Purger.State(c.ctx())
	if err != nil {
		return err
	}
	return c.changePurge("retention.clock_confirmed", map[string]any{"note": asked.Note, "jumped_from": s.JumpedFrom, "jumped_to": s.JumpedTo},
		purge.Confirm())
}

func notAsAsked(detail string) error {
	return &problem{Status: http.StatusUnprocessableEntity, Type: "not-as-asked", Detail: detail}
}

// changePurge does something about the purge with its audit line, and tells how it stands
// then.
func (c *call) changePurge(action string, detail any, do outbox.Change) error {
	err := c.api.Change(c.ctx(), c.who, accounts.Entry{Action: action, Subject: "retention"}, detail, do)
	if err != nil {
		return err
	}
	return c.showPurge()
}
