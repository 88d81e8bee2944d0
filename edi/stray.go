package edi

import "bytes"

// lead looks at what stands before the interchange and belongs to nothing.
func (p *Pass) lead() error {
	n := min(maxLead, p.IC.Offset)
	b, err := p.Payload.Slice(p.IC.Offset-n, n)
	if err != nil {
		return err
	}
	for len(b) > 0 && Blank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	if bytes.HasSuffix(b, byteOrderMark) {
		at := Location{Offset: p.IC.Offset - n + int64(len(b)-len(byteOrderMark))}
		p.Forgive(-1, SeverityNote, p.Tolerance.RefuseByteOrderMark, "byte-order-mark", p.Dialect.Stray, at, "a byte order mark (EF BB BF) stands before the interchange")
	}
	return nil
}

// gaps tells of what stands between segments and is none.
func (p *Pass) gaps() {
	if p.Stopped {
		return
	}
	if p.Lex.Empties > 0 {
		p.Report(-1, SeverityNote, "empty-segment", "", Location{Offset: p.Lex.Stray},
			"%d segment terminators have no segment before them", p.Lex.Empties)
	}
	if p.Lex.Gaps > 0 {
		p.Forgive(-1, SeverityNote, p.Tolerance.RefuseBlankLines, "blanks-between-segments", p.Dialect.Stray, Location{Offset: p.Lex.Gap},
			"blanks or empty lines stand before %d segments", p.Lex.Gaps)
	}
}

// QUIRK: mainframes cut the text into lines of 80 characters wherever that falls,
// in headers, tags and values too. Where a partner's settings say so, line ends
// within segments are no part of the text.

// window shows the interchange from payload offset from on, or, where line ends are
// taken out, what is left of it.
func (p *Pass) window(from int64) (*Window, error) {
	ic := p.IC
	end := ic.Offset + ic.Length
	if !p.Tolerance.LineWraps {
		return NewWindow(p.Payload, from, end, p.Chunk), nil
	}
	if ic.Length > p.Limit {
		p.Stop("message-too-large", p.Dialect.TooLarge, Location{Offset: ic.Offset}, "an interchange whose lines are wrapped is larger than %d bytes", p.Limit)
		return nil, nil
	}
	raw, err := p.Payload.Slice(ic.Offset, ic.Length)
	if err != nil {
		return nil, err
	}
	flat, breaks := Unwrap(raw[from-ic.Offset:], from, ic.Delimiters)
	if breaks == nil {
		return NewWindow(p.Payload, from, end, p.Chunk), nil
	}
	p.wrapped, p.Breaks = raw, breaks
	p.Lex.Unwrapped(breaks)
	switch {
	case breaks.Uneven:
		p.Report(-1, SeverityError, "lines-wrapped-unevenly", p.Dialect.Stray, Location{Offset: from},
			"lines that end inside a segment differ in length: blanks before a line end may be lost, so the text cannot be put together again")
	case breaks.Count > 0:
		p.Report(-1, SeverityNote, "lines-wrapped", p.Dialect.Wrapped, Location{Offset: from}, "%d line ends inside segments were taken out", breaks.Count)
	}
	return NewWindow(Bytes(flat), 0, int64(len(flat)), 0), nil
}
