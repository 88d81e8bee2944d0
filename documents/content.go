package documents

import (
	"bytes"
	"crypto/sha256"
	"hash"
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
	parts  []int32 // of the segments in buf: where their values start
	first  []int32 // of the elements in buf: their first part
	ends   []end   // of the segments in buf
	own    []byte  // BGM, BIG or BSN as it is hashed
	handed segment // out of the block; here, since it would be allocated for each
	of     edi.Delimiters
	become [256]byte // what a byte of a plain segment becomes; 0: look at its values
}

// end is where a segment in the block ends.
type end struct {
	text, parts, first int32 // in buf, parts and first
	odd                odd
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
	g.ends, g.parts, g.first, g.hashed = g.ends[:0], g.parts[:0], g.first[:0], 0
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
		odd, ok := g.plain(s)
		if !ok {
			if odd, ok = g.write(s); !ok && invalid < 0 {
				invalid = i
			}
		}
		g.ends = append(g.ends, end{int32(len(g.buf)), int32(len(g.parts)), int32(len(g.first)), odd})
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
	s := &g.handed
	s.block, s.parts = string(g.buf), g.parts
	from := end{}
	if first == 0 {
		from.text = 1 // contentVersion
	}
	for i, to := range g.ends {
		s.Segment = &segments[i]
		s.first, s.last, s.end, s.odd = g.first[from.first:to.first], to.parts, to.text, to.odd
		behind := to.text
		if from.parts < to.parts {
			behind = g.parts[from.parts] - 1
		}
		s.tag = s.block[from.text:behind]
		visit(s, first+i)
		from = end{text: to.text + 1, parts: to.parts, first: to.first}
	}
	*s = segment{} // the pool keeps neither text nor segments
	g.buf, g.ends, g.parts, g.first, g.hashed = g.buf[:0], g.ends[:0], g.parts[:0], g.first[:0], 0
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
	case tag == "BGM" || tag == "BIG" || tag == "BSN":
		h := headOf(tag)
		g.leaveOut(start)
		g.body.Write(g.head(s, tag, h))
		g.keep(appendEscaped(nil, s.Get(h.number, 1)))
		if h.date > 0 {
			g.keep(appendEscaped(nil, s.Get(h.date, 1)))
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

func headOf(tag string) head {
	switch tag {
	case "BGM":
		return head{number: 2, function: 3}
	case "BIG":
		return head{number: 2, date: 1, function: 8}
	}
	return head{number: 2, function: 1, message: [2]int{3, 4}} // BSN
}

// head gives BGM, BIG or BSN as it is hashed: without the number, which is kept apart,
// and without functions that say original or copy of it, which are all one.
func (g *digester) head(s *edi.Segment, tag string, h head) []byte {
	g.order++
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
