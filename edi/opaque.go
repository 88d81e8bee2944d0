package edi

// Opaque says that the bytes of segment n from payload offset from up to to, to
// not included, are data, whatever stands in them: what X12's BIN and BDS carry.
// What was read behind from is forgotten, segment n included, and Lex goes on at
// to, which may lie behind the window: it waits for one that reaches so far.
func (l *Lexer) Opaque(n int, from, to int64) {
	t := l.text
	start, first := l.Start(n)
	marks := first
	for marks < len(t.marks) && t.base+int64(t.marks[marks]>>markShift) < from {
		marks++
	}
	// Every terminator that is forgotten ended a segment, or was counted as empty.
	for _, m := range t.marks[marks:] {
		if m&markKind == kindTerminator {
			l.Empties--
		}
	}
	l.Empties += len(l.Segments) - n
	t.marks, l.Segments = t.marks[:marks], l.Segments[:n]
	l.from, l.first = uint32(start), uint32(first)
	l.done, l.scanned = int(to-t.base), marks
	l.released, l.escaped = false, 0
}
