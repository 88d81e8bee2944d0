package ubl

import (
	"slices"
	"strings"

	"github.com/edigw/edigw/documents"
)

// UNTDID 4279, what a term of payment is. Those that are plain add nothing to the
// date, the days and the amount of the term.
const (
	penaltyTerm    = "20"
	instalmentTerm = "21"
	discountTerm   = "22"
)

var (
	plainTerms = []string{"1", "3", "5", "8", instalmentTerm}
	plainX12   = []string{"", "01", "03", "04", "05", "08", "22"} // X12 336
)

// toPay are the amounts (5025) that say, beneath a term, what is to be paid then.
var toPay = []string{"9", "86"}

// dueDate gives BT-9, "" where several days are named or a part alone is due: a reader
// would pay all on the first of them. Nor is it a day that only a discount or a penalty
// says. What is due when, the terms say.
func (o *out) dueDate() string {
	var days []string
	add := func(list []documents.Date) {
		for i := range list {
			if d := &list[i]; (d.Role == "due" || d.Role == "deferred") && d.Day() != "" && !slices.Contains(days, d.Day()) {
				days = append(days, d.Day())
			}
		}
	}
	add(o.d.Detail.Dates)
	o.day("BT-9", "due") // which tells of a second
	parts, lesser := false, false
	for i := range o.invoice.Terms {
		t := &o.invoice.Terms[i]
		if t.Type == penaltyTerm || t.Type == discountTerm {
			lesser = lesser || slices.ContainsFunc(t.Dates, func(d documents.Date) bool { return d.Role == "due" && d.Day() == o.d.DueDate })
			continue
		}
		add(t.Dates)
		parts = parts || t.Type == instalmentTerm || o.isPart(t)
	}
	switch due := o.d.DueDate; {
	case due != "" && len(days) == 0 && lesser:
		o.tell(LeftOut, "BT-9", "%s as the date when all is due: only a discount or a penalty says it", due)
		return ""
	case due == "" || len(days) < 2 && !parts:
		if len(days) == 1 && due != "" {
			return days[0] // QUIRK: some say 13, when to pay, of a discount too, before the term itself
		}
		return due
	default:
		o.tell(LeftOut, "BT-9", "%s as the date when all is due: by its terms it is paid in parts, or on several days", due)
		return ""
	}
}

// isPart reports whether a term is of less than what is due.
func (o *out) isPart(t *documents.PaymentTerm) bool {
	if t.Percent.Sign() > 0 && ofInvoice(t) && !t.Percent.Decimal().Equal(hundred) {
		return true
	}
	for i := range t.Amounts {
		a := &t.Amounts[i]
		if a.Role == "deferred" || slices.Contains(toPay, a.Qualifier) && !a.Amount.Decimal().Equal(o.sums.payable.Decimal()) {
			return true
		}
	}
	return false
}

// ofInvoice reports whether the percentage of a term is how much of the invoice it is
// of: 7 of UNTDID 5245, or ITD11.
func ofInvoice(t *documents.PaymentTerm) bool { return t.Of == "" || t.Of == "7" }

// terms gives BT-20, a text: what the sender says in words, and in words what it says
// in figures. due is the date that stands as BT-9.
func (o *out) terms(due string) string {
	var lines []string
	for _, t := range o.texts(termsOfPayment) {
		if t.Text != "" {
			lines = append(lines, t.Text)
		}
	}
	for i := range o.invoice.Terms {
		t := &o.invoice.Terms[i]
		if t.Text != "" {
			lines = append(lines, t.Text)
		}
		w := &wording{out: o, term: t, due: due}
		if said := w.words(); said != "" {
			lines = append(lines, said)
			o.tell(Derived, "BT-20", "the terms of payment in words, from what is said in figures")
		}
		w.rest()
	}
	return strings.Join(lines, "\n")
}
