package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

type messagesCommand struct {
	List messagesList `cmd:"" help:"The journal, the latest first: one line for each interchange of each delivery."`
	Show messagesShow `cmd:"" help:"One message: its variants, receptions, alerts, documents and acknowledgements."`
	Raw  messagesRaw  `cmd:"" help:"Write a payload as it came to standard output; the audit log notes it."`

	ReEvaluate messagesReEvaluate `cmd:"" name:"re-evaluate" help:"Judge refused messages again, under the settings that hold now."`
}

type messagesList struct {
	Partner   string    `placeholder:"ID" help:"Only this partner's."`
	MessageID string    `name:"message-id" placeholder:"KEY" help:"Only under this key, of an interchange or a transport."`
	Transport string    `placeholder:"NAME" help:"http, as2 or as4."`
	Verdict   string    `placeholder:"WORD" help:"first, duplicate, retry, re-evaluation, correction, completion, reuse, drift, or refused: what failed verification."`
	Outcome   string    `placeholder:"WORD" help:"accepted, partly, rejected, quarantined, received or dead."`
	Document  string    `placeholder:"NUMBER" help:"Only what brought a document of this number."`
	After     time.Time `placeholder:"TIME" help:"Received then or later, like 2026-11-28T09:14:00Z."`
	Before    time.Time `placeholder:"TIME" help:"Received earlier than that."`
	listing
}

// delivery is an item of the journal as the API gives it.
type delivery struct {
	Partner     string    `json:"partner"`
	ID          string    `json:"delivery_id"`
	Received    time.Time `json:"received_at"`
	Transport   string    `json:"transport"`
	TransportID string    `json:"transport_id"`
	MessageID   string    `json:"message_id"`
	SHA256      string    `json:"payload_sha256"`
	Verdict     string    `json:"verdict"`
	Outcome     string    `json:"outcome"`
	Rule        string    `json:"rule"`
	Status      int       `json:"status"`
	Bytes       int64     `json:"bytes"`
	Detail      string    `json:"detail"`
	Signer      string    `json:"signer"`

	NextTry *time.Time `json:"next_try"`
}

func (d delivery) key() string {
	switch {
	case d.Verdict == "refused": // it took no key
		return strings.TrimSpace(d.TransportID + " delivery " + d.ID)
	case d.MessageID != "":
		return d.MessageID
	case d.TransportID != "":
		return d.TransportID
	}
	return "sha256:" + d.SHA256
}

var deliveryTitles = []string{"RECEIVED", "PARTNER", "VIA", "VERDICT", "OUTCOME", "ROW", "STATUS", "BYTES", "MESSAGE ID"}

func deliveryRow(d delivery) []string {
	outcome := d.Outcome
	if d.NextTry != nil {
		outcome += ", next try " + clock(*d.NextTry)
	}
	return []string{clock(d.Received), d.Partner, d.Transport, d.Verdict, outcome, d.Rule, strconv.Itoa(d.Status), strconv.FormatInt(d.Bytes, 10), d.key()}
}

func (c *messagesList) Run(a *app) error {
	q := c.filters("partner", c.Partner, "message_id", c.MessageID, "transport", c.Transport, "verdict", c.Verdict,
		"outcome", c.Outcome, "document", c.Document, "after", instant(c.After), "before", instant(c.Before))
	return list(a, c.listing, "/messages", q, deliveryTitles, deliveryRow)
}

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}

// named is a message named on the command line.
type named struct {
	Partner   string `arg:"" help:"The partner's id."`
	MessageID string `arg:"" name:"message-id" help:"The key, as a list shows it."`
}

func (n named) path() string {
	return "/messages/" + url.PathEscape(n.Partner) + "/" + url.PathEscape(n.MessageID)
}

type messagesShow struct {
	named
	Output string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	connection
}

// message is what the API tells of one key.
type message struct {
	Partner   string    `json:"partner"`
	MessageID string    `json:"message_id"`
	Kind      string    `json:"kind"`
	FirstAt   time.Time `json:"first_at"`
	PurgeOn   string    `json:"purge_on"`
	KeptBy    []string  `json:"kept_by"`
	Carried   []struct {
		Partner   string `json:"partner"`
		MessageID string `json:"message_id"`
	} `json:"carried"`
	Variants []struct {
		SHA256   string `json:"payload_sha256"`
		State    string `json:"state"`
		Current  bool   `json:"current"`
		Answer   string `json:"answer"`
		Bytes    int64  `json:"bytes"`
		Raw      string `json:"raw"`
		Alert    string `json:"alert_id"`
		Messages []struct {
			State string `json:"state"`
		} `json:"messages"`
		Omitted         int `json:"messages_omitted"`
		Acknowledgement *struct {
			Answer json.RawMessage `json:"answer"` // of an interchange its part of the receipt, of a transport key a list
		} `json:"acknowledgement"`
		Pending *struct {
			Since    time.Time `json:"since"`
			NextTry  time.Time `json:"next_try"`
			Running  bool      `json:"running"`
			Failures int       `json:"failures"`
			Passing  int       `json:"passing"`
			Failure  string    `json:"failure"`
		} `json:"pending"`
	} `json:"variants"`
	Receptions []delivery   `json:"receptions"`
	Alerts     []driftAlert `json:"alerts"`
	Documents  []document   `json:"documents"`

	Sent    []sentAcknowledgement `json:"sent_acknowledgements"`
	Answers []sentAcknowledgement `json:"answers"`
}

func (c *messagesShow) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	var m message
	body, err := api.ask(a, http.MethodGet, c.path(), nil, nil, &m)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return a.rawJSON(body)
	}
	return m.table(a)
}

