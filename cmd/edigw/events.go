package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

type eventsCommand struct {
	List eventsList `cmd:"" help:"What happened, in the order in which subscribers are told."`
	Show eventsShow `cmd:"" help:"One event, and every attempt to deliver it."`
}

// cloudEvent is an event as the API gives it.
type cloudEvent struct {
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	Subject string          `json:"subject"`
	Time    time.Time       `json:"time"`
	Partner string          `json:"partnerid"`
	Data    json.RawMessage `json:"data"`
}

type eventsList struct {
	After   string `placeholder:"CURSOR" help:"Those after it: what an earlier list said at its end."`
	Partner string `placeholder:"ID" help:"Only this partner's."`
	Type    string `placeholder:"TYPE,…" help:"Only of these types, like document.created or drift.*; notices like alert.* have to be named."`
	Limit   int    `default:"50" help:"How many events are looked at, 1 to 500."`
	Output  string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	connection
}

func (c *eventsList) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	var page struct {
		Items []cloudEvent `json:"items"`
		Next  string       `json:"next"`
		More  bool         `json:"more"`
	}
	text, err := api.ask(a, http.MethodGet, "/events", filters("after", c.After, "partner", c.Partner, "type", c.Type, "limit", strconv.Itoa(c.Limit)), nil, &page)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return a.rawJSON(text)
	}
	var rows [][]string
	for _, e := range page.Items {
		rows = append(rows, []string{clock(e.Time), e.Partner, strings.TrimPrefix(e.Type, "io.edigw."), e.ID, e.Subject})
	}
	if err := a.table([]string{"TIME", "PARTNER", "TYPE", "EVENT", "SUBJECT"}, rows); err != nil {
		return err
	}
	if page.More {
		a.progress("there are more: add --after %s", page.Next)
	} else {
		a.progress("what comes next: --after %s", page.Next)
	}
	return nil
}

type eventsShow struct {
	Partner string `arg:"" help:"The partner's id."`
	Event   string `arg:"" help:"The event's id."`
	Output  string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	connection
}

func (c *eventsShow) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	var shown struct {
		Event    json.RawMessage `json:"event"`
		Attempts []struct {
			Subscription string    `json:"subscription"`
			At           time.Time `json:"at"`
			Status       int       `json:"status"`
			TookMS       int       `json:"took_ms"`
			Failure      string    `json:"failure"`
		} `json:"attempts"`
	}
	text, err := api.ask(a, http.MethodGet, "/events/"+url.PathEscape(c.Partner)+"/"+url.PathEscape(c.Event), nil, nil, &shown)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return a.rawJSON(text)
	}
	if err := a.rawJSON(shown.Event); err != nil {
		return err
	}
	if len(shown.Attempts) == 0 {
		return nil
	}
	var rows [][]string
	for _, t := range shown.Attempts {
		rows = append(rows, []string{clock(t.At), t.Subscription, strconv.Itoa(t.Status), fmt.Sprintf("%d ms", t.TookMS), t.Failure})
	}
	return a.table([]string{"AT", "SUBSCRIPTION", "ANSWER", "TOOK", "FAILURE"}, rows)
}
