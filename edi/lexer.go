package edi

// Class is what the bytes of a text showed beside delimiters: flags that cost
// the lexer nothing and tell whether its characters need a closer look.
type Class uint8

// The flags. A byte that is a delimiter of the text sets none.
const (
	ClassHigh    Class = 1 << 3 // ≥ 0x80
	ClassControl Class = 1 << 4 // < 0x20 and 0x7F, but for CR and LF
	ClassLower   Class = 1 << 5 // printable, outside level A of ISO 9735: a–z and @ # $ and so on
)

const (
	classMark  = 1 << 7
	classFlags = uint8(ClassHigh | ClassControl | ClassLower)
	blockSize  = 32 << 10
)

// Lexer finds the delimiters of a text and cuts it into segments, by byte
// offsets alone: no value is copied. A table gives each byte its class, and the
// inner loop has no branch that depends on the text.
//
// The text comes in windows of less than 512 MiB: Window, then Lex until it
// reports false, End at the end of the text; Drop and Window again to go on with
// a further piece of it.
type Lexer struct {
	Segments []Segment // complete ones, in order
	Seen     Class     // of all bytes since the caller last cleared it
	Empties  int       // empty segments: two terminators in a row; not in Segments
	Stray    int64     // offset of the first of them
	Gaps     int       // between segments where more than one line end stands, or other blanks
	Gap      int64     // offset behind the first of them
	Indexed  int64     // bytes looked at; those that were forgotten and read anew count again

	class    [256]uint8
	blank    [256]bool // between segments, unless it is a delimiter
	short    bool      // tags are those of X12
	text     *text
	stops    []uint32
	done     int    // bytes of the window whose marks were written
	step     int    // what Lex reads at most, 0 all: little after data was passed over
	scanned  int    // marks already looked at
	from     uint32 // start of the segment being read
	first    uint32 // and its first mark
	released bool
	escaped  uint32 // window offset + 1 of a byte released from the block before, 0 none
	gap      gap    // blanks before from
}

// NewLexer makes a lexer for a text with delimiters d. Zero delimiters are not
// used; decode is kept for the segments' values, nil means UTF-8.
func NewLexer(d Delimiters, decode func([]byte) string) *Lexer {
	l := new(Lexer)
	l.Reset(d, decode)
	return l
}

// Reset makes l ready for another text, as NewLexer does, and keeps what it has
// allocated. Segments of the text before are not valid any more.
func (l *Lexer) Reset(d Delimiters, decode func([]byte) string) {
	t := l.text
	if t == nil {
		t = new(text)
	}
	*t = text{marks: t.marks[:0], release: d.Release, decode: decode}
	*l = Lexer{Segments: l.Segments[:0], stops: l.stops, text: t, class: classes, blank: blank}
	mark := func(b byte, kind uint8) {
		if b != 0 {
			l.class[b], l.blank[b] = classMark|kind, false
		}
	}
	mark(d.Component, kindComponent)
	mark(d.Repetition, kindRepetition)
	mark(d.Element, kindElement)
	mark(d.Release, kindRelease)
	mark(d.Terminator, kindTerminator)
}

// Unwrapped says that line ends were taken out of the text: base in Window then
// counts what is left.
func (l *Lexer) Unwrapped(b *Breaks) { l.text.breaks = b }

// Allocated is how many bytes l keeps for its next text.
func (l *Lexer) Allocated() int {
	const segment = 32 // bytes of a Segment
	return cap(l.Segments)*segment + cap(l.stops)*4 + cap(l.text.marks)*4
}

// classes are those of a text without delimiters.
var classes = func() (class [256]uint8) {
	for b := range 256 {
		switch {
		case b >= 0x80:
			class[b] = uint8(ClassHigh)
		case b == '\r' || b == '\n':
		case b < 0x20 || b == 0x7F:
			class[b] = uint8(ClassControl)
		case !LevelA(byte(b)):
			class[b] = uint8(ClassLower)
		}
	}
	return class
}()

