package main

import (
	"fmt"
	"net/http"
	"net/url"
)

type driftAssign struct {
	Alert  string `arg:"" help:"The alert's id, as a list shows it."`
	Person string `arg:"" optional:"" help:"Who looks at it; left out, back to everybody."`
	ruled
}

type driftDecide struct {
	Alert    string `arg:"" help:"The alert's id, as a list shows it."`
	Decision string `required:"" placeholder:"WORD" help:"keep_original, replace, process_as_new, complete, reject_and_notify; of kind transport process or reject."`
	Reason   string `required:"" placeholder:"CODE" help:"sent_by_mistake, corrected, number_reused, already_processed, wrong_content, confirmed_with_partner, our_fault or other."`
	Note     string `placeholder:"TEXT" help:"What else is to be known; needed with the reason other."`
	Digest   string `placeholder:"DIGEST" help:"Which payload, where the alert holds several."`
	Payloads int    `placeholder:"N" help:"Instead, for a decision that posts nothing: all N that are undecided."`
	ruled
}

type driftApprove struct {
	Alert string `arg:"" help:"The alert's id, as a list shows it."`
	ruled
}

type driftWithdraw struct {
	Alert string `arg:"" help:"The alert's id, as a list shows it."`
	Note  string `placeholder:"TEXT" help:"Why."`
	ruled
}

// ruled are the commands that change a drift.
type ruled struct {
	Output string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	connection
}

func (c *driftAssign) Run(a *app) error {
	return c.send(a, c.Alert, "assign", map[string]any{"person": c.Person})
}

func (c *driftDecide) Run(a *app) error {
	asked := map[string]any{"decision": c.Decision, "reason": c.Reason, "note": c.Note, "payload_sha256": c.Digest}
	if c.Payloads != 0 {
		asked["payloads"] = c.Payloads
	}
	return c.send(a, c.Alert, "decide", asked)
}

func (c *driftApprove) Run(a *app) error { return c.send(a, c.Alert, "approve", nil) }

func (c *driftWithdraw) Run(a *app) error {
	return c.send(a, c.Alert, "withdraw", map[string]any{"note": c.Note})
}

// send asks for it and shows what came of it.
func (c *ruled) send(a *app, alert, verb string, body map[string]any) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	var did struct {
		State     string `json:"state"`
		Posted    int    `json:"posted"`
		Replaced  int    `json:"superseded"`
		Cancelled int    `json:"cancelled"`
		Absorbed  int    `json:"absorbed"`
		Notices   int    `json:"notices"`
		Needs     string `json:"needs"`
	}
	var send any
	if body != nil {
		send = body
	}
	text, err := api.ask(a, http.MethodPost, "/drift/"+url.PathEscape(alert)+"/"+verb, nil, send, &did)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return a.rawJSON(text)
	}
	if did.Needs != "" {
		a.progress("%s", did.Needs)
	}
	_, err = fmt.Fprintf(a.stdout, "%s: %d posted, %d superseded, %d cancelled, %d absorbed, %d notices\n",
		did.State, did.Posted, did.Replaced, did.Cancelled, did.Absorbed, did.Notices)
	return err
}
