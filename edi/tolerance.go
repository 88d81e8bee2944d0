package edi

// Tolerance is how strictly text is read: what a partner's settings let pass, or
// do not, of that which the standards forbid and the wild sends. The zero value
// is the default. What is let pass is a finding; what could be read in two ways
// is refused whatever is set.
type Tolerance struct {
	// Charset is the character set that the text is in whatever its envelope
	// says, for senders that declare the wrong one or, in X12, cannot: a name of
	// CharsetNames. Empty: what is declared holds.
	Charset string

	// DefaultCharset is the character set where the envelope names none that is
	// known, or one that has no bytes ≥ 0x80 while the text has. Empty: such
	// bytes are errors.
	DefaultCharset string

	RefuseByteOrderMark  bool // EF BB BF before the first header
	RefuseBlankLines     bool // between segments more than one line end, blanks, tabs, NUL
	RefuseUnpadded       bool // identifiers of EDIFACT that are padded, of ISA that are not
	RefuseLeadingZeros   bool // counts such as 0005
	RefuseSurroundedText bool // text before, between and behind interchanges

	Structure Structure // what becomes of a message that departs from its directory

	// Guide names the tables to judge messages by in place of the association code
	// that they name themselves (0057, the rest of GS08 or ST03). Empty: theirs.
	Guide string

	LineWraps bool // line ends within segments are no part of the text
}

// Structure is what becomes of a message whose segments and elements are not
// those of its directory.
type Structure uint8

// A departure is a warning, refuses its message, or is not looked for.
const (
	StructureNoted Structure = iota
	StructureRefused
	StructureIgnored
)
