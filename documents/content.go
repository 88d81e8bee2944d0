package documents

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"sync"
	"unicode/utf8"

	"github.com/edigw/edigw/edi"
)

// contentVersion goes into the digests of this file; raised when a rule changes.
const contentVersion = 1

// A digester makes both content digests of a message in one pass. What is said
// beside number and dates, the bulk, is hashed once into body; number and dates
// are framed in kept, and GuardContent is the digest of both.
//
// Every segment is 'S', length, tag; every element 'E', every further repetition
// 'R', every component 'C', length, value, decoded to UTF-8. Empty components
// and elements are left out where nothing follows them, so the delimiters,
// charset, release characters and line breaks of an interchange do not count.
type digester struct {
	body  hash.Hash
	buf   []byte // framed, not yet hashed
	kept  []byte
	raw   []byte // one segment framed
	order int    // of segments hashed, so that kept ones have their place
}

var digesters = sync.Pool{New: func() any {
	return &digester{body: sha256.New(), buf: make([]byte, 0, digestBlock+1024)}
}}

const digestBlock = 8 << 10

// hashContent sets the document's content digests from the message. It leaves
// out what says which copy this is, not what it says (outcomes.md, "Documents"):
// the references of UNH and UNT, functions 7 and 31, and the message date where
// an invoice date stands beside it. It reports the first segment whose text is no
// UTF-8 or holds NUL, -1 if there is none.
func (d *Document) hashContent(ic *edi.Interchange, b *edi.Body) (invalid int) {
	g := digesters.Get().(*digester)
	defer digesters.Put(g)
	g.body.Reset()
	g.buf, g.kept, g.order = append(g.buf[:0], contentVersion), append(g.kept[:0], contentVersion), 0
	invalid = -1

	header := headerEnd(b)
	invoiceDate := false
	for i := range b.Segments[:header] {
		s := &b.Segments[i]
		if s.Is("DTM") && string(s.RawValue(1, 1, 1)) == "3" && len(s.RawValue(1, 1, 2)) > 0 {
			invoiceDate = true
		}
	}
	for i := range b.Segments {
		s := &b.Segments[i]
		framed, ok := g.frame(ic.Delimiters, s)
		if !ok && invalid < 0 {
			invalid = i
		}
		switch tag := string(s.RawTag()); {
		case i == 0: // UNH or ST: the reference is the first element
			g.write(cutElement(framed, 1))
		case tag == "UNT" && i == len(b.Segments)-1:
		case tag == "BGM" && i < header:
			g.begin(s)
		case tag == "DTM" && i < header:
			if invoiceDate && string(s.RawValue(1, 1, 1)) == "137" {
				continue
			}
			g.keep(framed)
		default:
			g.write(framed)
		}
	}
	g.body.Write(g.buf)
	g.body.Sum(d.contentOnly[:0])
	g.kept = append(g.kept, d.contentOnly[:]...)
	d.content = sha256.Sum256(g.kept)
	d.contentHashed = true
	return invalid
}

// headerEnd is the index of the first segment behind the header.
func headerEnd(b *edi.Body) int {
	for i := range b.Segments {
		switch string(b.Segments[i].RawTag()) {
		case "LIN", "CPS", "UNS", "UNT":
			return i
		}
	}
	return len(b.Segments)
}

// begin frames BGM: the number is kept apart, functions that say original or
// copy of it are all one.
func (g *digester) begin(s *edi.Segment) {
	g.raw = appendTag(g.raw[:0], s.RawTag())
	last, repetition := 0, 1
	for v := range s.Values() {
		switch {
		case v.Element == 0, v.Text == "", v.Element == 2 && v.Component == 1:
			continue
		case v.Element == 3 && v.Component == 1 && neutral(v.Text):
			continue
		}
		for ; last < v.Element; last++ {
			g.raw, repetition = append(g.raw, 'E'), 1
		}
		for ; repetition < v.Repetition; repetition++ {
			g.raw = append(g.raw, 'R')
		}
		g.raw = appendComponent(binary.AppendUvarint(g.raw, uint64(v.Component)), []byte(v.Text))
	}
	g.write(g.raw)
	g.raw = appendComponent(g.raw[:0], []byte(s.Get(2, 1)))
	g.keep(g.raw)
}

