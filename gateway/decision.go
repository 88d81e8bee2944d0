package gateway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/edigw/edigw/dedup"
)

// Choice is what an operator decides about a drift.
type Choice string

// The decisions. KeepOriginal is, after row I1, "already had it".
const (
	KeepOriginal    Choice = "keep_original"
	Replace         Choice = "replace"
	ProcessAsNew    Choice = "process_as_new"
	CompleteWith    Choice = "complete"
	RejectAndNotify Choice = "reject_and_notify"
	ProcessPayload  Choice = "process"
	RejectPayload   Choice = "reject"
)

// DecisionRow is a row of the table of decisions: what one does to a drift of
// one kind.
type DecisionRow struct {
	Choice Choice
	Kind   string // of drift

	D       string // what becomes of the payload that drifted
	Current string // of the current variant
	Copies  string // what later copies are told

	Posts    bool // taken only if every message posts or is absorbed
	Notifies bool // always; else only where the partner was told positively
	// WithoutOriginal: applies to a drift of row I1 too.
	WithoutOriginal bool
}

// Decisions is the table of decisions: outcomes.md, Decisions of an operator.
var Decisions = []DecisionRow{
	{Choice: KeepOriginal, Kind: dedup.KindInterchange, WithoutOriginal: true,
		D: "refused; where the drift was answered positively a notice says so", Current: "as it is", Copies: "of D its stored answer (I8), of the other as before"},
	{Choice: Replace, Kind: dedup.KindInterchange, Posts: true,
		D:       "accepted and current; what stands byte for byte is kept, the rest posted as the next revision, documents that D lacks cancelled",
		Current: "superseded, with every other accepted or partly variant", Copies: "each its own stored answer (I2)"},
	{Choice: ProcessAsNew, Kind: dedup.KindInterchange, Posts: true, WithoutOriginal: true,
		D: "accepted in a new epoch; what stands byte for byte is absorbed", Current: "stays in its epoch", Copies: "each its own stored answer"},
	{Choice: CompleteWith, Kind: dedup.KindInterchange, Posts: true,
		D: "accepted and current; messages whose document is known with the same content absorbed, the rest posted", Current: "superseded", Copies: "each its own stored answer (I2)"},
	{Choice: RejectAndNotify, Kind: dedup.KindInterchange, Notifies: true, WithoutOriginal: true,
		D: "refused; a notice says so", Current: "as it is", Copies: "as keep_original"},

	{Choice: ProcessPayload, Kind: dedup.KindTransport,
		D: "decided at interchange level as if the transport id were unknown", Current: "as it is", Copies: "of D the answers of its interchanges (T3)"},
	{Choice: RejectPayload, Kind: dedup.KindTransport,
		D: "rejected; where the drift was answered positively a notice says so", Current: "as it is", Copies: "of D its stored answer (T2b)"},

	{Choice: Replace, Kind: dedup.KindDocument, Posts: true,
		D: "the held message is posted as the next revision, the older document superseded", Current: "as it is", Copies: "its new stored answer"},
	{Choice: ProcessAsNew, Kind: dedup.KindDocument, Posts: true,
		D: "the held message is posted as a further document", Current: "as it is", Copies: "its new stored answer"},
	{Choice: KeepOriginal, Kind: dedup.KindDocument, Notifies: true,
		D: "the held message stays held and closed, is never judged again and no longer bars purging; a notice says so", Current: "stays accepted", Copies: "its stored answer"},
	{Choice: RejectAndNotify, Kind: dedup.KindDocument, Notifies: true,
		D: "as keep_original", Current: "stays accepted", Copies: "its stored answer"},
}

// decisionRow finds the row of a choice for a kind of drift.
func decisionRow(kind string, c Choice) (*DecisionRow, error) {
	var offered []string
	for i := range Decisions {
		if Decisions[i].Kind != kind {
			continue
		}
		if Decisions[i].Choice == c {
			return &Decisions[i], nil
		}
		offered = append(offered, string(Decisions[i].Choice))
	}
	return nil, refusal(NotApplicable, "%q is no decision on a drift of kind %s; those are %s", c, kind, strings.Join(offered, ", "))
}

// DecisionReason is a reason code of a decision.
type DecisionReason struct{ Code, Text string }

