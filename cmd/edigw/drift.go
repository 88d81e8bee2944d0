package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/edigw/edigw/compare"
)

type driftCommand struct {
	List driftList `cmd:"" help:"Known ids that came with other content, the latest first."`
	Show driftShow `cmd:"" help:"One drift, with the comparison by segment."`

	Assign   driftAssign   `cmd:"" help:"Take a drift in review, or give it to somebody."`
	Decide   driftDecide   `cmd:"" help:"Decide what becomes of a drift; what moves an invoice waits for a second person."`
	Approve  driftApprove  `cmd:"" help:"Apply a decision that another person proposed."`
	Withdraw driftWithdraw `cmd:"" help:"Drop a decision that waits for approval."`
}

type driftList struct {
	Partner   string `placeholder:"ID" help:"Only this partner's."`
	MessageID string `name:"message-id" placeholder:"KEY" help:"Only under this key."`
	State     string `placeholder:"WORD" help:"open, in_review, awaiting_approval, resolved or auto_resolved."`
	Kind      string `placeholder:"WORD" help:"transport, interchange or document."`
	Class     string `placeholder:"WORD" help:"formatting, envelope, business, different_document, unparseable or original_purged."`
	Severity  string `placeholder:"WORD" help:"info, low, medium, high or critical."`
	listing
}

// driftAlert is a drift as the API lists it.
type driftAlert struct {
	Partner    string    `json:"partner"`
	ID         string    `json:"alert_id"`
	Kind       string    `json:"kind"`
	MessageID  string    `json:"message_id"`
	State      string    `json:"state"`
	Class      string    `json:"class"`
	Severity   string    `json:"severity"`
	Headline   string    `json:"headline"`
	Original   string    `json:"original_sha256"`
	Digests    []string  `json:"digests"`
	Proposal   string    `json:"proposal"`
	Reason     string    `json:"reason"`
	Receptions int       `json:"receptions"`
	Opened     time.Time `json:"opened_at"`
	Assignee   string    `json:"assignee"`
	Proposed   *decision `json:"proposed"`
	Decided    *decision `json:"decided"`
}

// decision is one that waits, or the last that was applied.
type decision struct {
	Decision   string `json:"decision"`
	By         string `json:"by"`
	ApprovedBy string `json:"approved_by"`
	Reason     string `json:"reason"`
	Note       string `json:"note"`
}

func (d *decision) text() string {
	if d == nil {
		return ""
	}
	text := d.Decision + " by " + d.By
	if d.ApprovedBy != "" {
		text += ", approved by " + d.ApprovedBy
	}
	text += " (" + d.Reason + ")"
	if d.Note != "" {
		text += ": " + d.Note
	}
	return text
}

var driftTitles = []string{"OPENED", "ALERT", "PARTNER", "SEVERITY", "CLASS", "STATE", "COPIES", "WHAT CHANGED", "MESSAGE ID"}

func driftRow(d driftAlert) []string {
	return []string{clock(d.Opened), d.ID, d.Partner, d.Severity, d.Class, d.State, strconv.Itoa(d.Receptions), d.Headline, d.MessageID}
}

func (c *driftList) Run(a *app) error {
	q := c.filters("partner", c.Partner, "message_id", c.MessageID, "state", c.State, "kind", c.Kind, "class", c.Class, "severity", c.Severity)
	return list(a, c.listing, "/drift", q, driftTitles, driftRow)
}

type driftShow struct {
	Alert  string `arg:"" help:"The alert's id, as a list shows it."`
	Digest string `placeholder:"DIGEST" help:"Which of its digests to compare; the last one if it is left out."`
	Output string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	Color  string `enum:"auto,always,never" default:"auto" help:"auto, always or never; NO_COLOR turns auto off."`
	connection
}

func (c *driftShow) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	var d driftDetail
	body, err := api.ask(a, http.MethodGet, "/drift/"+url.PathEscape(c.Alert), filters("digest", c.Digest), nil, &d)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return a.rawJSON(body)
	}
	return d.table(a, a.color(c.Color))
}

// driftDetail is one drift as the API tells it.
type driftDetail struct {
	driftAlert
	Compared   string          `json:"compared_sha256"`
	Comparison json.RawMessage `json:"comparison"`
	Note       string          `json:"comparison_note"`
	Copies     []delivery      `json:"copies"`
}

func (d *driftDetail) table(a *app, color bool) error {
	_, err := fmt.Fprintf(a.stdout, "Drift %s  %s, %s, %s, %s\n  %s\n  partner %s, message id %s\n  original %s\n  compared %s\n",
		d.ID, d.Kind, d.Class, d.Severity, d.State, printable(d.Headline), printable(d.Partner), printable(d.MessageID), orDash(d.Original), d.Compared)
	if err != nil {
		return err
	}
	for _, line := range []struct{ title, text string }{{"assigned to", d.Assignee}, {"setting to consider", d.Proposal},
		{"waits for approval", d.Proposed.text()}, {"decided", d.Decided.text()}, {"closed", d.Reason}, {"note", d.Note}} {
		if line.text == "" {
			continue
		}
		if _, err := fmt.Fprintf(a.stdout, "  %s: %s\n", line.title, printable(line.text)); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintln(a.stdout); err != nil {
		return err
	}
	if err := d.comparison(a.stdout, color); err != nil {
		return err
	}
	var rows [][]string
	for _, r := range d.Copies {
		rows = append(rows, deliveryRow(r))
	}
	return a.section("Receptions", deliveryTitles, rows)
}

// comparison writes what changed as `edigw diff` does, nothing where it was not
// compared.
func (d *driftDetail) comparison(w io.Writer, color bool) error {
	if len(d.Comparison) == 0 {
		return nil
	}
	var r compare.Result
	if err := json.Unmarshal(d.Comparison, &r); err != nil {
		return fmt.Errorf("the comparison is not what this version expects: %w", err)
	}
	return r.Text(w, compare.Unified, color)
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}
