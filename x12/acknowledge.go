package x12

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/edigw/edigw/edi"
)

// maxAnswers bounds the transaction sets of a group that are named one by one;
// beyond it only those that were refused are.
const maxAnswers = 1000

// Acknowledge writes the interchange that answers ic, and says what it is: "997" or
// "999", or "TA1" where nothing else stands in it. TA1 speaks of the interchange:
// where a.TA1 or ISA14 ask for it, and where the interchange itself is refused;
// its groups are then not answered, since nothing in it was taken. A 997 or 999 answers
// each functional group: AK1, for each of its transaction sets AK2 to AK5, and AK9.
//
// A set that a.Messages does not name shares the lot of the interchange. At each
// level errors with a code of X12 are told; warnings are, of ISA and IEA, by
// TA104 = E. ActionReceived, which judges no content, is a TA1 alone.
//
// An acknowledgement is never answered: 997 and 999 are passed over, in whatever group
// they stand, and so is a TA1. What stands beside them is answered. The answer is nil
// where nothing is left to say.
func Acknowledge(ic *edi.Interchange, a edi.Acknowledgement) (kind string, answer []byte, err error) {
	if !edi.Digits(a.Reference) {
		return "", nil, errNoReference
	}
	groups := toAnswer(ic)
	if len(groups) == 0 && (len(ic.Groups) > 0 || carriesTA1(ic)) {
		return "", nil, nil
	}
	refused := a.Action == edi.ActionRejected && len(a.Errors) > 0
	ta1 := refused || a.Action == edi.ActionReceived || a.TA1 == "always" || ic.AckRequested
	ta1 = ta1 && a.TA1 != "never"
	if refused && ta1 || a.Action == edi.ActionReceived {
		groups = nil
	}
	if !ta1 && len(groups) == 0 {
		return "", nil, nil
	}
	w, err := NewWriter(Envelope{Version: version(ic), Sender: ic.Recipient, Recipient: ic.Sender, Prepared: a.Prepared,
		Reference: lastDigits(a.Reference, 9), Test: ic.Test, Delimiters: delimiters(ic)})
	if err != nil {
		return "", nil, fmt.Errorf("acknowledge %s: %w", ic.ControlReference, err)
	}
	kind = "TA1"
	if ta1 {
		w.ta1(ic, a)
	}
	answers := make(map[int]*edi.MessageAnswer, len(a.Messages))
	for i := range a.Messages {
		answers[a.Messages[i].Index] = &a.Messages[i]
	}
	first := firstOf(ic)
	for n, b := range batches(ic, groups, a.Form) {
		kind = b.form
		w.batch(ic, a, b, n, first, answers)
	}
	answer, err = w.Close()
	return kind, answer, err
}

// toAnswer gives the groups that hold more than acknowledgements. GS01 decides where no
// set tells: an empty group FA would have held some.
func toAnswer(ic *edi.Interchange) (groups []int) {
	business := make([]bool, len(ic.Groups))
	for i := range ic.Messages {
		if m := &ic.Messages[i]; m.Group >= 0 && !acknowledges(m) {
			business[m.Group] = true
		}
	}
	for g := range ic.Groups {
		if business[g] || ic.Groups[g].Messages == 0 && ic.Groups[g].FunctionalID != functionalIDs["997"] {
			groups = append(groups, g)
		}
	}
	return groups
}

// acknowledges reports whether m is an acknowledgement, which X12 has nobody acknowledge.
// QUIRK: some send them in a group of what they answer, or something else in a group FA.
func acknowledges(m *edi.Message) bool { return m.Type.Type == "997" || m.Type.Type == "999" }

// carriesTA1 reports whether a TA1 stands in the interchange.
func carriesTA1(ic *edi.Interchange) bool {
	return slices.ContainsFunc(ic.Errors, func(e *edi.Error) bool { return e.Code == codeTA1 })
}

// version is ISA12 of the answer: that of the subject, if it is one.
func version(ic *edi.Interchange) string {
	if controlVersion(ic.SyntaxVersion) {
		return ic.SyntaxVersion
	}
	return "00401"
}

