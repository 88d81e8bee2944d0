package as4

import "time"

// UserMessage is an eb:UserMessage: core §5.2.2.
type UserMessage struct {
	MPC           string // DefaultMPC where the message names none
	MessageInfo   MessageInfo
	From, To      Party
	Collaboration CollaborationInfo
	Properties    []Property // of the message
	Parts         []PartInfo // in their order, which is the consumer's
}

// MessageInfo is eb:MessageInfo: core §5.2.2.1.
type MessageInfo struct {
	Timestamp      time.Time // UTC where the message gives no zone
	MessageID      string
	RefToMessageID string
}

// Party is eb:From or eb:To: core §5.2.2.3.
type Party struct {
	ID   string
	Type string // of the PartyId; "" if it has none
	Role string
}

// CollaborationInfo is eb:CollaborationInfo: core §5.2.2.7.
type CollaborationInfo struct {
	Agreement      Agreement
	Service        string
	ServiceType    string
	Action         string
	ConversationID string // may be empty
}

// Agreement is eb:AgreementRef; zero if there is none.
type Agreement struct {
	Value, Type, PMode string
}

// Property is an eb:Property of a message or a part: core §5.2.2.11, §5.2.2.13.
type Property struct {
	Name, Type, Value string
}

// PartInfo is eb:PartInfo: core §5.2.2.12, and its properties by AS4 profile §3.1.
type PartInfo struct {
	Href            string // as it stands
	MimeType        string // of the payload before compression
	CharacterSet    string
	CompressionType string // "" or GZIP
	Properties      []Property
}

// GZIP is the only compression there is: AS4 profile §3.1.
const GZIP = "application/gzip"

// The names of a part's properties: AS4 profile §3.1.
const (
	mimeTypeProperty        = "MimeType"
	characterSetProperty    = "CharacterSet"
	compressionTypeProperty = "CompressionType"
)

// IsTest reports whether the message is one of the test service, which is answered
// and never delivered: core §5.2.2.8.
func (u *UserMessage) IsTest() bool {
	return u.Collaboration.Service == TestService && u.Collaboration.Action == TestAction
}

// SignalMessage is an eb:SignalMessage: core §5.2.3.
type SignalMessage struct {
	MessageInfo MessageInfo
	Pull        *string        // the MPC of an eb:PullRequest
	Receipt     *ReceiptSignal // an eb:Receipt
	Errors      []ErrorSignal  // eb:Error, of which there may be several
}

// ErrorSignal is an eb:Error as a partner sent it: core §6.2.
type ErrorSignal struct {
	Code, Severity, Category, Origin, Short string
	RefToMessage                            string
	Description, Detail                     string
}
