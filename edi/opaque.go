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
	l.uncount(n, marks)
	t.marks, l.Segments = t.marks[:marks], l.Segments[:n]
	l.from, l.first = uint32(start), uint32(first)
	l.done, l.scanned = int(to-t.base), marks
	l.released, l.escaped, l.gap, l.step = false, 0, gapNone, firstStep
}

// firstStep is how many bytes are read behind data that was passed over, twice as
// many each time from there on: a text of nothing but such segments is not read a
// block ahead, to be forgotten, for every one of them.
const firstStep = 64

// uncount takes back what was counted between the segments behind segment n, whose
// text was read from mark marks on.
func (l *Lexer) uncount(n, marks int) {
	t := l.text
	from := l.Segments[n].to + 1
	for _, m := range t.marks[marks:] {
		to := m >> markShift
		if m&markKind != kindTerminator || to < from {
			continue
		}
		g := gapNone
		for from < to && l.blank[t.raw[from]] {
			g = g.and(t.raw[from])
			from++
		}
		if g == gapOdd {
			l.Gaps--
		}
		if from == to {
			l.Empties--
		}
		from = to + 1
	}
}
