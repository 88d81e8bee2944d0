package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/targets"
)

type subscriptionsCommand struct {
	List    subscriptionsList     `cmd:"" help:"Who is told of events, and how far each has come."`
	Show    subscriptionsShow     `cmd:"" help:"One, with how far each partner's events have come."`
	Apply   subscriptionsApply    `cmd:"" help:"Make or change subscriptions as YAML says."`
	Export  subscriptionsExport   `cmd:"" help:"All subscriptions as YAML that changes nothing when it is applied."`
	Pause   subscriptionsPause    `cmd:"" help:"Stop sending, to one or to it of one partner; what is on its way still arrives."`
	Resume  subscriptionsResume   `cmd:"" help:"Go on where it stands, at once."`
	Aside   subscriptionsSetAside `cmd:"" name:"aside" help:"Events that the target refused."`
	Resend  subscriptionsResend   `cmd:"" help:"Send one event again, or all that were set aside."`
	Dismiss subscriptionsDismiss  `cmd:"" help:"Give up an event that was set aside."`
	Delete  subscriptionsDelete   `cmd:"" help:"End a subscription; its delivery log stays."`
	Secret  subscriptionsSecret   `cmd:"" help:"Make a new secret for a webhook. Needs no server."`
	Receive subscriptionsReceive  `cmd:"" help:"Receive a webhook and show what comes, to try it. Needs no server."`
}

// subscriber is a subscription as the API tells of it.
type subscriber struct {
	outbox.Spec
	State   string           `json:"state"`
	Reason  string           `json:"reason"`
	Failure string           `json:"failure"`
	Streams []*outbox.Stream `json:"streams"`
}

// at says where it is sent.
func (s *subscriber) at() string {
	switch {
	case s.Webhook != nil:
		return s.Webhook.URL
	case s.Kafka != nil:
		return "kafka " + s.Kafka.Topic
	case s.Mail != nil:
		return "mail to " + strings.Join(s.Mail.To, ", ")
	}
	return ""
}

type subscriptionsList struct {
	State   string `placeholder:"WORD" help:"active, paused, held or failing."`
	Partner string `placeholder:"ID" help:"Only those that are told of this partner's events."`
	Type    string `placeholder:"TYPE" help:"Only those that are told of a type like document.created, or of one of document.*."`
	wholeListing
}

func (c *subscriptionsList) Run(a *app) error {
	titles := []string{"NAME", "STATE", "SENT", "FAILING", "SET ASIDE", "TYPES", "TO", "WHY"}
	l := c.listing()
	return list(a, l, "/subscriptions", l.filters("state", c.State, "partner", c.Partner, "type", c.Type), titles, func(s subscriber) []string {
		sent, failing, aside := int64(0), 0, 0
		for _, t := range s.Streams {
			sent += t.Sent
			aside += t.SetAside
			if t.Attempts > 0 {
				failing++
			}
		}
		return []string{s.Name, s.State, strconv.FormatInt(sent, 10), strconv.Itoa(failing), strconv.Itoa(aside), strings.Join(s.Types, ","), s.at(), s.Reason + s.Failure}
	})
}

// subscriptionNamed are the commands on one subscription.
type subscriptionNamed struct {
	Name string `arg:"" help:"The subscription."`
	connection
}

func (n *subscriptionNamed) path(more string) string {
	return "/subscriptions/" + url.PathEscape(n.Name) + more
}

type subscriptionsShow struct {
	subscriptionNamed
	Output string `short:"o" enum:"table,json" default:"table" help:"table or json."`
}

func (c *subscriptionsShow) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	var s subscriber
	text, err := api.ask(a, http.MethodGet, c.path(""), nil, nil, &s)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return a.rawJSON(text)
	}
	return a.tellSubscriber(&s)
}

// tellSubscriber writes how a subscription stands.
func (a *app) tellSubscriber(s *subscriber) error {
	if _, err := fmt.Fprintf(a.stdout, "%s: %s, %s to %s\n", s.Name, s.State, strings.Join(s.Types, ", "), printable(s.at())); err != nil {
		return err
	}
	if why := s.Reason + s.Failure; why != "" {
		if _, err := fmt.Fprintln(a.stdout, printable(why)); err != nil {
			return err
		}
	}
	if len(s.Streams) == 0 {
		return nil
	}
	var rows [][]string
	for _, t := range s.Streams {
		state := "running"
		switch {
		case t.Paused != nil:
			state = "paused"
		case t.Attempts > 0:
			state = "failing"
		}
		rows = append(rows, []string{t.Partner, state, strconv.FormatInt(t.Sent, 10), strconv.Itoa(t.SetAside), clockOrNone(t.OldestUnsent), clockOrNone(t.Next), t.Failure})
	}
	return a.table([]string{"PARTNER", "STATE", "SENT", "SET ASIDE", "OLDEST UNSENT", "NEXT TRY", "FAILURE"}, rows)
}

// do asks for it and says how the subscription stands then.
func (n *subscriptionNamed) do(a *app, more string, body map[string]any) error {
	api, err := a.client(n.connection)
	if err != nil {
		return err
	}
	var s subscriber
	if _, err := api.ask(a, http.MethodPost, n.path(more), nil, body, &s); err != nil {
		return err
	}
	return a.tellSubscriber(&s)
}

type subscriptionsApply struct {
	File string `short:"f" required:"" placeholder:"FILE" help:"YAML, one document for each subscription; - is the standard input."`
	connection
}

