package documents

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/edigw/edigw/documents/checks"
	"github.com/edigw/edigw/documents/roles"
	"github.com/edigw/edigw/edi"
)

// maxFindings bounds what one message can make us keep, errors and lesser
// findings apart.
const maxFindings = 50

// mapping is what every mapper carries: the document being filled and what was
// found on the way.
type mapping struct {
	ic      *edi.Interchange
	doc     *Document
	at      edi.Location      // of the message: unh
	release string            // of its directory or version; "" if it is not known
	guide   roles.Guide       // what its qualifiers stand for
	policy  map[string]string // what becomes of findings, by code
	errs    []*edi.Error
	refused int
	lesser  int
	whole   bool // amounts are in whole units of the currency
	places  places
}

// unh is where the message begins, for what is said of the message as a whole.
func unh(ic *edi.Interchange, i int) edi.Location {
	at := edi.Location{Segment: 1, Tag: "UNH"}
	if ic.Syntax == "x12" {
		at.Tag = "ST"
	}
	if i >= 0 && i < len(ic.Messages) {
		at.Offset = ic.Messages[i].Offset
	}
	return at
}

// begin starts a document of message i.
func begin(ic *edi.Interchange, i int, class string, by *Reading) mapping {
	if by == nil {
		by = &Reading{}
	}
	m := mapping{ic: ic, policy: by.Checks, at: unh(ic, i), doc: &Document{Class: class, Test: ic.Test, MessageType: messageType(ic, i)}}
	if i >= 0 && i < len(ic.Messages) && ic.Messages[i].Type != nil {
		m.release = ic.Messages[i].Type.Release
		m.guide = by.Roles.For(ic.Syntax, ic.Messages[i].Type)
	} else {
		m.guide = by.Roles.For(ic.Syntax, nil)
	}
	return m
}

// role gives our word for a qualifier, "" if the guide has none for it.
func (m *mapping) role(k roles.Kind, qualifier string) string {
	role, _ := m.guide.Role(k, qualifier)
	return role
}

// read visits the segments of the message. Text that is not valid refuses it.
func (m *mapping) read(b *edi.Body, visit func(s *segment, at int)) {
	m.places.body = b
	if at := m.doc.read(m.ic, b, visit); at >= 0 {
		m.report(edi.SeverityError, "invalid-characters", "21", b.Segments[at].Location(0, 0), "the text is not valid in its character set")
	}
}

// end gives what a mapper returns.
func (m *mapping) end() (*Document, []*edi.Error) {
	if over := m.refused + m.lesser - len(m.errs); over > 0 && len(m.errs) > 0 {
		m.errs = append(m.errs, &edi.Error{Code: "more-findings", Severity: edi.SeverityNote, Text: fmt.Sprintf("%d further findings are not listed", over), Location: m.errs[len(m.errs)-1].Location})
	}
	if m.refused > 0 {
		return nil, m.errs
	}
	m.doc.Detail.Findings = Findings(m.errs)
	return m.doc, m.errs
}

// messageType gives INVOIC D.96A EAN008.
func messageType(ic *edi.Interchange, i int) string {
	if i < 0 || i >= len(ic.Messages) || ic.Messages[i].Type == nil {
		return ""
	}
	t := ic.Messages[i].Type
	s := append(make([]byte, 0, 64), t.Type...)
	switch {
	case t.Version != "" && t.Release != "":
		s = append(append(append(append(s, ' '), t.Version...), '.'), t.Release...)
	case t.Version != "" || t.Release != "":
		s = append(append(append(s, ' '), t.Version...), t.Release...)
	}
	if t.AssociationCode != "" {
		s = append(append(s, ' '), t.AssociationCode...)
	}
	return string(s)
}

// off reports whether the partner wants to hear nothing of a code: it takes no place from
// what is told.
func (m *mapping) off(code string) bool {
	return len(m.policy) > 0 && checks.Of(m.policy, code) == checks.Off
}

