package edi

// Skip forgets segment n and what was read behind it, and goes on at payload
// offset to, which may lie behind the window: what stands before it is no text,
// but an object that a package of EDIFACT carries. n is at least 1; what Seen says
// may come from the object.
func (l *Lexer) Skip(n int, to int64) {
	t := l.text
	_, first := l.Start(n)
	l.uncount(n-1, first)
	t.marks, l.Segments = t.marks[:first], l.Segments[:n]
	at := int(to - t.base)
	l.from, l.done = uint32(at), at
	l.first, l.scanned = uint32(first), first
	l.released, l.escaped, l.gap, l.step = false, 0, gapNone, firstStep
}

// Bytes are those of the window from payload offset from up to to: a view.
func (l *Lexer) Bytes(from, to int64) []byte { return l.text.raw[from-l.text.base : to-l.text.base] }

// Left reports whether the window holds bytes that were not read.
func (l *Lexer) Left() bool { return l.done < len(l.text.raw) }
