package ubl

import "fmt"

// What a remark is about.
const (
	Missing = "missing"  // EN 16931 asks for it and the document does not say it
	Derived = "derived"  // the document does not say it; it was made of what it says
	LeftOut = "left_out" // the document says it and UBL has no place for it
)

// Remark is what whoever reads a UBL file has to know of it: the file is not all that
// the document says, or says more.
type Remark struct {
	Kind  string `json:"kind"`            // Missing, Derived or LeftOut
	Term  string `json:"term,omitempty"`  // of EN 16931: BT-131, BG-23
	Line  int    `json:"line,omitempty"`  // the first line it is true of, from 1; 0 where it is of the document
	Count int    `json:"count,omitempty"` // of how many lines, where it is of lines
	Text  string `json:"text"`            // in words
}

func (r Remark) String() string {
	switch {
	case r.Count > 1:
		return fmt.Sprintf("%s: line %d and %d more: %s", r.Kind, r.Line, r.Count-1, r.Text)
	case r.Line > 0:
		return fmt.Sprintf("%s: line %d: %s", r.Kind, r.Line, r.Text)
	}
	return r.Kind + ": " + r.Text
}

// Unfit says why a document cannot be written as UBL: what the UBL schema demands is
// not in it. Its text says what, in words for an operator.
type Unfit struct{ Reason string }

func (e *Unfit) Error() string { return "no UBL can be made of this document: " + e.Reason }

// remarks gathers them: one for each kind, term and text, however many lines it is
// true of.
type remarks struct {
	list []Remark
	at   map[Remark]int // Kind, Term and Text alone: position in list
}

// add remarks something of line i of Document.Lines, or of the document where i < 0.
func (r *remarks) add(kind, term string, i int, text string) {
	key := Remark{Kind: kind, Term: term, Text: text}
	if at, is := r.at[key]; is {
		if i >= 0 {
			r.list[at].Count++
		}
		return
	}
	if r.at == nil {
		r.at = map[Remark]int{}
	}
	r.at[key] = len(r.list)
	if i >= 0 {
		key.Line, key.Count = i+1, 1
	}
	r.list = append(r.list, key)
}