// full reports whether no more lesser findings of a code are listed. The first of each
// always is, since a policy may have it refuse.
func (m *mapping) full(code string) bool {
	if m.lesser < maxFindings {
		return false
	}
	for i := len(m.errs) - 1; i >= 0; i-- {
		if m.errs[i].Code == code {
			return true
		}
	}
	return false
}

// report adds a finding, unless there are too many.
func (m *mapping) report(severity edi.Severity, code, standard string, at edi.Location, text string) {
	count := &m.lesser
	if severity == edi.SeverityError {
		count = &m.refused
	}
	full := false
	switch {
	case severity == edi.SeverityError:
		full = m.refused >= maxFindings
	case m.off(code):
		return
	default:
		full = m.full(code)
	}
	if *count++; full {
		return
	}
	if m.ic.Syntax == "x12" {
		standard = standardX12(code, standard, at)
	}
	m.errs = append(m.errs, &edi.Error{Code: code, Standard: standard, Severity: severity, Text: text, Location: at})
}

// listed reports whether a lesser finding of a code is to be listed, and counts one for
// which there is no place.
func (m *mapping) listed(code string) bool {
	switch {
	case m.off(code):
		return false
	case m.full(code):
		m.lesser++
		return false
	}
	return true
}

func (m *mapping) warn(code string, at edi.Location, format string, args ...any) {
	if m.listed(code) {
		m.report(edi.SeverityWarning, code, "", at, fmt.Sprintf(format, args...))
	}
}

func (m *mapping) note(code string, at edi.Location, format string, args ...any) {
	if m.listed(code) {
		m.report(edi.SeverityNote, code, "", at, fmt.Sprintf(format, args...))
	}
}

// number reads a numeric component. One that is no number refuses the message.
func (m *mapping) number(s *segment, e, c int) Number {
	raw := s.get(e, c)
	if raw == "" {
		return Number{}
	}
	n, fault := parseNumber(raw)
	if fault != nil {
		severity := edi.SeverityError
		if fault.tolerated {
			severity = edi.SeverityWarning
		}
		m.report(severity, "invalid-number", fault.standard, s.Location(e, c), fmt.Sprintf("%q: %s", shorten(raw), fault.text))
	}
	return n
}

// rate reads a percentage that the directory types as text (5278, an..17).
func (m *mapping) rate(s *segment, e, c int) (Number, string) {
	raw := s.get(e, c)
	n, fault := parseNumber(raw)
	if fault != nil && !fault.tolerated {
		m.warn("invalid-rate", s.Location(e, c), "%q: %s", shorten(raw), fault.text)
		return Number{}, raw
	}
	return n, ""
}

// date reads C507. An impossible date refuses the message.
func (m *mapping) date(s *segment) (Date, bool) {
	qualifier := s.get(1, 1)
	d, fault := parseDate(s.get(1, 2), s.get(1, 3))
	d.Qualifier, d.Role = qualifier, m.role(roles.Dates, qualifier)
	switch fault {
	case dateEmpty:
		m.warn("date-empty", s.Location(1, 2), "DTM %s holds no date", shorten(qualifier))
		return d, false
	case dateFormat:
		m.note("date-format", s.Location(1, 3), "format %s is kept as sent, not read", shorten(d.Format))
	case dateMismatch:
		m.warn("date-format", s.Location(1, 2), "%s is not in format %s; read by its length", shorten(d.Raw), d.Format)
	case dateUnlike:
		m.note("date-format", s.Location(1, 2), "%q is not in format %s; kept as sent, not read", shorten(d.Raw), d.Format)
	case dateImpossible:
		m.report(edi.SeverityError, "invalid-date", "12", s.Location(1, 2), fmt.Sprintf("%q is no date in format %s", shorten(d.Raw), d.Format))
		return d, false
	}
	return d, true
}

