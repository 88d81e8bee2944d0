package compare

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// tally collects what a headline tells of one message.
type tally struct {
	counts  map[Facet]int
	content bool // something beside UNH, UNT, ST and SE differs

	total, due      moneyChange
	account, payee  textChange
	document        textChange
	function        textChange
	currency        textChange
	currencyA       string // of the document
	currencyB       string
	lines, packages [3]int // added, removed, moved
	rewritten       int
}

// moneyChange is an amount before and after, "" for none.
type moneyChange struct {
	rank                 int // of the qualifier; zero: no change seen
	before, after        string
	currencyA, currencyB string
}

type textChange struct{ before, after string }

// currencies finds the currency of both documents: CUX 6347 = 2, CUR.
func (t *tally) currencies(d *dialect, a, b *Message) {
	t.currencyA, t.currencyB = currency(d, a.Segments), currency(d, b.Segments)
}

func currency(d *dialect, segs []Segment) string {
	first := ""
	for i := range segs {
		s := &segs[i]
		switch {
		case d.x12 && s.Tag == "CUR":
			return s.value(2, 1)
		case !d.x12 && s.Tag == "CUX":
			if s.value(1, 1) == "2" {
				return s.value(1, 2)
			}
			if first == "" {
				first = s.value(1, 2)
			}
		}
	}
	return first
}

// addChanged takes a segment of which elements changed.
func (t *tally) addChanged(a, b *Segment, at place, touched []Facet) {
	for i, f := range touched {
		if contains(touched[:i], f) || f == Control {
			continue
		}
		t.content = true
		if f == sameWorth {
			t.rewritten++
			continue
		}
		t.counts[f]++
		t.detail(f, a, b, at)
	}
}

func contains(list []Facet, f Facet) bool {
	for _, x := range list {
		if x == f {
			return true
		}
	}
	return false
}

// addSegment takes a segment that one side lacks.
func (t *tally) addSegment(s *Segment, at place, f Facet, kind Kind) {
	if f == Control {
		return
	}
	t.content = true
	t.counts[f]++
	if kind == Added {
		t.detail(f, nil, s, at)
	} else {
		t.detail(f, s, nil, at)
	}
}

// add takes a line or package.
func (t *tally) add(f Facet, kind Kind) {
	t.content = true
	t.counts[f]++
	n := &t.lines
	if f == Package {
		n = &t.packages
	}
	n[map[Kind]int{Added: 0, Removed: 1, Moved: 2}[kind]]++
}

// detail keeps the values that a headline shows; a or b is nil for a segment
// that one side lacks.
func (t *tally) detail(f Facet, a, b *Segment, at place) {
	switch f {
	case Total:
		t.total.see(t, a, b, 1)
	case Due:
		t.due.see(t, a, b, 3)
	case Account:
		t.account = textChange{t.accountOf(a), t.accountOf(b)}
	case Payee:
		if x, y := partyName(a), partyName(b); x != y {
			t.payee = textChange{x, y}
		}
	case Document:
		t.document.see(a, b, map[string]int{"BGM": 1, "BIG": 7, "BEG": 2})
	case Function:
		t.function.see(a, b, map[string]int{"BGM": 3, "BIG": 8, "BSN": 1, "BEG": 1})
	case Currency:
		if t.currencyA != t.currencyB {
			t.currency = textChange{t.currencyA, t.currencyB}
		}
	}
}

// see keeps the total of the highest rank. element is where X12 TDS has it.
func (m *moneyChange) see(t *tally, a, b *Segment, element int) {
	s := b
	if s == nil {
		s = a
	}
	rank := max(totalRank[s.value(1, 1)], 1)
	if m.rank > 0 && m.rank <= rank {
		return
	}
	*m = moneyChange{rank: rank, currencyA: t.currencyA, currencyB: t.currencyB}
	m.before, m.currencyA = amount(a, element, m.currencyA)
	m.after, m.currencyB = amount(b, element, m.currencyB)
}

// amount reads C516 5004 with 6345, or TDS as N2.
func amount(s *Segment, element int, currency string) (text, cur string) {
	switch {
	case s == nil:
		return "", currency
	case s.Tag == "TDS":
		if s.value(element, 1) == "" {
			return "", currency
		}
		return money(s.value(element, 1), 2), currency
	}
	if c := s.value(1, 3); c != "" {
		currency = c
	}
	return money(s.value(1, 2), 0), currency
}

func (m moneyChange) words(what string) string {
	with := func(v, cur string) string { return strings.TrimSpace(v + " " + short(cur)) }
	switch {
	case m.before == "":
		return what + " added " + with(m.after, m.currencyB)
	case m.after == "":
		return what + " removed " + with(m.before, m.currencyA)
	case m.currencyA != m.currencyB:
		return what + " " + with(m.before, m.currencyA) + " → " + with(m.after, m.currencyB)
	}
	return what + " " + m.before + " → " + with(m.after, m.currencyB)
}

