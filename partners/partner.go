// Package partners knows who may send: organisations, partners, their
// identifiers, tokens and policies.
//
// Reader turns YAML into Specs and reports every fault of a file with its line.
// Store.Apply brings the database to what the Specs say, counting a revision for
// each partner that changed; Store.Export writes YAML that changes nothing when
// it is applied again. Directory is the snapshot the hot path reads without a
// lock.
//
// It owns the tables configuration, organisation, partner, partner_revision,
// partner_identifier and partner_token. It knows no HTTP, and not who is at the
// console: the caller writes the audit entry in the transaction it hands in.
package partners

import (
	"time"

	"github.com/edigw/edigw/documents/roles"
	"github.com/edigw/edigw/edi"
)

// Partner is one sender as configured. A *Partner in use is never changed: an
// apply makes a new one with the next revision.
type Partner struct {
	ID           string // short name, [a-z0-9][a-z0-9._-]{0,39}; partner_id in every table
	Name         string
	Active       bool
	Revision     int32     // counts configuration changes of this partner; what was judged under an older one may be judged again
	Connected    time.Time // the day the partner was first applied, UTC
	Organisation string    // which of our organisations plain HTTP deliveries are for
	Identifiers  []Identifier
	SpeaksFor    []string // ids of partners whose interchanges this one may deliver (VANs)
	Types        []string // message types accepted: INVOIC, DESADV, …
	Share        int      // percent of a process that its deliveries may hold at once, 1 to 100; 0 is DefaultShare
	Policy       Policy
	Retention    Retention
	Credentials  string         // what it proves itself by on plain HTTP: AnyCredential and its like
	Certificates []*Certificate // by label; see CertificatesFor and Recognises
	AS2          AS2
	AS4          *AS4 // what is agreed for AS4; nil: it is not used
}

// What a partner proves itself by on plain HTTP.
const (
	AnyCredential    = "any"         // a token, or a certificate of TLSClient
	TokenAlone       = "token"       // certificates are not looked at
	CertificateAlone = "certificate" // tokens are not taken
	BothCredentials  = "both"        // one of each, of the same partner
)

// DefaultShare leaves another partner half of every process.
const DefaultShare = 50

// Identifier is one interchange address of a partner or of ours. Qualifier ""
// matches only an address sent without one.
type Identifier struct {
	Qualifier string `yaml:"qualifier" json:"qualifier"` // 0007, ISA05
	ID        string `yaml:"id" json:"id"`               // 0004, ISA06; trimmed on the right, case kept
}

// Policy holds the settings of outcomes.md by their names there.
type Policy struct {
	Processing             Processing        // by message type: inline or deferred
	Acceptance             string            // "interchange" or "message"
	OnDrift                string            // "reject" or "hold"
	OnDead                 string            // "hold" or "refuse"; see HoldsDead
	DriftAcknowledgement   string            // "none" or "reject"
	FourEyes               string            // "invoices" or "off": which decisions need a second person
	ReceiptAction          edi.Action        // 7 or 8
	AcceptsUCI8            bool              // accepts_uci8
	Absorb                 []string          // drift classes: formatting, envelope
	Attempts               int               // of a failing handler, default 5
	ControlReference       string            // "unique", "unique_per_day" or "unreliable"
	MessageReference       string            // "unique" or "unreliable"
	TransportID            string            // "unique" or "unreliable"
	ReuseAfter             time.Duration     // 0 is off
	KeyIncludesApplication bool              // UNB 0026 joins the key
	OnKnownDocument        map[string]string // by class, "invoice" and "despatch": "hold" or "note"
	Checks                 Checks            // what findings in documents do, by code
	Roles                  *roles.Set        // documents: what their qualifiers stand for
	Form                   string            // functional_acknowledgement: "997", "999", or "" by the version of the group
	TA1                    string            // ta1: "always", "never", or "" where it is asked for or the envelope is refused
	Acknowledge            string            // acknowledge_by: "response", "webhook", "folder", "as2", "as4" or "none"
	Advise                 string            // advise_by: how APERAK and 824 leave, as Acknowledge; "", "response" or "none": not at all
	AcknowledgeURL         string            // where to, of "webhook"
	AcknowledgeSecret      string            // names what it is signed with; "" is not at all
	HandOver               string            // hand_over: where posted documents are handed over to: "none" or "folder"
	Silence                Silence           // after how long without a delivery he is silent
	Reading                edi.Tolerance     // reading: how strictly text is read
	Previous               *KeySettings      // what key settings were before the last change, for dedup_window
}

// AnswersInResponse reports whether functional acknowledgements stand in the answer to
// the delivery, or in the one to its repeat.
func (p *Policy) AnswersInResponse() bool {
	return p.Acknowledge == "" || p.Acknowledge == "response"
}

// HoldsDead reports whether what is dead is told positively and looked after by
// us. A partner of whom anything is deferred was told so before it was tried.
func (p *Policy) HoldsDead() bool { return p.OnDead != "refuse" || p.Processing.Any() }

// KeySettings are the settings that shape an interchange key.
type KeySettings struct {
	ControlReference       string       `json:"control_reference"`
	KeyIncludesApplication bool         `json:"key_includes_application"`
	Until                  time.Time    `json:"until"` // the earlier keys are looked up until then
	Before                 *KeySettings `json:"-"`     // what they were before that, if those keys may still stand
}

// Retention holds the windows of design §7; days.
type Retention struct {
	DedupWindow, RetryWindow, Payloads, Acknowledgements, Quarantine, Deliveries time.Duration
	Invoices, Despatches, OtherDocuments                                         time.Duration // 0: kept
	LegalHold                                                                    bool
}

// Document is how long documents of a class are kept; 0 is for good.
func (r Retention) Document(class string) time.Duration {
	switch class {
	case "invoice":
		return r.Invoices
	case "despatch":
		return r.Despatches
	}
	return r.OtherDocuments
}