// bgm reads type, number and function. The number makes the document; without one
// the message is refused, and a longer one than 1004 holds is refused, not cut.
func (m *mapping) bgm(s *segment) {
	d := m.doc
	d.TypeCode = s.get(1, 1)
	if d.TypeCode == "" {
		m.warn("type-missing", s.Location(1, 1), "BGM says no document type")
	}
	d.Number = trimBlanks(s.get(2, 1))
	switch n := utf8.RuneCountInString(d.Number); {
	case n == 0:
		m.report(edi.SeverityError, "document-number-missing", "13", s.Location(2, 1), "BGM holds no document number")
	case n > 35:
		m.report(edi.SeverityError, "document-number-too-long", "39", s.Location(2, 1), fmt.Sprintf("the document number has %d characters, 35 are allowed", n))
	}
	d.Function = s.get(3, 1)
	if d.Revision() == RevisionPartial {
		m.warn("partial-function", s.Location(3, 1), "function %s sends a part of a document; it is kept as a document of its own", d.Function)
	}
}

// missingBGM refuses a message without BGM. Its place is behind UNH, the last
// segment before it (ISO 9735-4, 0096); UNH itself is not at fault.
func (m *mapping) missingBGM() {
	at := m.at
	at.Tag = ""
	m.report(edi.SeverityError, "bgm-missing", "13", at, "the message has no BGM, and so no document number")
}

// trimBlanks cuts padding on the right: it is not part of an identifier.
func trimBlanks(s string) string {
	for s != "" && s[len(s)-1] == ' ' {
		s = s[:len(s)-1]
	}
	return s
}

// shorten keeps a partner's value fit for a sentence.
func shorten(s string) string {
	if len(s) <= 40 {
		return s
	}
	cut := 40
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// join puts together a text that the directory cuts in components. A component
// that is full goes on in the next one in mid-word.
func join(s *segment, e, from, to int) string {
	text := s.get(e, from)
	last := text
	for c := from + 1; c <= to; c++ {
		more := s.get(e, c)
		if more == "" {
			continue
		}
		switch n := utf8.RuneCountInString(last); {
		case text == "", n == 35, n == 70, n == 512:
		default:
			text += " "
		}
		text += more
		last = more
	}
	return text
}

// appendSegment appends a segment as JSON: ["BGM","380",["a","b"],…]; an element
// with components is an array, a repeated element {"repeat":[…]}.
func appendSegment(dst []byte, s *edi.Segment) []byte {
	dst = appendJSON(append(dst, '['), s.Tag())
	var element, repetition []byte // JSON, joined by commas
	at, repetitions, components := 1, 0, 0
	endRepetition := func() {
		if repetitions++; repetitions > 1 {
			element = append(element, ',')
		}
		if components == 1 {
			element = append(element, repetition...)
		} else {
			element = append(append(append(element, '['), repetition...), ']')
		}
		repetition, components = repetition[:0], 0
	}
	endElement := func() {
		endRepetition()
		dst = append(dst, ',')
		if repetitions == 1 {
			dst = append(dst, element...)
		} else {
			dst = append(append(append(dst, `{"repeat":[`...), element...), "]}"...)
		}
		element, repetitions = element[:0], 0
	}
	for v := range s.Values() {
		switch {
		case v.Element < 1:
			continue
		case v.Element > at:
			endElement()
			at = v.Element
		case v.Repetition > repetitions+1:
			endRepetition()
		}
		if components++; components > 1 {
			repetition = append(repetition, ',')
		}
		repetition = appendJSON(repetition, v.Text)
	}
	if components > 0 {
		endElement()
	}
	return append(dst, ']')
}

// other keeps a segment for which the model has no place.
func other(list []json.RawMessage, s *segment) []json.RawMessage {
	return append(list, appendSegment(nil, s.Segment))
}

const hexDigits = "0123456789abcdef"

// appendJSON appends s as a JSON string. s is valid UTF-8.
func appendJSON(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
