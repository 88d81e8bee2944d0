package main

import (
	"encoding/json"
	"fmt"
)

// event is a CloudEvent 1.0 in JSON, as far as this service reads it.
type event struct {
	SpecVersion string          `json:"specversion"`
	ID          string          `json:"id"` // the idempotency key
	Type        string          `json:"type"`
	Partner     string          `json:"partnerid"`
	Data        json.RawMessage `json:"data"`
}

// The types that concern a ledger.
const (
	documentCreated    = "io.edigw.document.created"
	documentSuperseded = "io.edigw.document.superseded"
)

// readEvent reads one, and refuses what is none.
func readEvent(text []byte) (e event, err error) {
	if err := json.Unmarshal(text, &e); err != nil {
		return e, fmt.Errorf("no JSON: %w", err)
	}
	if e.SpecVersion != "1.0" || e.ID == "" || e.Type == "" {
		return e, fmt.Errorf("no CloudEvent 1.0: specversion %q, id %q, type %q", e.SpecVersion, e.ID, e.Type)
	}
	return e, nil
}

// of is the data of document.created and document.superseded.
type of struct {
	Document  string `json:"document_id"`
	Cancelled bool   `json:"cancelled"` // of one that was superseded: nothing took its place
}

// document is what the API tells of a document, as far as this service reads it.
// Amounts are text: a JSON number would be read as a float.
type document struct {
	ID       string `json:"document_id"`
	Class    string `json:"class"`
	Number   string `json:"number"`
	Live     bool   `json:"live"` // neither replaced nor cancelled, now
	Currency string `json:"currency"`
	Totals   struct {
		Payable      string `json:"payable"`
		TaxInclusive string `json:"tax_inclusive"`
	} `json:"totals"`
}
