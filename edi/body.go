package edi

// Body is the parsed text of one message: its segments, UNH or ST first, UNT or
// SE last. It is a view of the raw bytes: a value is copied, released and
// decoded only when it is asked for. A Body handed to a visitor is valid until
// the visitor returns.
type Body struct {
	Segments []Segment
}

// Len is the number of segments, header and trailer counted.
func (b *Body) Len() int { return len(b.Segments) }

// Segment gives segment i, from 0.
func (b *Body) Segment(i int) Segment { return b.Segments[i] }

// NewBody reads raw, the text of one message or of any run of segments, and
// counts its segments from number. base is where raw starts in the payload;
// decode turns released bytes into UTF-8, nil means that they are UTF-8.
func NewBody(raw []byte, base int64, number int, d Delimiters, decode func([]byte) string) *Body {
	l := NewLexer(d, decode)
	l.Window(raw, base)
	for l.Lex(len(raw)) {
	}
	l.End()
	for i := range l.Segments {
		l.Segments[i].Number = int32(number + i)
	}
	return &Body{Segments: l.Segments}
}

// Object is what a package carries: the bytes between its last two segments, a
// view, not to be kept or changed. A message carries none.
func (b *Body) Object() []byte {
	n := len(b.Segments)
	if n < 2 || !b.Segments[0].Is(Package) {
		return nil
	}
	before, unp := b.Segments[n-2], b.Segments[n-1]
	return before.text.raw[before.to+1 : unp.from]
}

// Raw is the text from the first segment through the last one's terminator, a
// view, not to be kept or changed.
func (b *Body) Raw() []byte {
	if len(b.Segments) == 0 {
		return nil
	}
	a, z := b.Segments[0], b.Segments[len(b.Segments)-1]
	end := z.to
	if !z.open {
		end++
	}
	return a.text.raw[a.from:end]
}
