package infoset

import "fmt"

// Kind is the kind of an Item.
type Kind int

// The kinds of items there are.
const (
	Start       Kind = iota + 1 // an element begins
	End                         // an element ends
	Characters                  // text; that of one element may come in several items
	Comment                     // a comment
	Instruction                 // a processing instruction; its target is Local
)

// Item is one information item of a document. Its slices are good until the next
// call of Next.
type Item struct {
	Kind       Kind
	Prefix     string // of Start and End; "" if there is none
	Local      string // of Start and End; the target of an Instruction
	Attributes []Attribute
	Text       []byte // of Characters, Comment and Instruction, with line ends as LF: XML 1.0 §2.11
}

// Attribute is an attribute or a namespace declaration as it stands, its value
// normalised: XML 1.0 §3.3.3.
type Attribute struct {
	Prefix, Local, Value string
	Space                string // the namespace of the attribute; "" for a declaration
}

// Declares gives the prefix that a namespace declaration binds, "" for the default;
// false for an attribute.
func (a *Attribute) Declares() (prefix string, ok bool) {
	switch {
	case a.Prefix == "xmlns":
		return a.Local, true
	case a.Prefix == "" && a.Local == "xmlns":
		return "", true
	}
	return "", false
}

// SyntaxError says what in a document cannot be read, and where.
type SyntaxError struct {
	Offset int64 // bytes before it
	Line   int   // from 1
	What   string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, byte %d: %s", e.Line, e.Offset, e.What)
}
