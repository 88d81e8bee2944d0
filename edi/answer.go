package edi

import "fmt"

// Answer is what one acknowledgement says that came in: a CONTRL, an APERAK, a
// TA1, a 997, a 999 or an 824, of something that we sent.
type Answer struct {
	Kind       string      `json:"kind"`       // "CONTRL", "APERAK", "TA1", "997", "999", "824"
	Message    int         `json:"message"`    // that carries it: index into Interchange.Messages; -1 for TA1, which stands in none
	Number     string      `json:"number"`     // its own: BGM 1004, BGN02; "" where the kind has none
	Location   Location    `json:"location"`   // where it begins: UNH, ST, TA1
	Judgements []Judgement `json:"judgements"` // in the order as sent: interchange, group, messages

	// Findings are what is wrong with the answer itself: counts that disagree, a
	// verdict that is missing. With one of severity Error it cannot be relied on.
	Findings []*Error `json:"-"`
}

// Judgement is the word on one thing: an interchange, a group, a message or a
// document. What the answer does not name is empty or nil.
type Judgement struct {
	Level       Level                `json:"level"`
	Interchange *AnsweredInterchange `json:"interchange"`     // never nil; shared by the judgements of an answer
	Group       *AnsweredGroup       `json:"group,omitempty"` // that it is about, or that its message stands in
	Type        *MessageType         `json:"type,omitempty"`  // of the message
	Reference   string               `json:"reference"`       // of the message: 0062, ST02; a package's behind "UNO/"
	Documents   []AnsweredReference  `json:"documents,omitempty"`

	Acceptance Acceptance  `json:"acceptance"`
	Action     string      `json:"action"`         // as sent: 0083, 4343 or 1225, TA104, AK501, AK901, OTI01; "" where nothing was
	Text       string      `json:"text,omitempty"` // in their words, of the thing as a whole: FTX and NTE that belong to no error
	Objections []Objection `json:"objections,omitempty"`
}

// AnsweredInterchange names an interchange that we sent: Sender is us. Where the
// answer does not name the parties they are those of its own envelope, the other
// way round.
type AnsweredInterchange struct {
	ControlReference string `json:"control_reference"` // UCI 0020, TA101 as nine digits; "" in 997, 999, 824 and APERAK
	Sender           Party  `json:"sender"`
	Recipient        Party  `json:"recipient"`
	Date             string `json:"date,omitempty"` // TA102 as CCYYMMDD; "" elsewhere
	Time             string `json:"time,omitempty"` // TA103
}

// AnsweredGroup names a group that we sent.
type AnsweredGroup struct {
	FunctionalID string `json:"functional_id,omitempty"` // AK101
	Reference    string `json:"reference"`               // UCF 0048, AK102, OTI08
	Version      string `json:"version,omitempty"`       // AK103, OTI11
	Sender       Party  `json:"sender"`                  // UCF S006, OTI04; else the receiver of the group that the answer stands in
	Recipient    Party  `json:"recipient"`               // UCF S007, OTI05; else the sender of that group
	Included     int    `json:"included"`                // AK902, what GE01 said; -1 where it is not told
	Received     int    `json:"received"`                // AK903, likewise
	Accepted     int    `json:"accepted"`                // AK904, likewise
}

// AnsweredReference is a document, or something else that we gave a number: a
// RFF or DOC of APERAK, OTI02 and OTI03, a REF of 824.
type AnsweredReference struct {
	Qualifier string `json:"qualifier"` // 1153 or 128; of DOC the kind of document, 1001
	Number    string `json:"number"`
	Line      string `json:"line,omitempty"`     // 1156
	Version   string `json:"version,omitempty"`  // 4000, 1056
	Date      string `json:"date,omitempty"`     // CCYYMMDD, of the DTM behind it; OTI06
	Document  bool   `json:"document,omitempty"` // Qualifier is a kind of document: it was a DOC
}

