package documents

import "github.com/edigw/edigw/edi"

// What is more than this off is taken for a mistake: days that a document may be dated
// ahead of the interchange that brings it, that it may be older, and that what it
// speaks of may be off its own date.
const (
	farAhead  = 31
	farBehind = 2 * 366
	farOff    = 2 * 366
)

// checkInvoiceDates looks at the dates of an invoice: BT-2 and BT-9, BG-14 and what is
// said of delivery.
func (m *mapping) checkInvoiceDates() {
	m.checkDates()
	d := m.doc
	issued, known := dayNumber(d.IssueDate)
	due, ok := dayNumber(d.DueDate)
	if !known || !ok || due >= issued && due <= issued+farOff {
		return
	}
	if due < issued {
		m.warnAt("due-before-issue", m.inMessage(dueSpots), "due on %s, before the day of the document, %s", d.DueDate, d.IssueDate)
		return
	}
	m.warnAt("date-implausible", m.inMessage(dueSpots), "due on %s, the document is of %s", d.DueDate, d.IssueDate)
}

// checkDespatchDates looks at the dates of a despatch advice, and at goods that were
// out of date when they left.
func (m *mapping) checkDespatchDates() {
	m.checkDates()
	d := m.doc
	left, arrives := d.Detail.Despatch.DespatchDate, d.Detail.Despatch.EstimatedDelivery
	if left != "" && arrives != "" && arrives < left {
		m.warnAt("delivery-before-despatch", m.dayAt(arrives), "the goods leave on %s and arrive on %s", left, arrives)
	}
	if left == "" {
		left = d.IssueDate
	}
	if left == "" {
		return
	}
	for i := range d.Lines {
		if best := d.Lines[i].firstExpiry(); best != "" && best < left {
			m.noteAt("best-before-passed", m.inLine(i, expirySpots), "line %s: best before %s, despatched on %s", m.lineName(i), best, left)
		}
	}
}

// firstExpiry is the first day of the line's best before and expiry dates, "" if it
// says none.
func (l *Line) firstExpiry() string {
	first := l.BestBefore
	if l.Detail == nil {
		return first
	}
	earlier := func(day string) {
		if day != "" && (first == "" || day < first) {
			first = day
		}
	}
	earlier(l.Detail.Expiry)
	for i := range l.Detail.Batches {
		earlier(l.Detail.Batches[i].BestBefore)
		earlier(l.Detail.Batches[i].Expiry)
	}
	return first
}

// dayAt is where the header has a day.
func (m *mapping) dayAt(day string) somewhere {
	return func() edi.Location {
		for i := range m.doc.Detail.Dates {
			if x := &m.doc.Detail.Dates[i]; x.Day() == day {
				return m.findDate(x)
			}
		}
		return m.head()
	}
}

// checkDates looks at the document's own date and those of its header. What they are
// held against is the date of the interchange, not a clock, so that a message is
// judged the same whenever it is read.
func (m *mapping) checkDates() {
	d := m.doc
	issued, known := dayNumber(d.IssueDate)
	if sent, ok := dayNumber(interchangeDay(m.ic.Date)); ok && known {
		switch {
		case issued > sent+farAhead:
			m.warnAt("date-implausible", m.dayAt(d.IssueDate), "the document is dated %s, %d days after its interchange of %s", d.IssueDate, issued-sent, interchangeDay(m.ic.Date))
		case issued < sent-farBehind:
			m.warnAt("date-implausible", m.dayAt(d.IssueDate), "the document is dated %s, %d days before its interchange of %s", d.IssueDate, sent-issued, interchangeDay(m.ic.Date))
		}
	}
	start, end := "", ""
	for i := range d.Detail.Dates {
		x := &d.Detail.Dates[i]
		if x.Value != "" && x.End != "" && x.End < x.Value {
			m.warnAt("period-reversed", m.dateAt(x), "the period ends on %s, before it begins on %s", x.End, x.Value)
		}
		switch x.Role {
		case "period_start":
			start = x.Day()
		case "period_end":
			if end = x.Day(); start != "" && end != "" && end < start {
				m.warnAt("period-reversed", m.dateAt(x), "the period ends on %s, before it begins on %s", end, start)
			}
		case "delivery", "despatch", "estimated_delivery", "requested_delivery", "requested_despatch", "service_completion", "tax_point":
			m.checkFarOff(x, issued, known)
		}
	}
}

// checkFarOff warns of a date that is years off the document's.
func (m *mapping) checkFarOff(x *Date, issued int, known bool) {
	if day, ok := dayNumber(x.Day()); known && ok && (day > issued+farOff || day < issued-farOff) {
		m.warnAt("date-implausible", m.dateAt(x), "%s is %s, the document is of %s", wordsOf(x.Role), x.Day(), m.doc.IssueDate)
	}
}

// wordsOf writes a role as words.
func wordsOf(role string) string {
	b := []byte(role)
	for i := range b {
		if b[i] == '_' {
			b[i] = ' '
		}
	}
	return string(b)
}

// interchangeDay writes CCYYMMDD as a day.
func interchangeDay(date string) string {
	if len(date) != 8 || !isDigits(date) {
		return ""
	}
	return date[:4] + "-" + date[4:6] + "-" + date[6:]
}

// dayNumber counts days, for differences; false where it is no day CCYY-MM-DD.
func dayNumber(day string) (int, bool) {
	if len(day) != 10 || day[4] != '-' || day[7] != '-' || !isDigits(day[:4]) || !isDigits(day[5:7]) || !isDigits(day[8:]) {
		return 0, false
	}
	year, month := atoi(day[:4]), atoi(day[5:7])
	if month < 3 { // years begin in March, so that a leap day ends one
		year, month = year-1, month+12
	}
	return 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + atoi(day[8:]), true
}
