package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/purge"
)

type retentionHold struct {
	Partner   string `arg:"" help:"Whose message it is."`
	MessageID string `arg:"" name:"message-id" help:"Its key, as edigw messages list shows it."`
	Reason    string `required:"" placeholder:"TEXT" help:"Why; it is shown, and stands in the audit log."`
	connection
}

func (c *retentionHold) Run(a *app) error {
	return changeHold(a, c.connection, "/retention/holds", c.Partner, c.MessageID, c.Reason)
}

type retentionRelease struct {
	Partner   string `arg:"" help:"Whose message it is."`
	MessageID string `arg:"" name:"message-id" help:"Its key."`
	Reason    string `required:"" placeholder:"TEXT" help:"Why; it stands in the audit log."`
	connection
}

func (c *retentionRelease) Run(a *app) error {
	return changeHold(a, c.connection, "/retention/holds/end", c.Partner, c.MessageID, c.Reason)
}

func changeHold(a *app, at connection, path, partner, messageID, reason string) error {
	api, err := a.client(at)
	if err != nil {
		return err
	}
	var p legalHolds
	if _, err := api.ask(a, http.MethodPost, path, nil, map[string]string{"partner": partner, "message_id": messageID, "reason": reason}, &p); err != nil {
		return err
	}
	return p.tell(a)
}

type legalHolds struct {
	Items []dedup.LegalHold `json:"items"`
	Next  string            `json:"next"`
}

func (p *legalHolds) tell(a *app) error {
	var rows [][]string
	for _, h := range p.Items {
		rows = append(rows, []string{h.Partner, printable(h.MessageID), clock(h.At), printable(h.By), printable(h.Reason)})
	}
	return a.table([]string{"PARTNER", "MESSAGE", "SINCE", "BY", "REASON"}, rows)
}

type retentionHolds struct {
	Partner string `placeholder:"ID" help:"Of this partner."`
	Output  string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	connection
}

func (c *retentionHolds) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	all := legalHolds{Items: []dedup.LegalHold{}}
	for at := ""; ; {
		ask := url.Values{}
		if c.Partner != "" {
			ask.Set("partner", c.Partner)
		}
		if at != "" {
			ask.Set("cursor", at)
		}
		var p legalHolds
		if _, err := api.ask(a, http.MethodGet, "/retention/holds", ask, nil, &p); err != nil {
			return err
		}
		all.Items = append(all.Items, p.Items...)
		if at = p.Next; at == "" {
			break
		}
	}
	if c.Output == "json" {
		text, err := json.Marshal(all.Items)
		if err != nil {
			return err
		}
		return a.rawJSON(text)
	}
	return all.tell(a)
}

type retentionShow struct {
	Partner string `arg:"" help:"Whose."`
	With    string `placeholder:"JSON" help:"Count what a purge would remove under other windows, a merge patch of what stands under retention; nothing is changed."`
	Output  string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	connection
}

func (c *retentionShow) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	path := "/partners/" + url.PathEscape(c.Partner) + "/retention"
	if c.With != "" {
		if !json.Valid([]byte(c.With)) {
			return usage("--with must be a JSON object of windows, like '{\"payloads\": \"60d\"}'")
		}
		var p struct {
			At        time.Time
			Now, Then []purge.Step
		}
		api.patient(2*purge.PreviewEnds + 30*time.Second)
		text, err := api.ask(a, http.MethodPost, path+"/preview", nil, json.RawMessage(c.With), &p)
		if err != nil || c.Output == "json" {
			if err == nil {
				err = a.rawJSON(text)
			}
			return err
		}
		if _, err := fmt.Fprintf(a.stdout, "A purge at %s would do this by the windows in force:\n", clock(p.At)); err != nil {
			return err
		}
		if err := tellSteps(a, p.Now); err != nil {
			return err
		}
		if _, err := fmt.Fprint(a.stdout, "\nand this by the windows asked for, when their grace has passed:\n"); err != nil {
			return err
		}
		return tellSteps(a, p.Then)
	}
	var r struct {
		Set     partners.RetentionSpec
		InForce partners.RetentionSpec `json:"in_force"`
		From    *time.Time
		Origin  map[string]string
	}
	text, err := api.ask(a, http.MethodGet, path, nil, nil, &r)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return a.rawJSON(text)
	}
	var rows [][]string
	for _, w := range []struct {
		name    string
		set, is partners.Days
	}{
		{"dedup_window", r.Set.DedupWindow, r.InForce.DedupWindow}, {"retry_window", r.Set.RetryWindow, r.InForce.RetryWindow},
		{"payloads", r.Set.Payloads, r.InForce.Payloads}, {"acknowledgements", r.Set.Acknowledgements, r.InForce.Acknowledgements},
		{"quarantine", r.Set.Quarantine, r.InForce.Quarantine}, {"deliveries", r.Set.Deliveries, r.InForce.Deliveries},
		{"documents.invoice", r.Set.Documents.Invoice, r.InForce.Documents.Invoice}, {"documents.despatch", r.Set.Documents.Despatch, r.InForce.Documents.Despatch},
		{"documents.other", r.Set.Documents.Other, r.InForce.Documents.Other},
	} {
		in := w.is.String()
		if w.is != w.set && r.From != nil {
			in += " until " + clock(*r.From)
		}
		rows = append(rows, []string{w.name, w.set.String(), r.Origin[w.name], in})
	}
	if r.Set.LegalHold {
		if _, err := fmt.Fprintln(a.stdout, "Nothing of this partner is purged: it is under legal hold."); err != nil {
			return err
		}
	}
	return a.table([]string{"WINDOW", "SET", "FROM", "IN FORCE"}, rows)
}
