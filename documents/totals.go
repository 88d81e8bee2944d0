package documents

import (
	"github.com/edigw/edigw/documents/roles"
	"github.com/edigw/edigw/edi"
)

// totalKind is one amount of BG-22.
type totalKind int

const (
	totalLines totalKind = iota
	totalAllowances
	totalCharges
	totalTaxExclusive
	totalTax
	totalTaxInclusive
	totalPrepaid
	totalRounding
	totalPayable
	totalKinds
)

// total is what the message said of one kind, and where.
type total struct {
	Amount
	at   edi.Location
	rank uint8
}

// totalWords are the roles of the kinds.
var totalWords = [totalKinds]string{
	totalLines: "lines", totalAllowances: "allowances", totalCharges: "charges",
	totalTaxExclusive: "tax_exclusive", totalTax: "tax", totalTaxInclusive: "tax_inclusive",
	totalPrepaid: "prepaid", totalRounding: "rounding", totalPayable: "payable",
}

// totalOf gives the kind a qualifier of 5025 stands for in the summary, and its rank;
// rank 0 is none.
func (m *mapping) totalOf(qualifier string) (kind totalKind, rank uint8) {
	role, rank := m.guide.Role(roles.Totals, qualifier)
	if role == "" {
		return 0, 0
	}
	for totalWords[kind] != role {
		if kind++; kind == totalKinds {
			return 0, 0
		}
	}
	return kind, rank
}

// total takes an amount of the summary.
func (m *invoic) total(s *segment, a Amount) {
	kind, rank := m.totalOf(a.Qualifier)
	t := &m.totals[kind]
	foreign := a.Currency != "" && m.doc.Currency != "" && a.Currency != m.doc.Currency
	switch {
	case rank == 0 || foreign || rank < t.rank:
		m.doc.Detail.Amounts = append(m.doc.Detail.Amounts, a)
		return
	case rank == t.rank:
		m.warn("total-repeated", s.Location(1, 1), "MOA %s stands more than once; the first counts", a.Qualifier)
		m.doc.Detail.Amounts = append(m.doc.Detail.Amounts, a)
		return
	case t.rank > 0:
		m.doc.Detail.Amounts = append(m.doc.Detail.Amounts, t.Amount)
	}
	*t = total{Amount: a, at: s.Location(1, 2), rank: rank}
}

// setTotals fills the document's totals.
func (m *invoic) setTotals() {
	d := &m.doc.Totals
	for kind, column := range [totalKinds]*Number{
		&d.Lines, &d.Allowances, &d.Charges, &d.TaxExclusive, &d.Tax, &d.TaxInclusive, &d.Prepaid, &d.Rounding, &d.Payable,
	} {
		*column = m.totals[kind].Amount.Amount
		m.places.totals[kind] = m.totals[kind].at
	}
	// QUIRK: CUX is left out by some who name the currency with each amount (6345).
	for kind := 0; kind < int(totalKinds) && m.doc.Currency == ""; kind++ {
		m.doc.Currency = m.totals[kind].Currency
	}
	// QUIRK: with one tax, many guides send its amount beneath TAX alone; it is
	// the total then (BR-CO-14), and nothing is added up.
	if taxes := m.invoice.Taxes; !d.Tax.Valid() && len(taxes) == 1 {
		d.Tax = taxes[0].Amount
	}
}