// Objection is one thing that the other side found wrong in what we sent. Code is
// of the list of a data element: 0085 in CONTRL, 9321 in APERAK, I18 in TA1, 716,
// 718, 720 and 723 in 997, 716, 618, 620 and 621 in 999, 647 and 1271 in 824.
type Objection struct {
	List     string              `json:"list"`
	Code     string              `json:"code"`
	Meaning  string              `json:"meaning,omitempty"`   // of the code, in words of ours; "" where we have none
	Agency   string              `json:"agency,omitempty"`    // whose list it is: 3055 of ERC, RED03
	Text     string              `json:"text,omitempty"`      // in their words: FTX, TED02, NTE, RED01
	Place    Location            `json:"place"`               // in what we sent, UNH or ST being segment 1; no offset; zero where none is told
	Loop     string              `json:"loop,omitempty"`      // AK303
	Element  string              `json:"element,omitempty"`   // number of the data element: AK402, TED06
	Value    string              `json:"value,omitempty"`     // a copy of what we sent: AK404, TED07
	NewValue string              `json:"new_value,omitempty"` // what they made of it: TED08
	Context  []string            `json:"context,omitempty"`   // CTX, elements and components separated by blanks
	About    []AnsweredReference `json:"about,omitempty"`     // RFF behind ERC: an order line, say
	Reported Location            `json:"reported"`            // in the answer
}

// Level is what a judgement is about.
type Level uint8

// From the outside in. A document may span messages, or be part of one.
const (
	LevelInterchange Level = iota + 1
	LevelGroup
	LevelMessage
	LevelDocument
)

var levels = [...]string{"", "interchange", "group", "message", "document"}

// String gives "interchange", "group", "message" or "document".
func (l Level) String() string {
	if int(l) < len(levels) && l > 0 {
		return levels[l]
	}
	return fmt.Sprintf("level %d", uint8(l))
}

// MarshalText gives String.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Acceptance is what became of the thing.
type Acceptance uint8

// From nothing known to the worst. Received judges no content: CONTRL's 8, a
// TA1 that does not reject, for all that its interchange holds.
const (
	AcceptanceUnknown Acceptance = iota // no verdict, or none that there is
	AcceptanceReceived
	Accepted
	AcceptedWithErrors
	PartlyAccepted // some of what is in it was rejected
	Rejected
)

var acceptances = [...]string{"unknown", "received", "accepted", "accepted with errors", "partly accepted", "rejected"}

// String gives a word or two: "accepted with errors".
func (a Acceptance) String() string {
	if int(a) < len(acceptances) {
		return acceptances[a]
	}
	return fmt.Sprintf("acceptance %d", uint8(a))
}

// MarshalText gives String.
func (a Acceptance) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// On gives what the answer means for the message with reference in the group with
// reference group, "" where we sent none: the judgement that names it, else what
// its group or its interchange is told, and the acceptance that follows from it for
// the message. A nil judgement says nothing of it.
//
// What is named under another reference is no business of On; whether the answer is
// to our interchange at all is the caller's to check.
func (a *Answer) On(group, reference string) (Acceptance, *Judgement) {
	var around *Judgement
	for i := range a.Judgements {
		j := &a.Judgements[i]
		switch {
		case j.Level == LevelInterchange && around == nil:
			around = j
		case j.Level == LevelGroup && j.Group.Reference == group:
			around = j
		case j.Level >= LevelMessage && j.Reference != "" && j.Reference == reference && (j.Group == nil || j.Group.Reference == group):
			return j.Acceptance, j
		}
	}
	if around == nil {
		return AcceptanceUnknown, nil
	}
	if a.Kind == "TA1" && around.Acceptance != Rejected { // of the envelope alone
		return AcceptanceReceived, around
	}
	return around.Acceptance, around
}

// Worst is the worst that the answer says of anything.
func (a *Answer) Worst() (w Acceptance) {
	for i := range a.Judgements {
		w = max(w, a.Judgements[i].Acceptance)
	}
	return w
}