// LevelA reports whether b is in character set level A of ISO 9735, annex A.
func LevelA(b byte) bool {
	switch {
	case b >= 'A' && b <= 'Z', b >= '0' && b <= '9':
		return true
	}
	switch b {
	case ' ', '.', ',', '-', '(', ')', '/', '=', '!', '"', '%', '&', '*', ';', '<', '>', '\'', '+', ':', '?':
		return true
	}
	return false
}

// Window sets the bytes to read: at first all there is, later what was left by
// Drop with more behind it. base is the payload offset of raw[0].
func (l *Lexer) Window(raw []byte, base int64) {
	l.text.raw, l.text.base = raw, base
}

// Held is what was read from segment n on, which need not be complete: bytes and
// delimiters.
func (l *Lexer) Held(n int) (size, marks int) {
	from, first := l.Start(n)
	return l.done - from, len(l.text.marks) - first
}

// Offset is where segment n starts in the payload.
func (l *Lexer) Offset(n int) int64 {
	from, _ := l.Start(n)
	return l.text.at(uint32(from))
}

// Start is where segment n starts in the window, and its first delimiter; for
// one that is not complete, where reading goes on.
func (l *Lexer) Start(n int) (from, first int) {
	if n < len(l.Segments) {
		return int(l.Segments[n].from), int(l.Segments[n].first)
	}
	return int(l.from), int(l.first)
}

// Lex reads up to n further bytes, in blocks, and appends the segments that
// ended in them. It reports whether bytes are left in the window: fewer than n are
// read where Opaque or Skip came before, since they may be about to come again.
func (l *Lexer) Lex(n int) bool {
	if l.step > 0 {
		n = min(n, l.step)
		l.step = min(2*l.step, blockSize)
	}
	for n > 0 && l.done < len(l.text.raw) {
		size := min(n, blockSize, len(l.text.raw)-l.done)
		l.index(l.text.raw[l.done : l.done+size])
		l.cut()
		n -= size
	}
	for int(l.from) < l.done && l.blank[l.text.raw[l.from]] {
		l.gap = l.gap.and(l.text.raw[l.from])
		l.from++
	}
	return l.done < len(l.text.raw)
}

// index appends the marks of one block.
func (l *Lexer) index(block []byte) {
	t := l.text
	n := len(t.marks)
	if need := n + len(block) + 8; cap(t.marks) < need {
		grown := make([]uint32, n, max(need, cap(t.marks)*5/4))
		copy(grown, t.marks)
		t.marks = grown
	}
	marks := t.marks[:cap(t.marks)]
	class := &l.class
	// A delimiter's class is added as it is: its high bit moves the offset by
	// classMark>>markShift, which at makes up for.
	at := uint32(l.done)<<markShift - classMark
	var seen uint8
	i := 0
	for ; i+8 <= len(block); i += 8 {
		b := (*[8]byte)(block[i:])
		m := (*[8]uint32)(marks[n:])
		c0, c1, c2, c3 := class[b[0]], class[b[1]], class[b[2]], class[b[3]]
		c4, c5, c6, c7 := class[b[4]], class[b[5]], class[b[6]], class[b[7]]
		seen |= c0 | c1 | c2 | c3 | c4 | c5 | c6 | c7
		m[0] = at + uint32(c0)
		k := uint(c0 >> 7)
		m[k] = at + 1<<markShift + uint32(c1)
		k += uint(c1 >> 7)
		m[k] = at + 2<<markShift + uint32(c2)
		k += uint(c2 >> 7)
		m[k] = at + 3<<markShift + uint32(c3)
		k += uint(c3 >> 7)
		m[k] = at + 4<<markShift + uint32(c4)
		k += uint(c4 >> 7)
		m[k] = at + 5<<markShift + uint32(c5)
		k += uint(c5 >> 7)
		m[k] = at + 6<<markShift + uint32(c6)
		k += uint(c6 >> 7)
		m[k] = at + 7<<markShift + uint32(c7)
		n += int(k + uint(c7>>7))
		at += 8 << markShift
	}
	for ; i < len(block); i++ {
		c := class[block[i]]
		seen |= c
		marks[n] = at + uint32(c)
		n += int(c >> 7)
		at += 1 << markShift
	}
	l.Seen |= Class(seen & classFlags)
	t.marks = marks[:n]
	l.done += len(block)
	l.Indexed += int64(len(block))
}

