package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/partners"
)

// Delivery is one arrival of a message over a transport; a retry is another
// delivery of the same message. The transport has authenticated the partner,
// decrypted, verified and decompressed before it makes one.
type Delivery struct {
	Transport string            // http, as2, as4
	Partner   *partners.Partner // the authenticated one
	// TransportID is the transport key (dedup.TransportKey), "" if the sender
	// gave no id.
	TransportID string
	Payload     *edi.Payload
	Parts       []int64  // where its parts end, if it came in several; no interchange goes over an end
	SHA256      [32]byte // of the payload: dedup.PartsDigest
	Received    time.Time
	Remote      string // address, for the journal
	Filename    string // a label, never a path
	Signer      string // label of the partner's certificate that signed it, "" for none

	// Fault is set where the delivery could not be opened under a known name: it
	// is refused and journalled, and no key is made.
	Fault *Rejection
	// Refusal gives the HTTP status under which a Rejection is told, for the journal;
	// nil: that of plain HTTP.
	Refusal func(*Rejection) int

	// Evidence is what proves who sent it: kept with the payload, and as long. With a
	// Fault it is AsRequest.
	Evidence []Exhibit

	// Render makes the answer's bytes before they are committed.
	Render func(*Receipt) (Rendered, error)
	// Signs says that Render is costly and remembers what it made. It is then asked
	// once before a connection is taken, for what the delivery will be told as things
	// stand.
	Signs bool
	// Binding is what an answer's bytes are tied to beside what is told: the sender
	// holds them against what he sent last. Of AS2 it is the MIC with its algorithm and
	// the kind of receipt that is asked for, of AS4 the references of the signature; of
	// both the certificate that we sign with. Where a stored answer was made under
	// another binding, the same outcome is rendered afresh. nil ties it to nothing.
	Binding []byte
	// Elsewhere has the answer leave by the outbox instead of in the response. Receive
	// takes it away from a Fault that is beyond what is kept of a partner and day.
	Elsewhere *Elsewhere
	// WithAcknowledgement: functional acknowledgements travel in the answer.
	WithAcknowledgement bool
}

// Rendered is an answer as it leaves: the entity that is stored, and given again as it
// is.
type Rendered struct {
	Status      int
	ContentType string
	Fields      Fields // further header fields
	Body        []byte
}

// Fields are fields of an answer's header, in order.
type Fields = journal.Fields

// Receipt is our stored promise for one delivery.
type Receipt struct {
	Partner   string
	MessageID string // the transport key, else the interchange key, else sha256: of the payload
	SHA256    [32]byte
	Answer    Answer // over all items, as Overall
	Items     []Item

	// What the delivery itself was: for the response header, metrics and log.
	Verdict  Verdict // "mixed" if the interchanges disagree
	Repeat   bool    // a stored answer is given again
	Delivery uuid.UUID
	Rendered Rendered
	Keys     []string
	Rules    []string // rows of the outcome table
	AlertID  uuid.UUID
	Posted   int // documents posted
}

// status is the HTTP status under which the receipt of d is told: a repeat of what was
// created is told 200, and what goes elsewhere leaves nothing for the response, 204.
func (r *Receipt) status(d *Delivery) int16 {
	switch {
	case r.Repeat && r.Rendered.Status == 201:
		return 200
	case d.Elsewhere != nil && r.Rendered.Status == 200:
		return 204
	}
	return int16(r.Rendered.Status)
}

// Mixed is the verdict of a delivery whose interchanges have several.
const Mixed Verdict = "mixed"

// Item is one interchange's part of a receipt. JSON is InterchangeReceipt,
// stored and given again byte for byte.
type Item struct {
	Answer       Answer
	JSON         json.RawMessage
	Acknowledged bool // a functional acknowledgement that the partner gets says so
}

// InterchangeReceipt is what a receipt says of one interchange.
type InterchangeReceipt struct {
	Syntax           string                     `json:"syntax,omitempty"`
	MessageID        string                     `json:"message_id,omitempty"`
	Verdict          Verdict                    `json:"verdict"`
	Outcome          string                     `json:"outcome"`
	Problem          string                     `json:"problem,omitempty"`
	Detail           string                     `json:"detail,omitempty"`
	PayloadSHA256    string                     `json:"payload_sha256,omitempty"`
	ContentSHA256    string                     `json:"content_sha256,omitempty"`
	Alert            string                     `json:"alert_id,omitempty"`
	Documents        []DocumentReceipt          `json:"documents,omitempty"`
	DocumentsOmitted int                        `json:"documents_omitted,omitempty"`
	DocumentsAt      string                     `json:"documents_at,omitempty"`
	Acknowledgement  *FunctionalAcknowledgement `json:"acknowledgement,omitempty"`
	Findings         []Finding                  `json:"findings,omitempty"`
	FindingsOmitted  int                        `json:"findings_omitted,omitempty"`
}

