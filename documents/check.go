package documents

import (
	"strconv"

	"github.com/edigw/edigw/documents/checks"
	"github.com/edigw/edigw/edi"
)

// check compares what a document says with itself. The checks look at the document,
// so that every syntax has the same ones, and at its message for the place alone.
// They change nothing: what is wrong is told, and kept as it was sent. A message that
// is refused is not compared, since what could not be read would be missed.
func (m *mapping) check() {
	if m.refused > 0 {
		return
	}
	switch m.doc.Class {
	case ClassInvoice:
		m.whole = m.doc.inWholeUnits()
		m.checkCurrency()
		m.checkInvoiceDates()
		m.checkPrices()
		m.checkLineAmounts()
		m.checkRepeatedLines()
		m.checkTotals()
		m.checkTaxes()
		m.checkSign()
	case ClassDespatch:
		m.checkDespatchDates()
		m.checkUnits()
		m.checkPackages()
		m.checkQuantities()
		m.checkRepeatedLines()
	}
}

// checkCurrency: amounts without a currency are worth nothing (BT-5). X12 has the
// currency agreed where CUR is left out.
func (m *mapping) checkCurrency() {
	d := m.doc
	if d.Currency != "" || m.ic.Syntax == "x12" {
		return
	}
	worth := d.Totals != Totals{} || len(d.Detail.Amounts) > 0
	for i := 0; i < len(d.Lines) && !worth; i++ {
		worth = d.Lines[i].NetAmount.Valid() || d.Lines[i].Price.Valid()
	}
	if worth {
		m.warnAt("currency-missing", m.head, "the invoice names no currency")
	}
}

// lineName names line i in a sentence.
func (m *mapping) lineName(i int) string {
	if no := m.doc.Lines[i].No; no != "" {
		return shorten(no)
	}
	return "at position " + strconv.Itoa(i+1)
}

// Finding is what was found of a document, as it is kept with it.
type Finding struct {
	Severity string       `json:"severity"`          // note, warning
	Code     string       `json:"code"`              // of package checks
	Message  string       `json:"message"`           // one sentence: what is wrong, with the values
	Location edi.Location `json:"location,omitzero"` // in the payload that brought it
}

// Findings are those of errs that are kept with a document.
func Findings(errs []*edi.Error) []Finding {
	if len(errs) == 0 {
		return nil
	}
	list := make([]Finding, len(errs))
	for i, e := range errs {
		list[i] = Finding{Severity: e.Severity.String(), Code: e.Code, Message: e.Text, Location: e.Location}
	}
	return list
}

// Judge applies a policy, by code, to what was found of a document: it gives the
// document, nil where a finding refuses it, and the findings that are told. The zero
// policy leaves both as they are.
func Judge(policy map[string]string, syntax string, d *Document, errs []*edi.Error) (*Document, []*edi.Error) {
	if len(policy) == 0 || len(errs) == 0 {
		return d, errs
	}
	told := make([]*edi.Error, 0, len(errs))
	for _, e := range errs {
		switch consequence := checks.Of(policy, e.Code); {
		case e.Severity >= edi.SeverityError:
		case consequence == checks.Off:
			continue
		case consequence == checks.Refuse:
			e = Refuse(syntax, e)
			d = nil
		}
		told = append(told, e)
	}
	if d != nil {
		d.Detail.Findings = Findings(told)
	}
	return d, told
}

// Refuse makes an error of a finding, with the code by which CONTRL or 997 tells it.
func Refuse(syntax string, e *edi.Error) *edi.Error {
	x := *e
	x.Severity = edi.SeverityError
	if x.Tag == "UNH" { // what the message lacks stands behind UNH, which is not at fault; see missingBGM
		x.Tag = ""
	}
	if x.Standard != "" {
		return &x
	}
	if c, ok := checks.Find(e.Code); ok && len(c.EDIFACT) >= 2 {
		x.Standard = c.EDIFACT[:2]
	}
	if syntax == "x12" {
		x.Standard = standardX12(x.Code, x.Standard, x.Location)
	}
	return &x
}
