package documents

import (
	"bytes"
	"crypto/sha256"
	"hash"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/edigw/edigw/edi"
)

// contentVersion goes into the digests of this file; raised when a rule changes.
const contentVersion = 1

// A digester makes both content digests of a message in one pass, and hands out
// its segments as text on the way. What is said beside number and dates, the bulk,
// is hashed once into body; number and dates stand in kept, and GuardContent is the
// digest of both.
//
// The text is UTF-8 with separators of its own: unit, record, group and file
// separator of ASCII behind a component, a repetition, an element and a segment;
// where one of them stands in a value, escape goes before it. Empty components and
// elements are left out where nothing follows them. So the delimiters, charset,
// release characters and line breaks of an interchange do not count.
type digester struct {
	body   hash.Hash
	kept   []byte
	order  int     // of segments hashed, so that kept ones have their place
	buf    []byte  // text of the segments of this block
	hashed int     // how far buf was hashed, or left out
	starts []int32 // of the elements in buf
	ends   []end   // of the segments in buf
	own    []byte  // BGM, BIG or BSN as it is hashed
	of     edi.Delimiters
	become [256]byte // what a byte of a plain segment becomes; 0: look at its values
}

// end is where a segment in the block ends.
type end struct {
	text    int32 // in buf
	starts  int32 // in starts
	escaped bool  // one of our separators may stand in a value
}

const (
	escape    = 0x1B
	behindSeg = 0x1C
	behindEl  = 0x1D
	behindRep = 0x1E
	behindCom = 0x1F
)

var digesters = sync.Pool{New: func() any {
	return &digester{body: sha256.New(), buf: make([]byte, 0, readBlock+1024)}
}}

// readBlock is how much text of a message is made at a time.
const readBlock = 8 << 10

// begin makes ready for a message with delimiters d.
func (g *digester) begin(d edi.Delimiters) {
	g.body.Reset()
	g.buf, g.kept, g.order = append(g.buf[:0], contentVersion), append(g.kept[:0], contentVersion), 0
	g.ends, g.starts, g.hashed = g.ends[:0], g.starts[:0], 0
	if g.of == d {
		return
	}
	g.of = d
	for b := range g.become {
		g.become[b] = byte(b)
		if b >= utf8.RuneSelf || b >= escape && b <= behindCom || d.Element == 0 {
			g.become[b] = 0
		}
	}
	for _, m := range [...]struct{ delimiter, becomes byte }{{d.Component, behindCom}, {d.Repetition, behindRep}, {d.Element, behindEl}, {d.Release, 0}} {
		if m.delimiter != 0 {
			g.become[m.delimiter] = m.becomes
		}
	}
}

// read visits the segments of a message and sets the document's content digests.
// They leave out what says which copy this is, not what it says (outcomes.md,
// "Documents"): the references of UNH and UNT, ST and SE, functions that say original
// or copy, and the message date: DTM 137 where an invoice date stands beside it, BSN03
// and BSN04. It gives the first segment whose text is no UTF-8 or holds NUL, -1 if
// there is none.
func (d *Document) read(ic *edi.Interchange, b *edi.Body, visit func(s *segment, at int)) (invalid int) {
	g := digesters.Get().(*digester)
	defer func() {
		if cap(g.buf) <= 64*readBlock {
			digesters.Put(g)
		}
	}()
	g.begin(ic.Delimiters)
	invalid = -1
	header := headerEnd(b)
	messageDate := true
	for i := range b.Segments[:header] {
		s := &b.Segments[i]
		if s.Is("DTM") && string(s.RawValue(1, 1, 1)) == "3" && len(s.RawValue(1, 1, 2)) > 0 {
			messageDate = false
		}
	}
	first := 0 // segment of this block
	for i := range b.Segments {
		s := &b.Segments[i]
		start := len(g.buf)
		escaped, ok := g.write(s)
		if !ok && invalid < 0 {
			invalid = i
		}
		g.ends = append(g.ends, end{int32(len(g.buf)), int32(len(g.starts)), escaped})
		g.buf = append(g.buf, behindSeg)
		g.order++
		if i < header || i == len(b.Segments)-1 {
			g.special(s, i, start, messageDate)
		}
		if len(g.buf) >= readBlock || i == len(b.Segments)-1 {
			g.body.Write(g.buf[g.hashed:])
			g.visit(b.Segments[first:i+1], first, visit)
			first = i + 1
		}
	}
	g.body.Sum(d.contentOnly[:0])
	g.kept = append(g.kept, d.contentOnly[:]...)
	d.content = sha256.Sum256(g.kept)
	return invalid
}

