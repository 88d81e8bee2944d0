package ubl

import (
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/edigw/edigw/documents"
)

var hundred = decimal.NewFromInt(100)

// wording says one term of payment in words, as far as it is sure what it says: a
// discount without its deadline, or days from a day that is not known, would promise
// what the sender did not. What is not said is told.
type wording struct {
	*out
	term *documents.PaymentTerm
	due  string // BT-9 as it is written

	percent, days, code, kind bool   // they are said, or add nothing
	amounts                   []bool // of Amounts
	dates                     []bool // of Dates
}

// words gives the text, "" where a date that is written says it all, or nothing is sure.
func (w *wording) words() string {
	t := w.term
	w.amounts, w.dates = make([]bool, len(t.Amounts)), make([]bool, len(t.Dates))
	for i := range t.Dates {
		w.dates[i] = t.Dates[i].Role == "due" && t.Dates[i].Day() == w.due && w.due != ""
	}
	x12 := strings.HasPrefix(w.d.MessageType, "810")
	w.code = t.Code == "" || x12 && slices.Contains(plainX12, t.Code)
	switch t.Type {
	case discountTerm:
		w.kind = true
		return w.discount()
	case penaltyTerm:
		w.kind = true
		return w.penalty()
	}
	w.kind = slices.Contains(plainTerms, t.Type)
	var said []string
	for _, s := range []string{w.net(), w.deferred()} {
		if s != "" {
			said = append(said, s)
		}
	}
	return strings.Join(said, "\n")
}

// discount says what is taken off whoever pays early.
func (w *wording) discount() string {
	t := w.term
	what, percent := "", t.Percent.Valid() && (t.Of == "" || t.Of == "12") // 5245: discount
	if percent {
		what = t.Percent.String() + " % discount"
	}
	off := w.find(func(a *documents.Amount) bool { return a.Role == "discount" })
	switch {
	case off >= 0 && percent:
		what += " (" + w.money(off) + ")"
	case off >= 0:
		what = w.money(off) + " discount"
	}
	base := w.find(func(a *documents.Amount) bool { return a.Role == "discount_basis" })
	if base >= 0 && what != "" {
		what += " on " + w.money(base)
	}
	day := w.date("discount_until")
	if day < 0 && w.count() == "" {
		day = w.date("due") // QUIRK: some say 13, when to pay, of a discount too
	}
	deadline := w.deadline(day)
	if what == "" || deadline == "" {
		return ""
	}
	w.percent, w.days = percent, true
	w.take(off, base, day)
	return what + " if paid" + deadline
}

// penalty says what is put on top for whoever pays late.
func (w *wording) penalty() string {
	t := w.term
	if !t.Percent.Valid() || t.Of != "" && t.Of != "15" { // 5245: penalty
		return ""
	}
	day, after := w.date("due"), w.count()
	switch {
	case day >= 0:
		after = t.Dates[day].Day()
	case after == "":
		return ""
	}
	w.percent, w.days = true, true
	w.take(-1, -1, day)
	return t.Percent.String() + " % penalty if paid later than " + after
}

// net says when all is to be paid, or a part of it.
func (w *wording) net() string {
	t := w.term
	part := t.Percent.Valid() && ofInvoice(t)
	amount := w.find(func(a *documents.Amount) bool { return slices.Contains(toPay, a.Qualifier) })
	day := w.date("due")
	deadline := w.deadline(day)
	if day < 0 && (!w.kind || !w.code || t.Day != "") { // such as the end of the month, which moves the day
		deadline = ""
	}
	if deadline == "" {
		return ""
	}
	w.days = true
	whole := !part && amount < 0
	if whole && day >= 0 && t.Dates[day].Day() == w.due {
		return "" // BT-9 says it
	}
	w.take(amount, -1, day)
	what := "payable"
	switch {
	case amount >= 0 && part:
		what = t.Percent.String() + " % of the invoice (" + w.money(amount) + ") " + what
	case amount >= 0:
		what = w.money(amount) + " " + what
	case part:
		what = t.Percent.String() + " % of the invoice " + what
	}
	w.percent = part
	return what + deadline
}

