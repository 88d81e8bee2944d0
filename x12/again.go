package x12

import "github.com/edigw/edigw/edi"

// Again gives a function that reads transaction set i of an interchange that Scan
// has read before, as Scan handed it out, without reading the others. It is
// cheapest in ascending order. Its Body is valid until the next call; its error is
// ours: the payload could not be read. Not for concurrent use.
func (r Reader) Again(p *edi.Payload, ic *edi.Interchange) func(i int) (*edi.Body, error) {
	c, _ := r.charset()
	lex := edi.NewLexer(ic.Delimiters, c.Decode)
	text := edi.Texts(p, ic)
	return func(i int) (*edi.Body, error) {
		raw, err := text(i)
		if err != nil {
			return nil, err
		}
		from := ic.Messages[i].Offset
		lex.Reset(ic.Delimiters, c.Decode)
		if r.LineWraps {
			if flat, breaks := edi.Unwrap(raw, from, ic.Delimiters); breaks != nil {
				lex.Unwrapped(breaks)
				return wrappedBody(lex, flat), nil
			}
		}
		return body(lex, raw, from, ic.Delimiters), nil
	}
}

// wrappedBody cuts the text of a transaction set without its line ends.
func wrappedBody(lex *edi.Lexer, flat []byte) *edi.Body {
	lex.Window(flat, 0)
	for lex.Lex(len(flat)) {
	}
	return lex.Body()
}

// body cuts raw, the text of one transaction set that starts at payload offset
// base, BIN and BDS by their lengths.
func body(lex *edi.Lexer, raw []byte, base int64, d edi.Delimiters) *edi.Body {
	lex.Window(raw, base)
	next, opaque := 0, int64(-1)
	for left := true; left; {
		left = lex.Lex(len(raw))
		for ; next < len(lex.Segments); next++ {
			seg := &lex.Segments[next]
			at := seg.Offset() - base
			if at == opaque || !seg.Is("BIN") && !seg.Is("BDS") {
				continue
			}
			data, behind, ok := binary(raw[at:min(at+binaryHead, int64(len(raw)))], at, d, int64(len(raw)))
			if !ok || raw[behind] != d.Terminator {
				continue
			}
			lex.Opaque(next, base+data, base+behind)
			opaque, left = at, true
			break
		}
	}
	return lex.Body()
}
