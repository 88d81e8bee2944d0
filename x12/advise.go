package x12

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/edigw/edigw/edi"
)

// Texts of an 824: TED02 holds 60 characters, NTE02 80; of NTE a TED may have 100.
const (
	tedText  = 60
	noteText = 80
	maxNotes = 5
	badData  = 99 // TED07
)

// Advise writes the 824 that tells the sender of ic what a.Messages are, or ic as a whole
// where there are none: one set in a group AG of the version of the first group that it
// speaks of. Each message has an OTI, with the number of its document and its place in
// what was sent; of the whole each group has one. Behind it stand in TED why (647), in
// words, and each error with its place. It is nil where there is no group to name.
func Advise(ic *edi.Interchange, a edi.Advice) (kind string, advice []byte, err error) {
	if !edi.Digits(a.Reference) {
		return "", nil, errNoReference
	}
	if len(a.Messages) == 0 && a.Omitted > 0 {
		return "", nil, edi.ErrNoneNamed
	}
	groups, err := advised(ic, a)
	if err != nil || len(groups) == 0 {
		return "", nil, err
	}
	e, err := NewWriter(Envelope{Version: version(ic), Sender: ic.Recipient, Recipient: ic.Sender, Prepared: a.Prepared,
		Reference: lastDigits(a.Reference, 9), Test: ic.Test, Delimiters: delimiters(ic)})
	if err != nil {
		return "", nil, fmt.Errorf("advise on %s: %w", ic.ControlReference, err)
	}
	w := &adviceWriter{Writer: e, ic: ic, a: a}
	g := &ic.Groups[groups[0]]
	of := answerOf(g.Version, "997").version
	w.Group("AG", g.Recipient.ID, g.Sender.ID, strings.TrimLeft(lastDigits(a.Reference, 9), "0"), of)
	w.Message("824", "0001", "")
	w.bgn(of)
	if len(a.Messages) == 0 {
		for n, i := range groups {
			w.group(&ic.Groups[i], of, n == len(groups)-1)
		}
	}
	for n := range a.Messages {
		w.set(&a.Messages[n], of, n == len(a.Messages)-1)
	}
	w.EndMessage()
	w.EndGroup()
	advice, err = w.Close()
	return "824", advice, err
}

// advised gives the groups that the advice speaks of; the first is that of its first
// message.
func advised(ic *edi.Interchange, a edi.Advice) (groups []int, err error) {
	for _, m := range a.Messages {
		if m.Index < 0 || m.Index >= len(ic.Messages) || ic.Messages[m.Index].Group < 0 {
			return nil, errors.New("824 for a transaction set that the interchange does not hold")
		}
		groups = append(groups, int(ic.Messages[m.Index].Group))
	}
	if len(a.Messages) == 0 {
		for g := range ic.Groups {
			groups = append(groups, g)
		}
	}
	return groups, nil
}

type adviceWriter struct {
	*Writer
	ic *edi.Interchange
	a  edi.Advice
}

func (w *adviceWriter) bgn(version string) {
	date := w.a.Prepared.Format("20060102")
	if version < "004" { // 373 has six digits before 004010
		date = date[2:]
	}
	w.Segment("BGN", E("00"), E(lastDigits(w.a.Reference, 30)), E(date), E(w.a.Prepared.Format("1504")))
}

// set tells of one transaction set: OTI04 to OTI08 are as they were sent in its group,
// OTI09 to OTI11 as in its header.
func (w *adviceWriter) set(m *edi.AdvisedMessage, version string, last bool) {
	s := &w.ic.Messages[m.Index]
	qualifier, number := documentQualifier(s.Type.Type), m.Number
	if number == "" || utf8.RuneCountInString(number) > 30 {
		qualifier, number = "TN", s.Reference
	}
	elements := w.oti("T", qualifier, number, &w.ic.Groups[s.Group], version)
	w.Segment("OTI", append(elements, E(s.Reference), E(s.Type.Type), E(s.Type.Release))...)
	text := m.Text
	if text == "" {
		text = w.a.Text
	}
	w.why(text, last)
	for _, e := range m.Errors {
		w.ted("024", e.Text, e)
	}
}