// cut goes through the new marks and ends segments. Only terminators and
// releases are looked at; their places are gathered first, without a branch.
func (l *Lexer) cut() {
	t := l.text
	fresh := t.marks[l.scanned:]
	n := l.gather(fresh)
	if l.escaped > 0 {
		if len(fresh) > 0 && fresh[0]>>markShift == l.escaped-1 {
			n = l.strike(fresh, l.stops[:n], 0)
		}
		if int(l.escaped) <= l.done {
			l.escaped = 0
		}
	}
	stops := l.stops[:n]
	at := len(l.Segments)
	segments := l.room(n)
	raw, base := t.raw, uint32(l.scanned)
	from, first, released := l.from, l.first, l.released
	for k := 0; k < len(stops); k++ {
		i := stops[k]
		m := fresh[i]
		to := m >> markShift
		if m&markKind == kindRelease {
			released = true
			if l.release(fresh, i) && k+1 < len(stops) && stops[k+1] == i+1 {
				k++
			}
			continue
		}
		if from < to && l.blank[raw[from]] || l.gap != gapNone {
			if l.gap == gapNone && raw[from] == '\n' && from+1 < to && !l.blank[raw[from+1]] {
				from++ // a line a segment, as most write
			} else {
				from = l.skip(from, to)
			}
		}
		last := base + i
		if from == to {
			if l.Empties++; l.Empties == 1 {
				l.Stray = t.at(to)
			}
		} else {
			s := &segments[at]
			at++
			if s.text != t {
				s.text = t
			}
			s.from, s.to, s.first, s.marks, s.Number, s.released, s.open = from, to, first, last-first, 0, released, false
			if released {
				s.marks = compact(t.marks[first:last])
			}
			tagEnd := to
			if s.marks > 0 {
				tagEnd = t.marks[first] >> markShift
			}
			if l.short {
				s.user = shortTag(raw[from:tagEnd])
			} else {
				s.user = tagEnd == from+3 && userTag(raw[from:tagEnd])
			}
		}
		from, first, released = to+1, last+1, false
	}
	l.from, l.first, l.released, l.Segments = from, first, released, segments[:at]
	l.scanned = len(t.marks)
}

// skip gives the first byte from from on that is no blank, and notes blanks that
// are more than the end of a line.
func (l *Lexer) skip(from, to uint32) uint32 {
	g, raw := l.gap, l.text.raw
	for from < to && l.blank[raw[from]] {
		g = g.and(raw[from])
		from++
	}
	if g == gapOdd {
		if l.Gaps++; l.Gaps == 1 {
			l.Gap = l.text.at(from)
		}
	}
	l.gap = gapNone
	return from
}

// gap is what stands between two segments: nothing, one line end, or more.
type gap uint8

const (
	gapNone gap = iota
	gapReturn
	gapLine
	gapOdd
)

// and is g with b behind it.
func (g gap) and(b byte) gap {
	switch {
	case g == gapNone && b == '\r':
		return gapReturn
	case g <= gapReturn && b == '\n':
		return gapLine
	}
	return gapOdd
}

// gather fills stops with the indexes of terminators and releases.
func (l *Lexer) gather(fresh []uint32) int {
	if cap(l.stops) < len(fresh)+1 {
		l.stops = make([]uint32, len(fresh)+len(fresh)/4+1)
	}
	stops := l.stops[:cap(l.stops)]
	n := 0
	for i, m := range fresh {
		stops[n] = uint32(i)
		n += int((m&3 - 1) >> 31) // kindTerminator and kindRelease have the low bits 00
	}
	return n
}