// delimiters are those of the subject, which its sender can read for certain. One that
// stands in what the envelope copies makes way for another: an identifier in ISA may
// hold the component separator, since ISA has no composites. So does a terminator that
// is no ASCII, which would make the answer no text.
func delimiters(ic *edi.Interchange) edi.Delimiters {
	d := ic.Delimiters
	copied := ic.Sender.Qualifier + ic.Sender.ID + ic.Recipient.Qualifier + ic.Recipient.ID
	for i := range ic.Groups {
		copied += ic.Groups[i].Sender.ID + ic.Groups[i].Recipient.ID
		if len(copied) > MaxHeader { // nobody has so many names
			break
		}
	}
	free := func(b byte, others ...byte) byte {
		for _, c := range append([]byte{b}, "~:^>!|;%<="...) {
			if c > 0 && c < 0x80 && strings.IndexByte(copied, c) < 0 && !slices.Contains(others, c) {
				return c
			}
		}
		return b
	}
	d.Terminator = free(d.Terminator, d.Element, d.Component, d.Repetition)
	d.Component = free(d.Component, d.Element, d.Terminator, d.Repetition)
	if d.Repetition == 0 && version(ic) >= "00402" {
		d.Repetition = DefaultDelimiters.Repetition
	}
	if d.Repetition != 0 {
		d.Repetition = free(d.Repetition, d.Element, d.Terminator, d.Component)
	}
	return d
}

// lastDigits is the end of a number that may have grown beyond its element.
func lastDigits(s string, n int) string { return s[max(0, len(s)-n):] }

// ta1 writes TA1: ISA13, ISA09 and ISA10 of the subject, what became of it (I17)
// and why (I18). TA102 is six digits and TA103 four (DT 6/6, TM 4/4): an ISA09 or ISA10
// that has others cannot be repeated, and the moment of the answer stands there.
func (w *Writer) ta1(ic *edi.Interchange, a edi.Acknowledgement) {
	date, clock := a.Prepared.Format("060102"), a.Prepared.Format("1504")
	if len(ic.Date) == 8 {
		date = ic.Date[2:]
	} else if i := slices.IndexFunc(ic.Errors, func(e *edi.Error) bool { return e.Code == codeDate }); i >= 0 {
		if sent := ic.Errors[i].Value; len(sent) == 6 && edi.Digits(sent) {
			date = sent
		}
	}
	if len(ic.Time) >= 4 && edi.Digits(ic.Time[:4]) {
		clock = ic.Time[:4]
	}
	action, note := "A", "000"
	if a.Action == edi.ActionRejected && len(a.Errors) > 0 {
		action, note = "R", interchangeNote(a.Errors[0])
	} else {
		for _, e := range ic.Errors {
			if len(e.Standard) == 3 && e.Severity == edi.SeverityWarning {
				action, note = "E", e.Standard
				break
			}
		}
	}
	w.Segment("TA1", E(ic.ControlReference), E(date), E(clock), E(action), E(note))
}

// interchangeNote is the I18 code of what refuses an interchange. The gateway's own
// reasons have theirs by name.
func interchangeNote(e *edi.Error) string {
	switch {
	case e.Code == "duplicate-reference":
		return "025"
	case e.Code == "recipient-unknown":
		return "009"
	case len(e.Standard) == 3 && edi.Digits(e.Standard):
		return e.Standard
	}
	return "024" // what stands in the interchange is not right
}

// batch is what one group FA of ours answers: groups of one version.
type batch struct {
	form, version, convention string
	groups                    []int
}

// batches sorts groups by the version in which they are answered.
func batches(ic *edi.Interchange, groups []int, form string) (list []batch) {
	at := make(map[string]int)
	for _, g := range groups {
		b := answerOf(ic.Groups[g].Version, form)
		n, known := at[b.version]
		if !known {
			n = len(list)
			at[b.version] = n
			list = append(list, b)
		}
		list[n].groups = append(list[n].groups, g)
	}
	return list
}

