package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/goccy/go-yaml"

	"github.com/edigw/edigw/documents"
)

type documentsCommand struct {
	List documentsList `cmd:"" help:"Invoices and despatch advices, the latest first."`
	Show documentsShow `cmd:"" help:"One document with its lines and packages."`

	Export documentsExport `cmd:"" help:"All documents that a search finds, as JSON Lines, CSV or UBL."`
	Schema documentsSchema `cmd:"" help:"The JSON Schema of a document."`

	Report documentsReport `cmd:"" help:"Say what was done with a document where it is read: taken, posted, paid or refused."`
}

type documentsList struct {
	documentSearch
	listing
}

// document is a document as the API lists it.
type document struct {
	ID        string `json:"document_id"`
	Partner   string `json:"partner"`
	Class     string `json:"class"`
	Type      string `json:"message_type"`
	Number    string `json:"number"`
	IssueDate string `json:"issue_date"`
	State     string `json:"state"`
	Live      bool   `json:"live"`
	Currency  string `json:"currency"`
	Amount    string `json:"amount"`
	Lines     int    `json:"line_count"`
	MessageID string `json:"message_id"`
}

var documentTitles = []string{"DOCUMENT", "PARTNER", "TYPE", "NUMBER", "DATE", "STATE", "AMOUNT", "LINES", "MESSAGE ID"}

func documentRow(d document) []string {
	state := d.State
	if !d.Live && state == "live" {
		state = "void" // replaced, cancelled or a test
	}
	amount := d.Amount
	if amount != "" {
		amount += " " + d.Currency
	}
	return []string{d.ID, d.Partner, d.Type, d.Number, d.IssueDate, state, amount, strconv.Itoa(d.Lines), d.MessageID}
}

func (c *documentsList) Run(a *app) error {
	asked, err := c.conditions()
	if err != nil {
		return err
	}
	return list(a, c.listing, "/documents", c.filters(asked...), documentTitles, documentRow)
}

type documentsShow struct {
	Document string `arg:"" help:"The document's id, as a list shows it."`
	Output   string `short:"o" enum:"yaml,json" default:"yaml" help:"yaml or json."`
	connection
}

func (c *documentsShow) Run(a *app) error {
	return a.show(c.connection, "/documents/"+url.PathEscape(c.Document), c.Output)
}

type documentsSchema struct{}

// Run writes that of this program's version: there is nothing to ask for.
func (documentsSchema) Run(a *app) error {
	_, err := a.stdout.Write(documents.Schema)
	return err
}

type documentsReport struct {
	Document string `arg:"" help:"The document's id, as a list shows it."`
	Is       string `arg:"" enum:"taken,posted,paid,refused" help:"taken, posted, paid or refused; refused also takes back what was posted."`
	Note     string `placeholder:"TEXT" help:"What else is to be known."`
	Output   string `short:"o" enum:"yaml,json" default:"yaml" help:"yaml or json."`
	connection
}

func (c *documentsReport) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	body, err := api.ask(a, http.MethodPost, "/documents/"+url.PathEscape(c.Document)+"/report", nil, map[string]any{"is": c.Is, "note": c.Note}, &json.RawMessage{})
	if err != nil {
		return err
	}
	return a.inFull(body, c.Output)
}

// show gives one thing of the API in full, as YAML for a person: it has more
// fields than a table has columns.
func (a *app) show(at connection, path, output string) error {
	api, err := a.client(at)
	if err != nil {
		return err
	}
	body, err := api.ask(a, http.MethodGet, path, nil, nil, &json.RawMessage{})
	if err != nil {
		return err
	}
	return a.inFull(body, output)
}

// inFull writes what the API answered.
func (a *app) inFull(body []byte, output string) error {
	if output == "json" {
		return a.rawJSON(body)
	}
	text, err := yaml.JSONToYAML(body)
	if err != nil {
		return err
	}
	_, err = a.stdout.Write([]byte(printableLines(string(bytes.TrimRight(text, "\n"))) + "\n"))
	return err
}
