package web

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/outbox"
)

// subscription is who is told of events, with how far each partner's have come.
type subscription struct {
	*outbox.Subscription
	State   string           `json:"state"` // active, paused, held: nothing leaves at all; or failing: a process cannot open its target
	Streams []*outbox.Stream `json:"streams"`
}

func subscriptionOf(s *outbox.Subscription, streams []*outbox.Stream, held bool) subscription {
	out := subscription{Subscription: s, State: "active", Streams: []*outbox.Stream{}}
	switch {
	case s.Paused != nil:
		out.State = "paused"
	case held:
		out.State = "held"
	case s.Failure != "":
		out.State = "failing"
	}
	for _, t := range streams {
		if t.Subscription == s.Name {
			out.Streams = append(out.Streams, t)
		}
	}
	return out
}

var subscriptionFilters = append([]Parameter{
	{"state", Text, []string{"active", "paused", "held", "failing"}},
	{"partner", Text, nil},
	{"type", Text, nil},
}, paging...)

// listSubscriptions gives those that fit, by name: of a partner, and of a type,
// those that are told of its events.
func (c *call) listSubscriptions() error {
	var kinds []string
	if v := c.text["type"]; v != "" {
		var unknown string
		if kinds, unknown = outbox.EventTypes(v); unknown != "" {
			return unknownType(unknown)
		}
	}
	list, err := c.api.Subscriptions.List(c.ctx())
	if err != nil {
		return err
	}
	streams, err := c.api.Subscriptions.Streams(c.ctx(), "")
	if err != nil {
		return err
	}
	hold, err := c.api.Outgoing.Standing(c.ctx())
	if err != nil {
		return err
	}
	var items []subscription
	for _, s := range list {
		item := subscriptionOf(s, streams, hold.Held)
		partner, state := c.text["partner"], c.text["state"]
		told := func(kind string) bool { return slices.Contains(s.Wants(), kind) }
		if (state == "" || state == item.State) && (kinds == nil || slices.ContainsFunc(kinds, told)) &&
			(partner == "" || len(s.Partners) == 0 || slices.Contains(s.Partners, partner)) {
			items = append(items, item)
		}
	}
	return c.reply(http.StatusOK, pageByName(&c.query, items, func(s subscription) string { return s.Name }))
}

func (c *call) showSubscription() error {
	name, err := c.path("subscription")
	if err != nil {
		return err
	}
	return c.tellSubscription(name, http.StatusOK)
}

func (c *call) tellSubscription(name string, status int) error {
	s, err := c.api.Subscriptions.Get(c.ctx(), name)
	if err != nil {
		return subscriptionProblem(err)
	}
	streams, err := c.api.Subscriptions.Streams(c.ctx(), name)
	if err != nil {
		return err
	}
	hold, err := c.api.Outgoing.Standing(c.ctx())
	if err != nil {
		return err
	}
	c.w.Header().Set("ETag", etag(int64(s.Revision)))
	return c.reply(status, subscriptionOf(s, streams, hold.Held))
}

// putSubscription makes a subscription, or changes it.
func (c *call) putSubscription() error {
	name, err := c.path("subscription")
	if err != nil {
		return err
	}
	var spec outbox.Spec
	if err := c.decode(&spec); err != nil {
		return err
	}
	if spec.Name == "" {
		spec.Name = name
	}
	if spec.Name != name {
		return &problem{Status: http.StatusUnprocessableEntity, Type: "not-as-asked", Detail: "the body is of subscription " + spec.Name + ", the address of " + name}
	}
	if err := spec.Complete(); err != nil {
		return subscriptionProblem(err)
	}
	if err := c.api.RefuseTarget(&spec); err != nil {
		return subscriptionProblem(err)
	}
	changed := false
	do, err := c.onRevision(name, outbox.Put(spec, &changed))
	if err != nil {
		return err
	}
	if err := c.change("subscription.applied", name, "", do, map[string]any{"spec": spec}); err != nil {
		return err
	}
	return c.tellSubscription(name, http.StatusOK)
}