// DocumentReceipt names a document of an interchange.
type DocumentReceipt struct {
	Type     string     `json:"type"`
	Number   string     `json:"number"`
	Document *uuid.UUID `json:"document_id,omitempty"`
	State    string     `json:"state"` // posted, absorbed, held, refused, dead
}

// FunctionalAcknowledgement is a CONTRL, or TA1 and 997, as text; content that
// is no UTF-8 goes as base64. One that leaves by another way has no content here.
type FunctionalAcknowledgement struct {
	Type    string `json:"type"`
	By      string `json:"by,omitempty"` // acknowledge_by, where it is not the response
	Content string `json:"content,omitempty"`
	Base64  []byte `json:"content_base64,omitempty"`
}

// Finding is an edi.Error in a receipt.
type Finding struct {
	Severity string        `json:"severity"`
	Code     string        `json:"code"`
	Standard string        `json:"standard,omitempty"`
	Message  string        `json:"message"`
	Location *edi.Location `json:"location,omitempty"`

	// Of a message of the interchange; 0 and "" of its envelope.
	MessageIndex     int    `json:"message_index,omitempty"`     // position in the interchange, from 1
	MessageReference string `json:"message_reference,omitempty"` // as sent, behind that of its group
}

// FindingOf makes a finding of an error in the text.
func FindingOf(e *edi.Error) Finding {
	f := Finding{Severity: e.Severity.String(), Code: e.Code, Standard: e.Standard, Message: e.Text}
	if e.Location != (edi.Location{}) || e.Outside() {
		l := e.Location
		f.Location = &l
	}
	return f
}

// Refuses reports whether what the finding stands in is refused for it.
func (f Finding) Refuses() bool { return f.Severity == edi.SeverityError.String() }

// Rejection says that the sender has to change something. Anything else that
// goes wrong is a failure, and ours.
type Rejection struct {
	Answer Answer
	Reason string // stable, for metrics and the journal
	Detail string // for the partner
}

// Error gives the reason with its detail.
func (r *Rejection) Error() string { return fmt.Sprintf("%s: %s", r.Reason, r.Detail) }

// ErrBusy: the first copy of a known id is still running past the wait. The
// partner is told to come again (409 or 503).
var ErrBusy = errors.New("the first copy of this message is still being processed")

// Format is one EDI syntax. Formats are values in a visible list; the gateway
// knows none by name.
type Format struct {
	Name string
	// Leads reports whether head begins with this syntax's first service segment.
	Leads func(head []byte) bool
	// Split reads envelope and bounds of the interchange at from, and the digest
	// of its bytes: cheap. An *edi.Error means that no envelope can be read; the
	// interchange returned then says how many bytes to leave behind.
	Split func(p *edi.Payload, from int64, o Reading) (*edi.Interchange, error)
	// Scan reads all of it: messages, content digest, errors; visit gets each
	// message parsed.
	Scan func(p *edi.Payload, ic *edi.Interchange, o Reading, visit func(i int, b *edi.Body) error) error
	// Again reads messages of an interchange that was scanned once more, one by one.
	Again func(p *edi.Payload, ic *edi.Interchange, o Reading) func(i int) (*edi.Body, error)
	// Acknowledge writes the functional acknowledgement and names what it is. It is
	// nil where the syntax has nothing to say.
	Acknowledge func(ic *edi.Interchange, a edi.Acknowledgement) (kind string, content []byte, err error)
	// Advise writes the application advice on an interchange, and names what it is. It is
	// nil where there is nothing to name; without it nobody is advised.
	Advise func(ic *edi.Interchange, a edi.Advice) (kind string, content []byte, err error)
	// Answers hands out what an interchange that was scanned says of interchanges
	// of ours: CONTRL and APERAK, or TA1, 997, 999 and 824. It reads nothing where
	// there are none. It is nil where the syntax has no answers.
	Answers func(p *edi.Payload, ic *edi.Interchange, o Reading, visit func(edi.Answer) error) error
	// NeverAcknowledged are types that are acknowledgements themselves.
	NeverAcknowledged []string
}

// Reading is what a partner's settings change about how text is read.
type Reading struct {
	edi.Tolerance
	UnreliableMessageReferences bool
	Undigested                  bool // digests stay zero: for who only judges the text
}
