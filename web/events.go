package web

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/edigw/edigw/outbox"
)

var feedFilters = []Parameter{
	{"after", Cursor, nil},
	{"partner", Text, nil},
	{"type", Text, nil},
	{"limit", Limit, nil},
}

// eventPage is what a reader of the feed gets at once.
type eventPage struct {
	Items []json.RawMessage `json:"items"` // CloudEvents
	Next  string            `json:"next"`  // to ask with after next, whether there were items or not
	More  bool              `json:"more"`  // there may be more at once
}

// listEvents is the pull feed: the events after a cursor, which passes no event over
// that is committed late.
func (c *call) listEvents() error {
	f := outbox.FeedFilter{Partner: c.text["partner"], Limit: c.limit}
	patterns := []string{"*"}
	if v := c.text["type"]; v != "" {
		patterns = strings.Split(v, ",")
	}
	types, unknown := outbox.EventTypes(patterns...)
	if unknown != "" {
		return unknownType(unknown)
	}
	f.Types = types
	if c.cursor != "" {
		var err error
		if f.After, err = outbox.ParsePlace(c.cursor); err != nil {
			return unfitParameter("parameter \"after\" is not one that this feed gave: take \"next\" of the answer before, or leave it out to begin at the oldest event")
		}
	}
	read, err := c.api.Feed.Read(c.ctx(), f)
	if errors.Is(err, outbox.ErrAhead) {
		return badParameter("parameter \"after\": %v", err)
	}
	if err != nil {
		return err
	}
	out := eventPage{Items: make([]json.RawMessage, len(read.Events)), Next: base64.RawURLEncoding.EncodeToString([]byte(read.Next.String())), More: read.More}
	for i, r := range read.Events {
		out.Items[i] = r.AppendCloudEvent(nil)
	}
	return c.reply(http.StatusOK, out)
}

// shownEvent is one event, and what became of it at the subscriptions that keep a log.
type shownEvent struct {
	Event    json.RawMessage        `json:"event"`
	Attempts []outbox.LoggedAttempt `json:"attempts"`
}

func (c *call) showEvent() error {
	partner, err := c.path("partner")
	if err != nil {
		return err
	}
	id, err := c.pathID("event_id")
	if err != nil {
		return err
	}
	r, err := c.api.Feed.Event(c.ctx(), partner, id)
	if err != nil {
		return subscriptionProblem(err)
	}
	log, err := c.api.Subscriptions.Attempts(c.ctx(), partner, id)
	if err != nil {
		return err
	}
	if log == nil {
		log = []outbox.LoggedAttempt{}
	}
	return c.reply(http.StatusOK, shownEvent{r.AppendCloudEvent(nil), log})
}

func unknownType(name string) error {
	return unfitParameter("parameter \"type\": nothing is called %q; there are %s, and with an asterisk like document.* all of a kind", name, strings.Join(outbox.Types, ", "))
}