// deferred says ITD09 and ITD10.
func (w *wording) deferred() string {
	amount := w.find(func(a *documents.Amount) bool { return a.Role == "deferred" })
	day := w.date("deferred")
	if amount < 0 || day < 0 {
		return ""
	}
	w.take(amount, -1, day)
	return w.money(amount) + " deferred until " + w.term.Dates[day].Day()
}

// deadline says until when: a date, else a count of days.
func (w *wording) deadline(day int) string {
	if day >= 0 {
		return " until " + w.term.Dates[day].Day()
	}
	if count := w.count(); count != "" {
		return " within " + count
	}
	return ""
}

// periods are units of time of UNTDID 2151.
var periods = map[string]string{"D": "day", "CD": "calendar day", "WD": "working day", "W": "week", "M": "month", "Y": "year"}

// events are those of UNTDID 2475 from which a buyer can count.
var events = map[string]string{
	"":   "",
	"1":  " after the date of the order",
	"5":  " after the date of the invoice",
	"6":  " after the date of the credit note",
	"7":  " after the date of this document",
	"9":  " after receipt of the invoice",
	"11": " after receipt of the credit note",
	"12": " after receipt of this document",
	"21": " after receipt of the goods",
	"24": " after the goods left the works",
	"29": " after delivery of the goods",
	"69": " after the invoice was sent",
	"81": " after shipment of the goods",
}

// count says a number of days and what they count from, "" where one of it is not sure.
// Of UNTDID 2009 the relation 3, after, is said alone: the others are ends of months
// and the like, which senders reckon in different ways.
func (w *wording) count() string {
	t := w.term
	unit := periods[t.Period]
	event, known := events[t.Event]
	if unit == "" || !known || t.Relation != "" && t.Relation != "3" || t.Count == "" || strings.Trim(t.Count, "0123456789") != "" {
		return ""
	}
	if t.Count != "1" {
		unit += "s"
	}
	return t.Count + " " + unit + event
}

// date finds the first day of a role, -1 if there is none.
func (w *wording) date(role string) int {
	return slices.IndexFunc(w.term.Dates, func(d documents.Date) bool { return d.Role == role && d.Day() != "" })
}

func (w *wording) find(is func(*documents.Amount) bool) int {
	return slices.IndexFunc(w.term.Amounts, func(a documents.Amount) bool { return a.Amount.Valid() && is(&a) })
}

// take marks amounts and a date as said; -1 is none.
func (w *wording) take(amount, other, day int) {
	for _, i := range []int{amount, other} {
		if i >= 0 {
			w.amounts[i] = true
		}
	}
	if day >= 0 {
		w.dates[day] = true
	}
}

// money says an amount of the term.
func (w *wording) money(i int) string {
	a := &w.term.Amounts[i]
	currency := a.Currency
	if currency == "" {
		currency = w.d.Currency
	}
	return a.Amount.String() + " " + currency
}

// rest tells what of the term is not said, by the codes that were sent. Where a date is
// said, what it was reckoned from is: days, what they count from, and the day of the
// month.
func (w *wording) rest() {
	t := w.term
	if !w.kind && t.Type != "" {
		w.leave("what it is")
	}
	if !w.code {
		w.leave("its code, %s", t.Code)
	}
	if !w.percent && t.Percent.Valid() {
		w.leave("its percentage, of the kind %q of UNTDID 5245", t.Of)
	}
	if !w.days {
		switch {
		case t.Count != "" || t.Event != "" && t.Event != "5" || t.Relation != "" && t.Relation != "3":
			w.leave("when: %s %s, 2009 %q, 2475 %q", t.Count, t.Period, t.Relation, t.Event)
		case t.Day != "":
			w.leave("its day of the month, %s", t.Day)
		}
	}
	for i := range t.Amounts {
		if a := &t.Amounts[i]; !w.amounts[i] && a.Amount.Valid() {
			w.leave("its amount %s", a.Qualifier)
		}
	}
	for i := range t.Dates {
		if d := &t.Dates[i]; !w.dates[i] {
			w.leave("its date %s, %s", d.Qualifier, d.Value)
		}
	}
}

func (w *wording) leave(format string, args ...any) {
	w.tell(LeftOut, "BT-20", "of a term of payment (UNTDID 4279 %q) "+format, append([]any{w.term.Type}, args...)...)
}