func (c *call) deleteSubscription() error {
	name, err := c.path("subscription")
	if err != nil {
		return err
	}
	do, err := c.onRevision(name, outbox.Delete(name))
	if err != nil {
		return err
	}
	if err := c.change("subscription.deleted", name, "", do, struct{}{}); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// onRevision holds a change to the revision in If-Match, where one is given.
func (c *call) onRevision(name string, do outbox.Change) (outbox.Change, error) {
	revision, given, err := c.matched("GET /subscriptions/{subscription}")
	if err != nil || !given {
		return do, err
	}
	return outbox.On(name, revision, do), nil
}

// asked is what a person wants of a subscription.
type askedOfSubscription struct {
	Partner string    `json:"partner"`
	Event   uuid.UUID `json:"event_id"`
	Reason  string    `json:"reason"`
}

// onSubscription reads name and body, and does what do makes of them.
func (c *call) onSubscription(action string, do func(name string, a askedOfSubscription) (outbox.Change, error)) error {
	name, err := c.path("subscription")
	if err != nil {
		return err
	}
	var a askedOfSubscription
	if err := c.decode(&a); err != nil {
		return err
	}
	change, err := do(name, a)
	if err != nil {
		return err
	}
	if err := c.change(action, name, a.Partner, change, a); err != nil {
		return err
	}
	return c.tellSubscription(name, http.StatusOK)
}

func (c *call) pauseSubscription() error {
	return c.onSubscription("subscription.paused", func(name string, a askedOfSubscription) (outbox.Change, error) {
		return outbox.Pause(name, a.Partner, c.who.Person, a.Reason), nil
	})
}

func (c *call) resumeSubscription() error {
	return c.onSubscription("subscription.resumed", func(name string, a askedOfSubscription) (outbox.Change, error) {
		return outbox.Resume(name, a.Partner), nil
	})
}

// resendEvents has one event sent again, or, where none is named, all that were set
// aside.
func (c *call) resendEvents() error {
	return c.onSubscription("events.resent", func(name string, a askedOfSubscription) (outbox.Change, error) {
		if a.Event == uuid.Nil {
			var n int64
			return outbox.ResendAll(name, a.Partner, &n), nil
		}
		if a.Partner == "" {
			return nil, &problem{Status: http.StatusUnprocessableEntity, Type: "not-as-asked", Detail: "an event is named by partner and event_id; leave both out to resend all that were set aside"}
		}
		return outbox.Resend(name, a.Partner, a.Event), nil
	})
}

func (c *call) dismissEvent() error {
	return c.onSubscription("event.dismissed", func(name string, a askedOfSubscription) (outbox.Change, error) {
		if a.Event == uuid.Nil || a.Partner == "" || strings.TrimSpace(a.Reason) == "" {
			return nil, &problem{Status: http.StatusUnprocessableEntity, Type: "not-as-asked", Detail: "partner, event_id and reason must be given: the event is not sent any more"}
		}
		return outbox.Dismiss(name, a.Partner, a.Event), nil
	})
}

// change does it with its audit line.
func (c *call) change(action, name, partner string, do outbox.Change, detail any) error {
	return subscriptionProblem(c.api.Change(c.ctx(), c.who, accounts.Entry{Action: action, Subject: name, Partner: partner}, detail, do))
}

// subscriptionProblem is how an error of the outbox is told.
func subscriptionProblem(err error) error {
	if wrong, ok := errors.AsType[*outbox.SpecFault](err); ok {
		return &problem{Status: http.StatusUnprocessableEntity, Type: "invalid-configuration", Detail: wrong.Error(), Faults: []fault{{Key: wrong.Key, Detail: wrong.Text}}}
	}
	if moved, ok := errors.AsType[*outbox.MovedError](err); ok {
		return &problem{Status: http.StatusPreconditionFailed, Type: "changed-meanwhile", Detail: "nothing was changed: " + moved.Error() + "; read it again, and make the change on that"}
	}
	for _, e := range []error{outbox.ErrNoSubscription, outbox.ErrNoSuchEvent, outbox.ErrNotSetAside} {
		if errors.Is(err, e) {
			return &problem{Status: http.StatusNotFound, Type: "not-found", Detail: e.Error()}
		}
	}
	return err
}

var asideFilters = append([]Parameter{{"partner", Text, nil}}, paging...)

// aside is an event that stands beside its stream.
type aside struct {
	*outbox.Aside
	State string `json:"state"`
}

func (c *call) listSetAside() error {
	name, err := c.path("subscription")
	if err != nil {
		return err
	}
	f := outbox.AsideFilter{Partner: c.text["partner"], Subscription: name, Limit: c.limit + 1}
	if c.cursor != "" {
		id, partner, _ := strings.Cut(c.cursor, "\t")
		f.Before = &outbox.Aside{Partner: partner, Subscription: name}
		if f.Before.Event, err = uuid.Parse(id); err != nil {
			return badCursor()
		}
	}
	list, err := c.api.Subscriptions.Asides(c.ctx(), f)
	if err != nil {
		return err
	}
	items := make([]aside, len(list))
	for i, a := range list {
		items[i] = aside{a, a.State.String()}
	}
	return c.reply(http.StatusOK, pageOf(&c.query, items, func(a aside) string { return a.Event.String() + "\t" + a.Partner }))
}