// visit hands out the segments of the block. Their values are pieces of one string.
func (g *digester) visit(segments []edi.Segment, first int, visit func(s *segment, at int)) {
	var s segment
	s.block = string(g.buf)
	from := end{}
	if first == 0 {
		from.text = 1 // contentVersion
	}
	for i, to := range g.ends {
		s.Segment = &segments[i]
		s.tag = s.block[from.text : int(from.text)+len(s.RawTag())]
		s.starts, s.end, s.escaped = g.starts[from.starts:to.starts], to.text, to.escaped
		visit(&s, first+i)
		from = end{text: to.text + 1, starts: to.starts}
	}
	g.buf, g.ends, g.starts, g.hashed = g.buf[:0], g.ends[:0], g.starts[:0], 0
}

// special hashes what of the header and trailer is not hashed as it stands.
func (g *digester) special(s *edi.Segment, i, start int, messageDate bool) {
	text := g.buf[start : len(g.buf)-1]
	tag := string(s.RawTag())
	switch {
	case i == 0: // the reference is the first element of UNH, the second of ST
		from := bytes.IndexByte(text, behindEl)
		if next := bytes.IndexByte(text[from+1:], behindEl); tag == "ST" && from >= 0 {
			if next < 0 {
				return
			}
			from += 1 + next
		}
		if from < 0 {
			return
		}
		to := bytes.IndexByte(text[from+1:], behindEl)
		if to < 0 {
			to = len(text) - from - 1
		}
		g.body.Write(g.buf[g.hashed : start+from])
		g.hashed = start + from + 1 + to
	case tag == "UNT" || tag == "SE":
		g.leaveOut(start)
	case heads[tag].number > 0:
		g.leaveOut(start)
		g.body.Write(g.head(s, tag))
		g.keep(appendEscaped(nil, s.Get(heads[tag].number, 1)))
		if at := heads[tag].date; at > 0 {
			g.keep(appendEscaped(nil, s.Get(at, 1)))
		}
	case tag == "DTM":
		g.leaveOut(start)
		if messageDate || string(s.RawValue(1, 1, 1)) != "137" {
			g.keep(text)
		}
	}
}

// leaveOut skips what stands in the block from start on.
func (g *digester) leaveOut(start int) {
	g.body.Write(g.buf[g.hashed:start])
	g.hashed = len(g.buf)
	g.order--
}

// headerEnd is the index of the first segment behind the header.
func headerEnd(b *edi.Body) int {
	for i := range b.Segments {
		switch string(b.Segments[i].RawTag()) {
		case "LIN", "CPS", "UNS", "UNT", "IT1", "HL", "TDS", "CTT", "SE":
			return i
		}
	}
	return len(b.Segments)
}

// head says where the segment that opens a document has what is not hashed with the
// rest: its number and date, the time of the message, and its function.
type head struct {
	number, date, function int
	message                [2]int // date and time of the message, left out altogether
}

var heads = map[string]head{
	"BGM": {number: 2, function: 3},
	"BIG": {number: 2, date: 1, function: 8},
	"BSN": {number: 2, function: 1, message: [2]int{3, 4}},
}

