package edifact

import "github.com/edigw/edigw/edi"

// Again gives a function that reads message i of an interchange that Scan has
// read before, as Scan handed it out, without reading the others. It is cheapest
// in ascending order. Its Body is valid until the next call; its error is ours:
// the payload could not be read. Not for concurrent use.
func (r Reader) Again(p *edi.Payload, ic *edi.Interchange) func(i int) (*edi.Body, error) {
	cs, _ := r.charset(ic.SyntaxID, ic.Encoding)
	lex := edi.NewLexer(ic.Delimiters, cs.Decode)
	text := edi.Texts(p, ic)
	return func(i int) (*edi.Body, error) {
		raw, err := text(i)
		if err != nil {
			return nil, err
		}
		m := &ic.Messages[i]
		lex.Reset(ic.Delimiters, cs.Decode)
		base := m.Offset
		if r.LineWraps {
			var breaks *edi.Breaks
			if raw, breaks = edi.Unwrap(raw, m.Offset, ic.Delimiters); breaks != nil {
				lex.Unwrapped(breaks)
				base = 0
			}
		}
		lex.Window(raw, base)
		if m.Type.Type == edi.Package {
			passObject(lex, raw)
		}
		for lex.Lex(len(raw)) {
		}
		return lex.Body(), nil
	}
}