// room makes room for n further segments, and gives all there is.
func (l *Lexer) room(n int) []Segment {
	if need := len(l.Segments) + n; cap(l.Segments) < need {
		grown := make([]Segment, len(l.Segments), max(need, cap(l.Segments)*5/4))
		copy(grown, l.Segments)
		l.Segments = grown
	}
	return l.Segments[:cap(l.Segments)]
}

// release strikes mark i, a release character, and the mark that it releases,
// and reports whether there was one.
func (l *Lexer) release(fresh []uint32, i uint32) (struck bool) {
	off := fresh[i] >> markShift
	if int(i)+1 < len(fresh) && fresh[i+1]>>markShift == off+1 {
		fresh[i+1] |= kindStruck
		struck = true
	} else if int(off)+1 == l.done {
		l.escaped = off + 2
	}
	fresh[i] |= kindStruck
	return struck
}

// kindStruck is a mark that counts no more: a release, or what it released.
const kindStruck = markKind

// strike takes mark i out and gives the number of stops that are left.
func (l *Lexer) strike(fresh, stops []uint32, i uint32) int {
	fresh[i] |= kindStruck
	if len(stops) > 0 && stops[0] == i {
		return copy(stops, stops[1:])
	}
	return len(stops)
}

// compact closes the gaps of struck marks.
func compact(marks []uint32) uint32 {
	n := 0
	for _, m := range marks {
		if m&markKind != kindStruck {
			marks[n] = m
			n++
		}
	}
	return uint32(n)
}

// blank are the bytes that may stand between segments.
// QUIRK: blanks, tabs and NUL behind a terminator carry no data.
var blank = [256]bool{'\r': true, '\n': true, ' ': true, '\t': true, 0: true}

// Blank reports whether b may stand between segments and before the first one.
func Blank(b byte) bool { return blank[b] }

// End says that the text ends with the window. A segment without terminator is
// appended, blanks behind it left out, and reported; dangling reports a release
// character with nothing behind it.
func (l *Lexer) End() (open, dangling bool) {
	t := l.text
	to := uint32(len(t.raw))
	dangling = l.escaped > 0
	for to > l.from && l.blank[t.raw[to-1]] {
		to--
	}
	for l.from < to && l.blank[t.raw[l.from]] {
		l.from++
	}
	if l.from == to {
		return false, dangling
	}
	for len(t.marks) > int(l.first) && t.marks[len(t.marks)-1]>>markShift >= to {
		t.marks = t.marks[:len(t.marks)-1]
	}
	marks := uint32(len(t.marks)) - l.first
	if l.released {
		marks = compact(t.marks[l.first:])
	}
	l.Segments = append(l.Segments, Segment{
		text: t, from: l.from, to: to, first: l.first, marks: marks, released: l.released, open: true,
	})
	l.from, l.first = to, uint32(len(t.marks))
	return true, dangling
}

// Drop forgets the first n segments and gives the number of bytes at the front
// of the window that nothing needs any more. All offsets count from there
// afterwards, so the next Window must start that much later.
func (l *Lexer) Drop(n int) int {
	t := l.text
	f, m := l.Start(n)
	by, first := uint32(f), uint32(m)
	l.Segments = l.Segments[:copy(l.Segments, l.Segments[n:])]
	t.marks = t.marks[:copy(t.marks, t.marks[first:])]
	for i := range t.marks {
		t.marks[i] -= by << markShift
	}
	for i := range l.Segments {
		s := &l.Segments[i]
		s.from, s.to, s.first = s.from-by, s.to-by, s.first-first
	}
	l.from, l.first, l.done, l.scanned = l.from-by, l.first-first, l.done-int(by), l.scanned-int(first)
	if l.escaped > 0 {
		l.escaped -= by
	}
	t.raw, t.base = t.raw[by:], t.base+int64(by)
	return int(by)
}

// Span is the size of segments n up to m, m not included: bytes and delimiters.
func (l *Lexer) Span(n, m int) (size, marks int) {
	from, first := l.Start(n)
	s := l.Segments[m-1]
	return int(s.to) - from + 1, int(s.first+s.marks) - first
}
