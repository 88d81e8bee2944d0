package edifact

import "github.com/edigw/edigw/edi"

// Reader reads interchanges. The zero value follows the standard; its fields
// are what a partner's settings may change.
type Reader struct {
	edi.Tolerance

	// UnreliableMessageReferences lets a second message with a known reference
	// through, for senders whose 0062 is constant.
	UnreliableMessageReferences bool

	// Undigested leaves PayloadSHA256, ContentSHA256 and the SHA256 of messages zero,
	// for who only judges what is said: they cost as much as the reading.
	Undigested bool

	// Check, which may be nil, judges what stands inside message i, as
	// structure.Tables does. What it finds joins what was found of the message.
	Check func(ic *edi.Interchange, i int, b *edi.Body) []*edi.Error

	maxMessage int64 // bytes; 0 means MaxMessage
	chunk      int   // bytes read from a spool at a time; 0 means the window's own
}

// What is refused for its size alone. A message is held in memory as a whole.
const (
	MaxMessage  = 64 << 20  // bytes of one message, of ISO 9735's unbounded ones
	MaxSegments = 1_000_000 // in one message: 0074 is n..6 in versions 1 to 3
	MaxMessages = 999_999   // in one interchange: 0036 is n..6
	MaxGroups   = 99_999    // in one interchange
	MaxTypes    = 1_000     // different S009 in one interchange
	MaxHeader   = 4 << 10   // bytes of UNB, UNG or UNH
)

func (r Reader) messageLimit() int64 {
	if r.maxMessage > 0 {
		return r.maxMessage
	}
	return MaxMessage
}

// Leads reports whether head, the start of a payload, is EDIFACT: UNA, UNB, or
// a UIB, UNG or UNH that Split can name in its refusal. A byte order mark and
// blanks may stand before it.
func Leads(head []byte) bool {
	head = edi.SkipLead(head)
	if len(head) < 4 {
		return false
	}
	switch string(head[:3]) {
	case "UNA":
		return true
	case "UNB", "UIB", "UNG", "UNH":
		return !edi.Alphanumeric(head[3])
	}
	return false
}
