package main

import (
	"net/http"
	"strconv"
	"time"
)

type effectsCommand struct {
	List    effectsList    `cmd:"" help:"What events cause outside the database, and where it stands."`
	Resolve effectsResolve `cmd:"" help:"Say what became of an effect that was given up or that nobody knows of."`
}

type effectsList struct {
	Partner string `placeholder:"ID" help:"Only this partner's."`
	Target  string `placeholder:"NAME" help:"Only at this target, like folder."`
	State   string `placeholder:"WORD" help:"pending, started, done, given_up, unknown, or stuck for the last two."`
	listing
}

// effect is one as the API lists it.
type effect struct {
	Partner  string     `json:"partner"`
	Event    string     `json:"event_id"`
	Target   string     `json:"target"`
	State    string     `json:"state"`
	Attempts int        `json:"attempts"`
	Failure  string     `json:"failure"`
	Created  time.Time  `json:"created_at"`
	Next     *time.Time `json:"next_try"`
}

func (c *effectsList) Run(a *app) error {
	return list(a, c.listing, "/effects", c.filters("partner", c.Partner, "target", c.Target, "state", c.State),
		[]string{"CAUSED", "PARTNER", "TARGET", "STATE", "FAILED", "NEXT TRY", "EVENT", "FAILURE"}, func(e effect) []string {
			return []string{clock(e.Created), e.Partner, e.Target, e.State, strconv.Itoa(e.Attempts), clockOrNone(e.Next), e.Event, e.Failure}
		})
}

// clockOrNone writes a time that may not be there.
func clockOrNone(t *time.Time) string {
	if t == nil {
		return ""
	}
	return clock(*t)
}

type effectsResolve struct {
	Partner string `arg:"" help:"The partner's id."`
	Event   string `arg:"" help:"The event's id, as a list shows it."`
	Target  string `default:"folder" placeholder:"NAME" help:"The target."`
	As      string `required:"" placeholder:"WORD" help:"done: it has happened; repeat: it has not, and is to be tried again from the start."`
	Note    string `required:"" help:"How you found out; it stands in the audit log."`
	connection
}

func (c *effectsResolve) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	asked := map[string]string{"partner": c.Partner, "event_id": c.Event, "target": c.Target, "as": c.As, "note": c.Note}
	_, err = api.ask(a, http.MethodPost, "/effects/resolve", nil, asked, nil)
	return err
}
