package edi

// Party is one end of an interchange: S002 0004/0007 and S003 0010/0007, or
// ISA05/06 and ISA07/08. Identifiers are trimmed on the right, case kept.
type Party struct {
	ID        string `json:"id"`
	Qualifier string `json:"qualifier"`
}

// Interchange is UNB…UNZ or ISA…IEA: what Split reads of it (envelope, bounds,
// natural key, digest of the bytes) and what Scan adds (messages, content
// digest, errors).
type Interchange struct {
	Syntax        string // "edifact" or "x12"
	SyntaxID      string // 0001: UNOA…UNOY; empty in X12
	SyntaxVersion string // 0002, or ISA12
	Encoding      string // 0133, where UNB carries it
	Delimiters    Delimiters

	Sender, Recipient    Party
	ControlReference     string // 0020, ISA13 as nine digits
	ApplicationReference string // 0026
	Agreement            string // 0032
	Date                 string // CCYYMMDD of S004 or ISA09, "" if it is no date; the sender's local time
	Time                 string // HHMM or HHMMSS as sent
	Test                 bool   // 0035 = 1, ISA15 = T
	AckRequested         bool   // 0031 = 1, ISA14 = 1

	Offset, Length int64 // in the payload: from UNA, UNB or ISA through the last terminator
	PayloadSHA256  [32]byte

	// Set by Scan.
	ContentSHA256 [32]byte // see docs/reference/digests.md
	Groups        []Group
	Messages      []Message
	Errors        []*Error // of the interchange itself; one of severity Error refuses all of it
	MessageErrors map[int][]*Error
	DroppedErrors int // counted, not kept: a hostile file may hold a million

	DroppedRefusals int // how many of them are of severity Error
	Segments        int
	Complete        bool // the trailer was found
}

// ContentVersion names the rules that made ContentSHA256. Digests of different
// versions are never compared.
const ContentVersion = 2

// Group is UNG…UNE or GS…GE.
type Group struct {
	FunctionalID      string // 0038, GS01
	Sender, Recipient Party
	Reference         string // 0048, GS06
	Date, Time        string
	Agency, Version   string // GS07, GS08; 0051, S008
	Offset            int64
	Messages          int // counted
	Included          int // as GE01 says; of X12, -1 where it says nothing

	Errors []*Error // of the group itself; one of severity Error refuses its messages and no others
}

// MessageType is what UNH S009 or ST01/GS08 says. Interchanges of a million
// messages share a handful. Of a package, Version and Release are the first S020:
// 0813 and 0802.
type MessageType struct {
	Type            string `json:"type"`             // INVOIC, 810
	Version         string `json:"version"`          // D, or empty
	Release         string `json:"release"`          // 96A, 004010
	Agency          string `json:"agency"`           // UN
	AssociationCode string `json:"association_code"` // EAN008
	Convention      string `json:"-"`                // ST03 as sent, which AK203 repeats
}

// Package is the type of a package of EDIFACT, UNO…UNP: it counts and is answered
// as a message is. What it carries stands behind its headers.
const Package = "UNO"

// Message is UNH…UNT or ST…SE, or a package, whose Reference is 0800 behind
// "UNO/": messages have theirs beside it. It is kept small: an interchange may
// hold 999,999.
type Message struct {
	Type      *MessageType
	Reference string // 0062, ST02
	Offset    int64
	Length    int64 // through the terminator
	SHA256    [32]byte
	Segments  int32
	Group     int32 // index into Interchange.Groups, -1 without groups
}

// Delimiters of one interchange. Zero means: has none.
type Delimiters struct {
	Component, Element, Decimal, Release, Repetition, Terminator byte
	Explicit                                                     bool // UNA was sent
}

// Refused reports whether message i may not be processed: an error of its own, of
// its group or of the interchange.
func (ic *Interchange) Refused(i int) bool {
	if i < len(ic.Messages) {
		if g := ic.Messages[i].Group; g >= 0 && Worst(ic.Groups[g].Errors) >= SeverityError {
			return true
		}
	}
	return Worst(ic.Errors) >= SeverityError || Worst(ic.MessageErrors[i]) >= SeverityError
}

// MessageReference is the group's and the message's reference, which together
// identify a message in its interchange.
func (ic *Interchange) MessageReference(i int) string {
	m := &ic.Messages[i]
	if m.Group < 0 {
		return m.Reference
	}
	return ic.Groups[m.Group].Reference + "/" + m.Reference
}