// answerOf is how a group of a version (GS08) is answered: by the version's own 997,
// or by the 999 of an implementation guide. Without a setting that is for groups
// which name one themselves: 005010X222A1.
func answerOf(gs08, form string) batch {
	guide := len(gs08) > 7 && gs08[:6] >= "005010" && gs08[6] == 'X' && edi.Digits(gs08[7:8])
	if form == "999" || form == "" && guide {
		convention := "005010X231A1"
		if gs08 >= "006020" && len(gs08) >= 6 && edi.Digits(gs08[:6]) {
			convention = "006020X290"
		}
		return batch{form: "999", version: convention, convention: convention}
	}
	if len(gs08) >= 6 && edi.Digits(gs08[:6]) {
		return batch{form: "997", version: gs08[:6]}
	}
	return batch{form: "997", version: "004010"}
}

// batch writes the n-th group FA. GS06 is the control number of the interchange; that
// of further groups is told from it by its first digit. ST02 counts.
func (w *Writer) batch(ic *edi.Interchange, a edi.Acknowledgement, b batch, n int, first []int, answers map[int]*edi.MessageAnswer) {
	number := strings.TrimLeft(lastDigits(a.Reference, 9), "0")
	if n > 0 {
		number = fmt.Sprintf("%d%08s", 1+(n-1)%9, lastDigits(a.Reference, 8))
	}
	g := &ic.Groups[b.groups[0]]
	w.Group("FA", g.Recipient.ID, g.Sender.ID, number, b.version)
	for i, g := range b.groups {
		w.Message(b.form, fmt.Sprintf("%04d", i+1), b.convention)
		w.functional(ic, a, b, g, first[g], answers)
		w.EndMessage()
	}
	w.EndGroup()
}

// firstOf gives the index of the first transaction set of each group; those of a
// group stand behind each other.
func firstOf(ic *edi.Interchange) []int {
	first := make([]int, len(ic.Groups))
	for i := len(ic.Messages) - 1; i >= 0; i-- {
		if g := ic.Messages[i].Group; g >= 0 {
			first[g] = i
		}
	}
	return first
}

// functional answers group g, whose transaction sets begin with first.
func (w *Writer) functional(ic *edi.Interchange, a edi.Acknowledgement, b batch, g, first int, answers map[int]*edi.MessageAnswer) {
	group := &ic.Groups[g]
	ak1 := []Element{E(group.FunctionalID), E(group.Reference)}
	if b.version >= "005010" {
		ak1 = append(ak1, E(group.Version))
	}
	w.Segment("AK1", ak1...)
	groupRefused := edi.Worst(group.Errors) >= edi.SeverityError
	accepted := 0
	for i := first; i < first+group.Messages; i++ {
		m := answers[i]
		refused := groupRefused || a.Action == edi.ActionRejected && m == nil || m != nil && m.Action == edi.ActionRejected
		if !refused {
			accepted++
		}
		if !acknowledges(&ic.Messages[i]) && (refused || group.Messages <= maxAnswers) {
			w.answer(ic, b, i, m, refused)
		}
	}
	action := "A"
	switch {
	case groupRefused || accepted == 0:
		action = "R"
	case accepted < group.Messages:
		action = "P"
	}
	included := group.Included
	if included < 0 || included > maxIncluded {
		included = group.Messages
	}
	ak9 := []Element{E(action), E(strconv.Itoa(included)), E(strconv.Itoa(group.Messages)), E(strconv.Itoa(accepted))}
	w.Segment("AK9", append(ak9, codes(group.Errors, b.version)...)...)
}

// maxIncluded is the most that AK902 can say, and GE01 could: N0 1/6.
const maxIncluded = 999_999

// codes gives the different codes of 716 that errors have, as many as AK9 holds.
func codes(list []*edi.Error, version string) (out []Element) {
	for _, e := range list {
		if e.Severity >= edi.SeverityError && e.Standard != "" {
			out = withCode(out, said(groupCode, e.Standard, version))
		}
	}
	return out
}

// maxCodes is how many codes AK5 and AK9 hold.
const maxCodes = 5

// withCode adds a code to list, once; none where there is none to say.
func withCode(list []Element, code string) []Element {
	if code == "" {
		return list
	}
	for _, e := range list {
		if e[0][0] == code {
			return list
		}
	}
	if len(list) < maxCodes {
		list = append(list, E(code))
	}
	return list
}
