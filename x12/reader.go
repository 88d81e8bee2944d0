package x12

import "github.com/edigw/edigw/edi"

// Reader reads interchanges. The zero value follows the standard and forgives
// what is clear; its fields are what a partner's settings may change.
type Reader struct {
	edi.Tolerance

	// UnreliableMessageReferences lets a second transaction set with a known
	// control number through, for senders whose ST02 is constant.
	UnreliableMessageReferences bool

	// Undigested leaves PayloadSHA256, ContentSHA256 and the SHA256 of messages zero,
	// for who only judges what is said: they cost as much as the reading.
	Undigested bool

	// Check, which may be nil, is asked what is wrong with what stands in
	// transaction set i: structure.Tables.Check fits here.
	Check func(ic *edi.Interchange, i int, b *edi.Body) []*edi.Error

	maxMessage int64 // bytes; 0 means MaxMessage
	chunk      int   // bytes read from a spool at a time; 0 means the window's own
}

// What is refused for its size alone. A transaction set is held in memory as a
// whole.
const (
	MaxMessage  = 64 << 20   // bytes of one transaction set
	MaxSegments = 10_000_000 // in one: SE01 is n..10
	MaxMessages = 999_999    // in one interchange: GE01 is n..6
	MaxGroups   = 99_999     // in one interchange: IEA01 is n..5
	MaxTypes    = 1_000      // different ST01, ST03 and GS08 in one interchange
	MaxHeader   = 4 << 10    // bytes of ISA, GS or ST
)

func (r Reader) messageLimit() int64 {
	if r.maxMessage > 0 {
		return r.maxMessage
	}
	return MaxMessage
}

// Leads reports whether head, the start of a payload, is X12: ISA, or a GS or ST
// that Split can name in its refusal. A byte order mark and blanks may stand
// before it.
func Leads(head []byte) bool {
	head = edi.SkipLead(head)
	switch {
	case len(head) >= 4 && string(head[:3]) == "ISA":
		return delimits(head[3])
	case len(head) >= 3 && string(head[:2]) == "GS", len(head) >= 3 && string(head[:2]) == "ST":
		return delimits(head[2]) && head[2] != ' '
	}
	return false
}

// delimits reports whether b may be an element separator.
func delimits(b byte) bool { return !edi.Alphanumeric(b) && !edi.Blank(b) && b < 0x80 || b == '\t' }
