package edifact

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/edigw/edigw/edi"
)

// APERAK limits: in D.96A a message has 999 ERC, each with one FTX and one RFF, and C108
// five texts of 70 characters.
const (
	maxERC        = 999
	freeTexts     = 5
	freeTextWidth = 70
)

// Advise writes the APERAK that tells the sender of ic what a.Messages are, or ic as a
// whole where there are none: in the directory of the first of them, D.96A or from D.01B
// on that one, in EANCOM's form where it is a message of EANCOM. RFF ACW is the
// interchange's 0020, with S004 behind it, which tells it from another under the same
// reference. Each message has an ERC with the reason (9321, of our list: 3055 = 92), the
// words, and the number of its document in RFF. Where there are more than fit into one,
// there are several APERAK in the interchange.
func Advise(ic *edi.Interchange, a edi.Advice) (kind string, content []byte, err error) {
	if ic.ControlReference == "" || ic.Sender.ID == "" || ic.Recipient.ID == "" {
		return "", nil, errors.New("no APERAK without control reference, sender and recipient of the interchange")
	}
	if a.Reference == "" {
		return "", nil, errors.New("no APERAK without a control reference of its own")
	}
	if len(a.Messages) == 0 && a.Omitted > 0 {
		return "", nil, edi.ErrNoneNamed
	}
	for i := range a.Messages {
		if n := a.Messages[i].Index; n < 0 || n >= len(ic.Messages) {
			return "", nil, errors.New("APERAK for a message that the interchange does not hold")
		}
	}
	version, _ := contrlType(ic.SyntaxVersion)
	id, encoding := ic.SyntaxID, ic.Encoding
	if _, known := (Reader{}).charset(id, encoding); !known {
		id, encoding = "UNOC", ""
	}
	w := &aperakWriter{ic: ic, a: a, subset: subsetOf(ic, a), Writer: NewWriter(Envelope{
		SyntaxID: id, SyntaxVersion: version, Encoding: encoding, Sender: ic.Recipient, Recipient: ic.Sender,
		Prepared: a.Prepared, Reference: a.Reference, Test: ic.Test,
	})}
	for n, rest := 1, a.Messages; n == 1 || len(rest) > 0; n++ {
		here := rest[:min(len(rest), maxERC)]
		rest = rest[len(here):]
		w.aperak(n, here, len(rest) == 0)
	}
	content, err = w.Close()
	return "APERAK", content, err
}

// aperakSubset is the directory that an APERAK is written in.
type aperakSubset struct {
	release, association string
}

// subsetOf: D.01B has all that D.96A has, and is what later directories are nearest to.
func subsetOf(ic *edi.Interchange, a edi.Advice) (s aperakSubset) {
	var t *edi.MessageType
	switch {
	case len(a.Messages) > 0:
		t = ic.Messages[a.Messages[0].Index].Type
	case len(ic.Messages) > 0:
		t = ic.Messages[0].Type
	default:
		return aperakSubset{release: "96A"}
	}
	s.release = "96A"
	// Releases count within a century: 93A … 99B, then 00A … .
	if len(t.Release) == 3 && t.Release < "90" && t.Release >= "01B" {
		s.release = "01B"
	}
	if strings.HasPrefix(t.AssociationCode, "EAN") {
		s.association = map[string]string{"96A": "EAN001", "01B": "EAN003"}[s.release]
	}
	return s
}

type aperakWriter struct {
	*Writer
	ic     *edi.Interchange
	a      edi.Advice
	subset aperakSubset
}

// aperak writes the n-th message, of the messages given.
func (w *aperakWriter) aperak(n int, messages []edi.AdvisedMessage, last bool) {
	w.Message(strconv.Itoa(n), edi.MessageType{Type: "APERAK", Version: "D", Release: w.subset.release, Agency: "UN", AssociationCode: w.subset.association})
	number := w.a.Reference
	if n > 1 {
		number = fmt.Sprintf("%s-%d", number, n)
	}
	w.bgm(number)
	w.Segment("DTM", E("137", w.a.Prepared.Format("200601021504"), "203"))
	w.Segment("RFF", E("ACW", w.ic.ControlReference))
	w.prepared()
	if len(messages) == 1 { // guides look for the document here
		w.document(&messages[0], true)
	}
	omitted := 0
	if last {
		omitted = w.a.Omitted
	}
	if len(messages) == 0 {
		w.erc()
		w.words(w.a.Text, 0)
	}
	for i := range messages {
		m := &messages[i]
		text := m.Text
		if text == "" {
			text = w.a.Text
		}
		w.erc()
		if i < len(messages)-1 {
			w.words(withErrors(text, m.Errors), 0)
		} else {
			w.words(withErrors(text, m.Errors), omitted)
		}
		w.document(m, w.subset.release != "96A")
	}
	w.EndMessage()
}