func (c *subscriptionsApply) Run(a *app) error {
	specs, err := a.readSubscriptions(c.File)
	if err != nil {
		return err
	}
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	for i, spec := range specs {
		var s subscriber
		if _, err := api.ask(a, http.MethodPut, "/subscriptions/"+url.PathEscape(spec.Name), nil, spec, &s); err != nil {
			if err = fmt.Errorf("subscription %s: %w", spec.Name, err); i == 0 {
				return err
			}
			return &exit{exitPartly, fmt.Errorf("%w; of %d in the file those before it are applied, it and those behind it are not", err, len(specs))}
		}
		if _, err := fmt.Fprintf(a.stdout, "%s: %s, to %s\n", s.Name, s.State, printable(s.at())); err != nil {
			return err
		}
	}
	return nil
}

// readSubscriptions reads and checks all before anything is changed.
func (a *app) readSubscriptions(file string) (specs []outbox.Spec, err error) {
	var text []byte
	if file == "-" {
		text, err = io.ReadAll(a.stdin)
	} else {
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, document := range partners.Documents(text) {
		var spec outbox.Spec
		if err := yaml.UnmarshalWithOptions(document, &spec, yaml.DisallowUnknownField()); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if err := spec.Complete(); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if seen[spec.Name] {
			return nil, fmt.Errorf("%s: subscription %s stands twice", file, spec.Name)
		}
		seen[spec.Name] = true
		specs = append(specs, spec)
	}
	if len(specs) == 0 {
		return nil, fmt.Errorf("%s: there is no subscription in it", file)
	}
	return specs, nil
}

type subscriptionsExport struct{ connection }

func (c *subscriptionsExport) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	var all []json.RawMessage
	if _, err := eachPage(a, api, wholeListing{}.listing(), "/subscriptions", nil, func(items []json.RawMessage, _ []byte) error {
		all = append(all, items...)
		return nil
	}); err != nil {
		return err
	}
	for i, item := range all {
		var spec outbox.Spec
		if err := json.Unmarshal(item, &spec); err != nil {
			return err
		}
		text, err := yaml.MarshalWithOptions(spec, yaml.IndentSequence(true))
		if err != nil {
			return err
		}
		if i > 0 {
			text = append([]byte("---\n"), text...)
		}
		if _, err := a.stdout.Write(text); err != nil {
			return err
		}
	}
	return nil
}

type subscriptionsPause struct {
	subscriptionNamed
	Partner string `placeholder:"ID" help:"Only this partner's events."`
	Reason  string `placeholder:"TEXT" help:"Why; it is shown, and stands in the audit log."`
}

func (c *subscriptionsPause) Run(a *app) error {
	return c.do(a, "/pause", map[string]any{"partner": c.Partner, "reason": c.Reason})
}

type subscriptionsResume struct {
	subscriptionNamed
	Partner string `placeholder:"ID" help:"Only this partner's events."`
}

func (c *subscriptionsResume) Run(a *app) error {
	return c.do(a, "/resume", map[string]any{"partner": c.Partner})
}

type subscriptionsResend struct {
	subscriptionNamed
	Partner string `arg:"" optional:"" help:"The partner; alone: all of his that were set aside."`
	Event   string `arg:"" optional:"" help:"One event's id, whether it was sent before or not."`
}

func (c *subscriptionsResend) Run(a *app) error {
	body := map[string]any{"partner": c.Partner}
	if c.Event != "" {
		body["event_id"] = c.Event
	}
	return c.do(a, "/resend", body)
}

type subscriptionsDismiss struct {
	subscriptionNamed
	Partner string `arg:"" help:"The partner."`
	Event   string `arg:"" help:"The event's id, as set-aside shows it."`
	Reason  string `required:"" placeholder:"TEXT" help:"Why it need not be sent; it stands in the audit log."`
}

func (c *subscriptionsDismiss) Run(a *app) error {
	return c.do(a, "/dismiss", map[string]any{"partner": c.Partner, "event_id": c.Event, "reason": c.Reason})
}

type subscriptionsDelete struct{ subscriptionNamed }

func (c *subscriptionsDelete) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	_, err = api.ask(a, http.MethodDelete, c.path(""), nil, nil, nil)
	return err
}

type subscriptionsSetAside struct {
	Name    string `arg:"" help:"The subscription."`
	Partner string `placeholder:"ID" help:"Only this partner's."`
	listing
}

// asideEvent is an event beside its stream, as the API lists it.
type asideEvent struct {
	Partner  string    `json:"partner"`
	Event    string    `json:"event_id"`
	State    string    `json:"state"`
	Attempts int       `json:"attempts"`
	Failure  string    `json:"failure"`
	Since    time.Time `json:"since"`
}

func (c *subscriptionsSetAside) Run(a *app) error {
	return list(a, c.listing, "/subscriptions/"+url.PathEscape(c.Name)+"/set-aside", c.filters("partner", c.Partner),
		[]string{"SINCE", "PARTNER", "STATE", "ATTEMPTS", "EVENT", "FAILURE"}, func(e asideEvent) []string {
			return []string{clock(e.Since), e.Partner, e.State, strconv.Itoa(e.Attempts), e.Event, e.Failure}
		})
}

type subscriptionsSecret struct{}

func (c *subscriptionsSecret) Run(a *app) error {
	_, err := fmt.Fprintln(a.stdout, targets.NewWebhookSecret())
	return err
}