// head gives BGM, BIG or BSN as it is hashed: without the number, which is kept apart,
// and without functions that say original or copy of it, which are all one.
func (g *digester) head(s *edi.Segment, tag string) []byte {
	g.order++
	h := heads[tag]
	g.own = appendValues(append(g.own[:0], tag...), s, func(v edi.Value) bool {
		switch v.Element {
		case h.number:
			return v.Component == 1
		case h.function:
			if tag != "BGM" {
				return v.Component == 1 && neutral(functionOf(v.Text))
			}
			return v.Component == 1 && neutral(v.Text)
		case h.date, h.message[0], h.message[1]:
			return v.Element > 0
		}
		return false
	})
	g.own = append(g.own, behindSeg)
	return g.own
}

// keep puts a segment among number and dates, with its place.
func (g *digester) keep(text []byte) {
	g.kept = strconv.AppendInt(g.kept, int64(g.order), 10)
	g.kept = append(append(append(g.kept, behindEl), text...), behindSeg)
}

// write appends a segment's text to the block. It reports whether separators of
// ours may be escaped in it, and whether it is UTF-8 without NUL. Plain ASCII, nearly
// all there is, is translated byte by byte without a copy of each value.
func (g *digester) write(s *edi.Segment) (escaped, ok bool) {
	raw := s.Raw()
	start, starts := len(g.buf), len(g.starts)
	g.buf = slices.Grow(g.buf, len(raw)+1)
	out := g.buf[start : start+len(raw)]
	n := 0
	for _, b := range raw {
		c := g.become[b]
		if c-behindEl <= behindCom-behindEl || c == 0 {
			switch c {
			case 0:
				g.starts = g.starts[:starts]
				return g.writeValues(s)
			case behindEl:
				n = dropTrailing(out, n, behindRep)
				g.starts = append(g.starts, int32(start+n+1))
			case behindRep:
				n = dropTrailing(out, n, behindCom)
			}
		}
		out[n] = c
		n++
	}
	g.buf = g.buf[:start+dropTrailing(out, n, behindEl)]
	for len(g.starts) > starts && int(g.starts[len(g.starts)-1]) > len(g.buf) {
		g.starts = g.starts[:len(g.starts)-1]
	}
	return false, true
}

// writeValues is write for what is not plain.
func (g *digester) writeValues(s *edi.Segment) (escaped, ok bool) {
	ok = sound(string(s.RawTag()))
	g.buf = append(g.buf, s.RawTag()...)
	start := len(g.buf)
	g.buf = appendValues(g.buf, s, func(v edi.Value) bool {
		ok = ok && sound(v.Text)
		return false
	})
	for i := start; i < len(g.buf); i++ {
		switch g.buf[i] {
		case escape:
			escaped = true
		case behindEl:
			g.starts = append(g.starts, int32(i+1))
		}
	}
	return escaped, ok
}

// appendValues appends the values of s, those left out as if they were empty.
func appendValues(dst []byte, s *edi.Segment, leaveOut func(edi.Value) bool) []byte {
	element, repetition, component := 0, 1, 1
	for v := range s.Values() {
		if v.Element == 0 || v.Text == "" || leaveOut(v) {
			continue
		}
		for ; element < v.Element; element++ {
			dst, repetition, component = append(dst, behindEl), 1, 1
		}
		for ; repetition < v.Repetition; repetition++ {
			dst, component = append(dst, behindRep), 1
		}
		for ; component < v.Component; component++ {
			dst = append(dst, behindCom)
		}
		dst = appendEscaped(dst, v.Text)
	}
	return dst
}

// dropTrailing gives the length of b[:n] without the separators from lowest up
// that end it.
func dropTrailing(b []byte, n int, lowest byte) int {
	for n > 0 && b[n-1] >= lowest && b[n-1] <= behindCom {
		n--
	}
	return n
}

// appendEscaped appends a value in which separators are escaped.
func appendEscaped(dst []byte, value string) []byte {
	for i := 0; i < len(value); i++ {
		if value[i] >= escape && value[i] <= behindCom {
			dst = append(dst, escape)
		}
		dst = append(dst, value[i])
	}
	return dst
}

// sound reports whether PostgreSQL takes s as text.
func sound(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] == 0 {
			return false
		}
	}
	return true
}