// bgm writes the verdict. UN's own code lists have 1001 = 313 for what is refused, else
// 312, and 4343. EANCOM 97 has one code for both in 1001 and no 4343, EANCOM 2002 the
// former two; both tell the verdict in 1225, 6 for what its application has, 27 for what
// it has not accepted.
func (w *aperakWriter) bgm(number string) {
	name, function, response := E("312"), "6", "AJ" // pending
	switch w.a.Acceptance {
	case edi.Rejected:
		name, function, response = E("313"), "27", "RE"
	case edi.Accepted:
		response = "AP"
	}
	switch {
	case w.subset.association == "":
		w.Segment("BGM", name, E(number), E(), E(response))
		return
	case w.subset.release == "96A":
		name = E("12E", "", "9")
	}
	w.Segment("BGM", name, E(number), E(function))
}

// prepared writes S004 of the interchange in DTM, as far as it is a date.
func (w *aperakWriter) prepared() {
	switch t := w.ic.Time; {
	case len(w.ic.Date) != 8:
	case len(t) == 4 && edi.Digits(t):
		w.Segment("DTM", E("171", w.ic.Date+t, "203"))
	default:
		w.Segment("DTM", E("171", w.ic.Date, "102"))
	}
}

// document names a message by the number of its document, and by its reference where
// there is none, or room for both.
func (w *aperakWriter) document(m *edi.AdvisedMessage, both bool) {
	subject := &w.ic.Messages[m.Index]
	if m.Number != "" {
		w.Segment("RFF", E(documentReference(subject.Type.Type), m.Number))
	}
	if both || m.Number == "" {
		w.Segment("RFF", E("AGO", strings.TrimPrefix(subject.Reference, referencePrefix)))
	}
}

// documentReference is the code of 1153 for the number of a document.
func documentReference(messageType string) string {
	switch messageType {
	case "INVOIC":
		return "IV"
	case "DESADV":
		return "AAK"
	case "ORDERS":
		return "ON"
	}
	return "ACE" // of a related document
}

// erc tells why. 3055 = 92: a list of the buyer's.
func (w *aperakWriter) erc() { w.Segment("ERC", E(string(w.a.Reason), "", "92")) }

// words writes FTX, of as much as it holds.
func (w *aperakWriter) words(text string, omitted int) {
	if omitted > 0 {
		text = strings.TrimSpace(fmt.Sprintf("And %d more, which are not named here. %s", omitted, text))
	}
	if text == "" {
		return
	}
	w.Segment("FTX", E("AAO"), E(), E(), E(wrapped(w.printable(text), freeTextWidth, freeTexts)...))
}

// printable is text in the characters of levels A and B where the interchange is of
// these: its sender's program may have no others. ISO 9735 annex A.
func (w *aperakWriter) printable(text string) string {
	id := w.envelope.SyntaxID
	if id != "UNOA" && id != "UNOB" {
		return text
	}
	return strings.Map(func(r rune) rune {
		if id == "UNOA" {
			r = unicode.ToUpper(r)
		}
		if r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune(" .,-()/=!\"%&*;<>'+:?", r) {
			return r
		}
		return ' '
	}, text)
}

// withErrors adds where and what the errors are.
func withErrors(text string, errs []*edi.Error) string {
	for _, e := range errs {
		place := ""
		if e.Tag != "" && e.Segment > 0 {
			place = fmt.Sprintf("%s, segment %d: ", e.Tag, e.Segment)
		}
		text = joined(text, place+e.Text)
	}
	return text
}

// wrapped cuts text between words into parts of width characters, most of them; what
// is left is dropped, with dots in its place.
func wrapped(text string, width, most int) (parts []string) {
	line := []rune{}
	words := strings.Fields(text)
	for n := 0; n < len(words); n++ {
		word := []rune(words[n])
		gap := min(len(line), 1)
		switch {
		case len(line)+gap+len(word) <= width:
			if gap > 0 {
				line = append(line, ' ')
			}
			line = append(line, word...)
			continue
		case len(line) == 0: // longer than a line
			line, words[n] = word[:width], string(word[width:])
		}
		n--
		if len(parts) == most-1 {
			line = append(line[:min(len(line), width-3)], '.', '.', '.')
			return append(parts, string(line))
		}
		parts, line = append(parts, string(line)), []rune{}
	}
	return append(parts, string(line))
}