func (c *textChange) see(a, b *Segment, element map[string]int) {
	if a != nil && element[a.Tag] > 0 {
		c.before = a.value(element[a.Tag], 1)
	}
	if b != nil && element[b.Tag] > 0 {
		c.after = b.value(element[b.Tag], 1)
	}
}

func (c textChange) words(what string) string {
	switch {
	case c.before == c.after:
		return what
	case c.before == "":
		return what + " added " + short(c.after)
	case c.after == "":
		return what + " removed " + short(c.before)
	}
	return what + " " + short(c.before) + " → " + short(c.after)
}

// accountOf is the account of FII C078 3194 or REF02, its middle masked: the
// headline goes into mails and logs.
func (t *tally) accountOf(s *Segment) string {
	if s == nil || s.Tag != "FII" && s.Tag != "REF" && s.Tag != "RFF" {
		return ""
	}
	account := s.value(2, 1)
	if s.Tag == "RFF" {
		account = s.value(1, 2)
	}
	r := []rune(strings.ReplaceAll(account, " ", ""))
	if len(r) <= 8 {
		return string(r)
	}
	return string(r[:4]) + "…" + string(r[len(r)-4:])
}

// partyName is C080 3036, else the unstructured C058, else the id; N102.
func partyName(s *Segment) string {
	switch {
	case s == nil:
		return ""
	case s.Tag == "NAD":
		for _, e := range []int{4, 3, 2} {
			if v := s.value(e, 1); v != "" {
				return v
			}
		}
	case s.Tag == "N1":
		if v := s.value(2, 1); v != "" {
			return v
		}
		return s.value(4, 1)
	}
	return ""
}

// words tells the message in one line, the gravest first.
func (t *tally) words() string {
	var parts []string
	say := func(s string) { parts = append(parts, s) }
	if t.counts[Total] > 0 {
		say(t.total.words("total"))
	}
	if t.counts[Due] > 0 && (t.counts[Total] == 0 || t.due.before != t.total.before || t.due.after != t.total.after) {
		say(t.due.words("due"))
	}
	switch n := t.counts[Account]; {
	case n == 1:
		say(t.account.words("bank account"))
	case n > 1:
		say(fmt.Sprintf("%d bank accounts", n))
	}
	if t.counts[Payee] > 0 {
		if t.payee == (textChange{}) {
			say("payee details")
		} else {
			say(t.payee.words("payee"))
		}
	}
	if t.counts[Document] > 0 {
		say(t.document.words("document type"))
	}
	if t.counts[Function] > 0 {
		say(t.function.words("function"))
	}
	if t.currency != (textChange{}) {
		say(t.currency.words("currency"))
	} else if t.counts[Currency] > 0 {
		say(plural(t.counts[Currency], "currency", "currencies"))
	}
	t.say(&parts, Price, Quantity, Tax, Allowance, Date)
	sayWhole(&parts, t.lines, "line", "lines")
	sayWhole(&parts, t.packages, "package", "packages")
	t.say(&parts, Item, Party, Reference, Other)
	if t.counts[Total]+t.counts[Due] == 0 {
		t.say(&parts, Amount)
	}
	if t.rewritten > 0 {
		say(plural(t.rewritten, "amount", "amounts") + " written differently")
	}
	if len(parts) == 0 {
		t.say(&parts, Amount, Count)
	}
	return strings.Join(parts, ", ")
}

// nouns of facets, one and many.
var nouns = map[Facet][2]string{
	Price: {"price", "prices"}, Quantity: {"quantity", "quantities"}, Tax: {"tax", "taxes"},
	Allowance: {"allowance or charge", "allowances or charges"}, Date: {"date", "dates"}, Item: {"item", "items"},
	Party: {"party", "parties"}, Reference: {"reference", "references"}, Other: {"other segment", "other segments"},
	Amount: {"amount", "amounts"}, Count: {"count", "counts"},
}

func (t *tally) say(parts *[]string, facets ...Facet) {
	for _, f := range facets {
		if n := t.counts[f]; n > 0 {
			*parts = append(*parts, plural(n, nouns[f][0], nouns[f][1]))
		}
	}
}

func sayWhole(parts *[]string, n [3]int, one, many string) {
	for i, verb := range []string{"added", "removed", "moved"} {
		if n[i] > 0 {
			*parts = append(*parts, plural(n[i], one, many)+" "+verb)
		}
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// short makes data fit into a headline.
func short(s string) string {
	const most = 40
	if s = Clean(s); utf8.RuneCountInString(s) > most {
		return string([]rune(s)[:most-1]) + "…"
	}
	return s
}