// DecisionReasons are the reason codes; "other" needs a note.
var DecisionReasons = []DecisionReason{
	{"sent_by_mistake", "the partner sent it by mistake"},
	{"corrected", "the partner corrected what he sent before"},
	{"number_reused", "the partner used a number for another message"},
	{"already_processed", "it was processed before, here or elsewhere"},
	{"wrong_content", "its content is wrong"},
	{"confirmed_with_partner", "the partner was asked and has confirmed it"},
	{"our_fault", "processing it failed on our side"},
	{"other", "something else, in the note"},
}

func checkReason(code, note string) error {
	if !slices.ContainsFunc(DecisionReasons, func(r DecisionReason) bool { return r.Code == code }) {
		codes := make([]string, len(DecisionReasons))
		for i, r := range DecisionReasons {
			codes[i] = r.Code
		}
		return refusal(NoReason, "the reason %q is none of %s", code, strings.Join(codes, ", "))
	}
	if code == "other" && strings.TrimSpace(note) == "" {
		return refusal(NoReason, `the reason "other" needs a note that says what`)
	}
	return nil
}

// Person is who acts: identity is the person, not the token.
type Person struct {
	Name string
	Role string // acted in
}

// Decision is an operator's decision on a drift.
type Decision struct {
	Alert  uuid.UUID
	Choice Choice
	// Digest names one of the alert's payloads. nil takes the only undecided one.
	Digest []byte
	// Payloads is how many undecided payloads of the alert were seen: a decision that
	// posts nothing and names none takes them all, if they are as many still.
	Payloads int
	Reason   string // code of DecisionReasons
	Note     string
	By       Person
}

// Ruling is what came of a decision.
type Ruling struct {
	Alert     uuid.UUID   `json:"alert_id"`
	State     string      `json:"state"`               // of the alert: awaiting_approval if nothing was changed yet
	Posted    int         `json:"posted"`              // documents
	Replaced  int         `json:"superseded"`          // documents
	Cancelled int         `json:"cancelled"`           // documents
	Absorbed  int         `json:"absorbed"`            // messages
	Notices   int         `json:"notices"`             // to the partner
	Documents []uuid.UUID `json:"documents,omitempty"` // posted, the first of them
	Needs     string      `json:"needs,omitempty"`     // who has to act next, in words
}

// RefusalCode says what kind of reason a decision was not taken for.
type RefusalCode string

// The reasons why a decision is not taken. Nothing was changed.
const (
	NotApplicable  RefusalCode = "not-applicable"    // no such decision here
	NoReason       RefusalCode = "no-reason"         // the reason code is unknown, or its note missing
	AlreadyDecided RefusalCode = "already-decided"   // applied once
	AwaitsApproval RefusalCode = "awaits-approval"   // a proposal is to be approved or withdrawn first
	NothingToTake  RefusalCode = "nothing-proposed"  // no proposal waits
	SamePerson     RefusalCode = "same-person"       // the approver is the proposer
	StillPending   RefusalCode = "still-pending"     // something under the key is being processed
	DoesNotPost    RefusalCode = "does-not-post"     // a message would not be posted
	InBooks        RefusalCode = "in-the-books"      // a document it would replace or cancel was reported as posted or paid
	FactsChanged   RefusalCode = "facts-changed"     // what the proposal was made on is no longer so
	WhichPayload   RefusalCode = "which-payload"     // several payloads, none named
	NoLongerKept   RefusalCode = "key-not-kept"      // the key or payload is gone
	NoLongerFits   RefusalCode = "no-longer-fits"    // a replay: other content stands under the key since
	NothingToDo    RefusalCode = "nothing-to-replay" // a replay: nothing dead, nothing refused under older settings
)

// Refusal says why a decision was not taken.
type Refusal struct {
	Code RefusalCode
	Why  []string // in words, one for each thing in the way
}

// maxWhy bounds the reasons that Error gives; Why has all of them.
const maxWhy = 10

// Error gives the reasons.
func (r *Refusal) Error() string {
	if n := len(r.Why); n > maxWhy {
		return fmt.Sprintf("%s; and %d more", strings.Join(r.Why[:maxWhy], "; "), n-maxWhy)
	}
	return strings.Join(r.Why, "; ")
}

func refusal(code RefusalCode, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Why: []string{fmt.Sprintf(format, args...)}}
}