func (m *message) table(a *app) error {
	kept := "until " + m.PurgeOn
	if len(m.KeptBy) > 0 {
		kept += ", and as long as there is: " + strings.ReplaceAll(strings.Join(m.KeptBy, ", "), "_", " ")
	}
	if _, err := fmt.Fprintf(a.stdout, "%s key %s\n  partner %s, first on %s, kept %s\n", m.Kind, printable(m.MessageID), printable(m.Partner), clock(m.FirstAt), kept); err != nil {
		return err
	}
	for _, r := range m.Carried {
		if _, err := fmt.Fprintf(a.stdout, "  carried %s %s\n", printable(r.Partner), printable(r.MessageID)); err != nil {
			return err
		}
	}
	var rows [][]string
	for _, v := range m.Variants {
		current := ""
		if v.Current {
			current = "current"
		}
		rows = append(rows, []string{shorten(v.SHA256, 20), v.State, v.Answer, strconv.FormatInt(v.Bytes, 10), strconv.Itoa(len(v.Messages) + v.Omitted), current, v.Alert})
	}
	if err := a.section("Variants", []string{"PAYLOAD SHA256", "STATE", "TOLD", "BYTES", "MESSAGES", "", "ALERT"}, rows); err != nil {
		return err
	}
	rows = nil
	for _, v := range m.Variants {
		if p := v.Pending; p != nil {
			next := clock(p.NextTry)
			if p.Running {
				next = "running, at most until " + next
			}
			failed := strconv.Itoa(p.Failures)
			if p.Passing > 0 {
				failed += ", and " + strconv.Itoa(p.Passing) + " uncounted"
			}
			rows = append(rows, []string{shorten(v.SHA256, 20), clock(p.Since), next, failed, p.Failure})
		}
	}
	if err := a.section("Pending", []string{"PAYLOAD SHA256", "SINCE", "NEXT TRY", "FAILED", "FAILURE"}, rows); err != nil {
		return err
	}
	rows = nil
	titles := deliveryTitles
	if slices.ContainsFunc(m.Receptions, func(d delivery) bool { return d.Signer != "" }) {
		titles = append(slices.Clone(titles), "SIGNED BY")
	}
	for _, d := range m.Receptions {
		rows = append(rows, append(deliveryRow(d), d.Signer)[:len(titles)])
	}
	if err := a.section("Receptions", titles, rows); err != nil {
		return err
	}
	rows = nil
	for _, d := range m.Alerts {
		rows = append(rows, driftRow(d))
	}
	if err := a.section("Drift", driftTitles, rows); err != nil {
		return err
	}
	rows = nil
	for _, d := range m.Documents {
		rows = append(rows, documentRow(d))
	}
	if err := a.section("Documents", documentTitles, rows); err != nil {
		return err
	}
	return m.said(a)
}

// said shows what was found in it, what we sent of it, and what it says of what we sent.
func (m *message) said(a *app) error {
	var rows [][]string
	for _, v := range m.Variants {
		if v.Acknowledgement == nil || m.Kind != "interchange" || len(v.Acknowledgement.Answer) == 0 {
			continue
		}
		var told struct {
			Findings []struct {
				Severity string `json:"severity"`
				Code     string `json:"code"`
				Message  string `json:"message"`
			} `json:"findings"`
		}
		if err := json.Unmarshal(v.Acknowledgement.Answer, &told); err != nil {
			return fmt.Errorf("what was found in %s: %w", m.MessageID, err)
		}
		for _, f := range told.Findings {
			rows = append(rows, []string{shorten(v.SHA256, 20), f.Severity, f.Code, shorten(f.Message, 120)})
		}
	}
	if err := a.section("Findings", []string{"PAYLOAD SHA256", "SEVERITY", "CODE", "WHAT"}, rows); err != nil {
		return err
	}
	for _, part := range []struct {
		title string
		list  []sentAcknowledgement
	}{{"Acknowledgements sent", m.Sent}, {"It answers", m.Answers}} {
		rows = nil
		for _, s := range part.list {
			rows = append(rows, s.row())
		}
		if err := a.section(part.title, sentTitles, rows); err != nil {
			return err
		}
	}
	return nil
}

// section writes a titled table, nothing where it has no rows.
func (a *app) section(title string, titles []string, rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(a.stdout, "\n%s\n", title); err != nil {
		return err
	}
	return a.table(titles, rows)
}

type messagesRaw struct {
	Partner   string `arg:"" help:"The partner's id."`
	MessageID string `arg:"" name:"message-id" help:"The key, as a list shows it, or the id of a delivery that failed verification."`

	SHA256 string `name:"sha256" placeholder:"DIGEST" help:"Which variant; the current one if it is left out."`
	Header bool   `name:"header" help:"Of a delivery that failed verification: with the request's header before the body, for openssl and others."`
	connection
}

func (c *messagesRaw) Run(a *app) (err error) {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	path, asked := named{c.Partner, c.MessageID}.path(), filters("sha256", c.SHA256)
	if id, err := uuid.Parse(c.MessageID); err == nil { // no key is like one
		path = "/deliveries/" + url.PathEscape(c.Partner) + "/" + id.String()
	}
	if c.Header {
		asked.Set("with", "header")
	}
	resp, err := api.do(a, http.MethodGet, path+"/raw", asked, "", nil)
	if err != nil {
		return err
	}
	defer func() {
		if e := resp.Body.Close(); err == nil {
			err = e
		}
	}()
	if _, err := io.Copy(a.stdout, resp.Body); err != nil {
		return fmt.Errorf("the payload broke off: %w; ask for it again", err)
	}
	return nil
}