// write hashes a framed segment into the body.
func (g *digester) write(framed []byte) {
	g.order++
	g.buf = append(g.buf, framed...)
	if len(g.buf) >= digestBlock {
		g.body.Write(g.buf)
		g.buf = g.buf[:0]
	}
}

// keep puts a framed segment among number and dates, with its place.
func (g *digester) keep(framed []byte) {
	g.kept = binary.AppendUvarint(g.kept, uint64(g.order))
	g.kept = binary.AppendUvarint(g.kept, uint64(len(framed)))
	g.kept = append(g.kept, framed...)
}

// frame gives a segment's frames, valid until the next call, and whether its text
// is UTF-8 without NUL. Plain ASCII without releases, nearly all there is, is cut
// at its delimiters without a copy of each value.
func (g *digester) frame(del edi.Delimiters, s *edi.Segment) ([]byte, bool) {
	raw := s.Raw()
	g.raw = appendTag(g.raw[:0], s.RawTag())
	if del.Element == 0 || s.Released() || !plain(raw) {
		return g.raw, g.frameValues(s)
	}
	from := bytes.IndexByte(raw, del.Element)
	if from < 0 {
		return g.raw, true
	}
	kept := len(g.raw) // up to where nothing empty trails
	g.raw = append(g.raw, 'E')
	start := from + 1
	for i := start; i <= len(raw); i++ {
		var mark byte
		if i < len(raw) {
			switch c := raw[i]; {
			case c == del.Component:
				mark = 'C'
			case c == del.Element:
				mark = 'E'
			case c == del.Repetition && c != 0:
				mark = 'R'
			default:
				continue
			}
		}
		g.raw = appendComponent(g.raw, raw[start:i])
		if i > start {
			kept = len(g.raw)
		}
		if mark != 'C' && mark != 0 { // empty components before it are dropped, its place is not
			g.raw = dropEmpty(g.raw, kept)
			g.raw = append(g.raw, mark)
		}
		start = i + 1
	}
	g.raw = g.raw[:kept]
	return g.raw, true
}

// dropEmpty removes empty components that trail behind kept.
func dropEmpty(b []byte, kept int) []byte {
	for len(b) >= kept+2 && b[len(b)-2] == 'C' && b[len(b)-1] == 0 {
		b = b[:len(b)-2]
	}
	return b
}

// frameValues appends the values of a segment as decoded.
func (g *digester) frameValues(s *edi.Segment) bool {
	ok, kept := true, len(g.raw)
	element, repetition := 0, 1
	for v := range s.Values() {
		if v.Element == 0 {
			continue
		}
		for ; element < v.Element; element++ {
			g.raw, repetition = append(dropEmpty(g.raw, kept), 'E'), 1
		}
		for ; repetition < v.Repetition; repetition++ {
			g.raw = append(dropEmpty(g.raw, kept), 'R')
		}
		g.raw = appendComponent(g.raw, []byte(v.Text))
		if v.Text != "" {
			kept = len(g.raw)
			ok = ok && sound(v.Text)
		}
	}
	g.raw = g.raw[:kept]
	return ok
}

// cutElement removes element e of a framed segment, its mark left.
func cutElement(framed []byte, e int) []byte {
	from, to := len(framed), len(framed)
	length, width := binary.Uvarint(framed[1:])
	element := 0
	for i := 1 + width + int(length); i < len(framed); {
		switch framed[i] {
		case 'E':
			if element++; element == e {
				from = i + 1
			} else if element == e+1 {
				to = i
			}
			i++
		case 'R':
			i++
		default:
			n, w := binary.Uvarint(framed[i+1:])
			i += 1 + w + int(n)
		}
	}
	if from == len(framed) {
		return framed
	}
	return append(framed[:from], framed[to:]...)
}

func appendTag(dst, tag []byte) []byte {
	dst = append(dst, 'S')
	dst = binary.AppendUvarint(dst, uint64(len(tag)))
	return append(dst, tag...)
}

func appendComponent(dst, value []byte) []byte {
	dst = append(dst, 'C')
	dst = binary.AppendUvarint(dst, uint64(len(value)))
	return append(dst, value...)
}

// plain reports whether b is ASCII without NUL: its text is its bytes in every
// charset of 0001.
func plain(b []byte) bool {
	var or byte
	nul := false
	for _, c := range b {
		or |= c
		nul = nul || c == 0
	}
	return or < utf8.RuneSelf && !nul
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
