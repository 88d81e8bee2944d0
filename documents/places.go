package documents

import (
	"strings"

	"github.com/edigw/edigw/edi"
)

// places are where in its message a document says what the checks speak of. A mapper
// notes the few that cannot be found again; the others are looked for when there is a
// finding, which is seldom.
type places struct {
	body   *edi.Body
	now    int     // the segment that is read
	lines  []int32 // of each of Document.Lines: the segment that opens it
	packs  []int32 // of each of Document.Packages: the segment that opens it
	totals [totalKinds]edi.Location
	taxes  []edi.Location // of each of Invoice.Taxes
	units  []Unit         // SSCCs, in the order of the message
}

// somewhere is a place that is looked for only when it is told: to find it may take a
// walk through the message, and findings may be as many as the message has room for.
type somewhere func() edi.Location

// warnAt warns of what stands somewhere.
func (m *mapping) warnAt(code string, at somewhere, format string, args ...any) {
	if m.listed(code) {
		m.warn(code, at(), format, args...)
	}
}

// noteAt notes what stands somewhere.
func (m *mapping) noteAt(code string, at somewhere, format string, args ...any) {
	if m.listed(code) {
		m.note(code, at(), format, args...)
	}
}

// headTags open a document.
var headTags = [...]string{"BGM", "BIG", "BSN"}

// head is where the document is opened; the message itself where nothing opens it.
func (m *mapping) head() edi.Location {
	for i := range m.segments(0, -1) {
		s := &m.places.body.Segments[i]
		for _, tag := range headTags {
			if s.Is(tag) {
				return s.Location(0, 0)
			}
		}
	}
	return m.at
}

// segments gives the indexes from one segment up to another, -1 for the last.
func (m *mapping) segments(from, to int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		if to < 0 {
			to = len(m.places.body.Segments)
		}
		for i := max(from, 0); i < to; i++ {
			if !yield(i) {
				return
			}
		}
	}
}

// segmentsOf gives the segments of line i, its own and those beneath it; none where the
// mapper did not note where its lines stand.
func (m *mapping) segmentsOf(i int) (from, to int) {
	if i >= len(m.places.lines) || len(m.places.lines) != len(m.doc.Lines) {
		return 0, 0
	}
	from = int(m.places.lines[i])
	if i+1 < len(m.places.lines) {
		return from, int(m.places.lines[i+1])
	}
	for to = from + 1; to < len(m.places.body.Segments); to++ { // the summary
		if s := &m.places.body.Segments[to]; s.Is("UNS") || s.Is("CNT") || s.Is("TDS") || s.Is("CTT") || s.Is("UNT") || s.Is("SE") {
			break
		}
	}
	return from, to
}

// A spot is where a segment holds something: its tag, the value of its first
// element, "" for any, and the element and component that is meant.
type spot struct {
	tag, qualifier     string
	element, component int
}

// Where lines say what they are worth, how many, at what price and until when, and
// documents when they are due and what their allowances and charges come to.
var (
	amountSpots   = []spot{{"MOA", "203", 1, 2}, {"PAM", "", 5, 1}, {"AMT", "1", 2, 1}, {"IT1", "", 4, 1}}
	quantitySpots = []spot{{"QTY", "12", 1, 2}, {"QTY", "46", 1, 2}, {"QTY", "47", 1, 2}, {"SN1", "", 2, 1}, {"IT1", "", 2, 1}}
	priceSpots    = []spot{{"PRI", "AAA", 1, 2}, {"PRI", "", 1, 2}, {"IT1", "", 4, 1}}
	expirySpots   = []spot{{"DTM", "361", 1, 2}, {"DTM", "36", 1, 2}, {"DTM", "", 2, 1}}
	dueSpots      = []spot{{"DTM", "13", 1, 2}, {"ITD", "", 6, 1}}
	netSpots      = []spot{{"MOA", "131", 1, 2}}
)

// openedLine notes that a line begins with the segment that is read.
func (m *mapping) openedLine() {
	if m.places.lines == nil {
		m.places.lines = make([]int32, 0, max(cap(m.doc.Lines), 8)) // lines were counted before
	}
	m.places.lines = append(m.places.lines, int32(m.places.now))
}

// openedPackage notes that a package begins with the segment that is read.
func (m *mapping) openedPackage() {
	if m.places.packs == nil {
		m.places.packs = make([]int32, 0, max(cap(m.doc.Packages), 8))
	}
	m.places.packs = append(m.places.packs, int32(m.places.now))
}

// packageAt is where CPS or HL opens package i.
func (m *mapping) packageAt(i int) somewhere {
	return func() edi.Location {
		return m.places.body.Segments[m.places.packs[i]].Location(1, 1)
	}
}

// inLine is the first of spots that line i has, else where it is opened.
func (m *mapping) inLine(i int, spots []spot) somewhere {
	return func() edi.Location {
		from, to := m.segmentsOf(i)
		if at, ok := m.find(from, to, spots); ok {
			return at
		}
		if from < to {
			return m.places.body.Segments[from].Location(0, 0)
		}
		return m.head()
	}
}

// inMessage is the first of spots that the message has, else where the document is
// opened.
func (m *mapping) inMessage(spots []spot) somewhere {
	return func() edi.Location {
		if at, ok := m.find(0, -1, spots); ok {
			return at
		}
		return m.head()
	}
}

// find is the first of spots that stands between two segments.
func (m *mapping) find(from, to int, spots []spot) (edi.Location, bool) {
	for _, x := range spots {
		for i := range m.segments(from, to) {
			s := &m.places.body.Segments[i]
			if s.Is(x.tag) && (x.qualifier == "" || s.Get(1, 1) == x.qualifier) && s.Get(x.element, x.component) != "" {
				return s.Location(x.element, x.component), true
			}
		}
	}
	return edi.Location{}, false
}

// dateAt is where a date of the document stands.
func (m *mapping) dateAt(d *Date) somewhere {
	return func() edi.Location { return m.findDate(d) }
}

// findDate is where a date of the document stands: the first DTM that says it, or of X12
// the element that its qualifier names, as BIG01.
func (m *mapping) findDate(d *Date) edi.Location {
	tag, element := "DTM", 0
	if len(d.Qualifier) == 5 && isDigits(d.Qualifier[3:]) {
		tag, element = d.Qualifier[:3], atoi(d.Qualifier[3:])
	}
	for i := range m.segments(0, -1) {
		s := &m.places.body.Segments[i]
		switch {
		case !s.Is(tag):
		case element > 0:
			return s.Location(element, 1)
		case s.Get(1, 1) != d.Qualifier:
		case s.Get(1, 2) == d.Raw: // C507
			return s.Location(1, 2)
		case s.Get(2, 1) != "" && strings.HasPrefix(d.Raw, s.Get(2, 1)):
			return s.Location(2, 1)
		}
	}
	return m.head()
}