// group tells of a whole group, by the control number of its interchange.
func (w *adviceWriter) group(g *edi.Group, version string, last bool) {
	w.Segment("OTI", w.oti("G", "TN", w.ic.ControlReference, g, version)...)
	w.why(w.a.Text, last)
}

// oti begins OTI. What is kept to be looked at is accepted with errors: 110 has a code
// for "on hold" from later versions on alone.
func (w *adviceWriter) oti(level, qualifier, number string, g *edi.Group, version string) []Element {
	verdict := "E"
	switch w.a.Acceptance {
	case edi.Rejected:
		verdict = "R"
	case edi.Accepted:
		verdict = "A"
	}
	date, clock := g.Date, ""
	if len(date) == 8 && version < "004" {
		date = date[2:]
	}
	if n := len(g.Time); n >= 4 && n <= 8 && n%2 == 0 && edi.Digits(g.Time) {
		clock = g.Time
	}
	return []Element{E(level + verdict), E(qualifier), E(number), E(code142(g.Sender.ID)), E(code142(g.Recipient.ID)), E(date), E(clock), E(g.Reference)}
}

// code142 is GS02 or GS03 where OTI04 and OTI05 can hold it: 142 and 124 have 2 to 15
// characters.
func code142(s string) string {
	if n := utf8.RuneCountInString(s); n < 2 || n > 15 {
		return ""
	}
	return s
}

// documentQualifier is the code of 128 for the number of a document.
func documentQualifier(set string) string {
	switch set {
	case "810":
		return "IV"
	case "856":
		return "SI"
	case "850":
		return "PO"
	}
	return "TN"
}

// why writes the reason, of what is not plainly accepted.
func (w *adviceWriter) why(text string, last bool) {
	if last && w.a.Omitted > 0 {
		text = strings.TrimSpace(text + fmt.Sprintf(" And %d more, which are not named here.", w.a.Omitted))
	} else if w.a.Acceptance == edi.Accepted {
		return
	}
	w.ted(w.a.Reason.Condition(), text, nil)
}

// ted writes TED, and in NTE what of the words it cannot hold.
func (w *adviceWriter) ted(code, text string, e *edi.Error) {
	lines := wrapped(plain(text), tedText, noteText, 1+maxNotes)
	elements := []Element{E(code), E(lines[0])}
	if e != nil && len(e.Tag) >= 2 && len(e.Tag) <= 3 && e.Segment > 0 {
		elements = append(elements, E(e.Tag), E(strconv.Itoa(e.Segment)))
		if e.Element > 0 {
			value := []rune(plain(e.Value))
			elements = append(elements, E(strconv.Itoa(e.Element)), E(), E(strings.TrimSpace(string(value[:min(len(value), badData)]))))
		}
	}
	w.Segment("TED", elements...)
	for _, line := range lines[1:] {
		w.Segment("NTE", E("ADD"), E(line))
	}
}

// plain is text in characters that any program for X12 can read.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return '?'
		}
		return r
	}, text)
}

// wrapped cuts text between words into lines, the first of another width than those
// behind it, and most of them; what is left is dropped, with dots in its place.
func wrapped(text string, first, width, most int) (lines []string) {
	line, room := "", first
	words := strings.Fields(text)
	for n := 0; n < len(words); n++ {
		word := words[n]
		if joined := strings.TrimSpace(line + " " + word); len(joined) <= room {
			line = joined
			continue
		}
		if line == "" { // longer than a line
			line, words[n] = word[:room], word[room:]
		}
		n--
		if len(lines) == most-1 {
			return append(lines, line[:min(len(line), room-3)]+"...")
		}
		lines, line, room = append(lines, line), "", width
	}
	return append(lines, line)
}
