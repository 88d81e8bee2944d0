// Package ubl writes invoices as UBL 2.1 (OASIS, ISO/IEC 19845) in the way that
// EN 16931 binds them (CEN/TS 16931-3-2): one Invoice or CreditNote for each document.
//
// What is written is what was sent: amounts, quantities and prices keep every digit and
// trailing zero, and nothing is recomputed. What UBL's schema or EN 16931 demands and
// the document does not say, but what it says yields, such as the amount of a line of
// an 810, is derived and told; where the schema's demand cannot be met the document is
// unfit. So a file is valid by the UBL 2.1 schema, or there is none. Whether it is
// valid by the rules of EN 16931 is the sender's affair.
//
// It reads no UBL, and writes no despatch advice.
package ubl

import (
	"fmt"
	"io"

	"github.com/edigw/edigw/documents"
)

// ContentType is the media type of what Write writes.
const ContentType = "application/xml"

// customization is BT-24: the core of EN 16931, without extensions.
const customization = "urn:cen.eu:en16931:2017"

// Write writes d, an invoice, credit note or debit note with its lines (as
// documents.Store.Get gives it), to w as UBL 2.1 in UTF-8. It gives what has to be
// known of the file: a few remarks, however many lines there are.
//
// The error is an *Unfit if no UBL can be made of d: nothing has been written then. Any
// other is of w, and the file is broken off.
func Write(w io.Writer, d *documents.Document) ([]Remark, error) {
	o := &out{x: newWriter(w), d: d, invoice: d.Detail.Invoice, credit: d.IsCredit(), guide: guideOf(d)}
	if o.invoice == nil {
		o.invoice = &documents.Invoice{}
	}
	if err := o.fit(); err != nil {
		return nil, err
	}
	root, namespace := "Invoice", namespaceInvoice
	if o.credit {
		root, namespace = "CreditNote", namespaceCreditNote
	}
	err := o.x.root(root, namespace, func() {
		o.head()
		o.references()
		o.parties()
		o.delivery()
		o.payment()
		for i := range o.invoice.AllowanceCharges {
			o.allowance(&o.invoice.AllowanceCharges[i], -1)
		}
		o.taxes()
		o.totals()
		o.lines()
		o.leftOutOfDocument()
	})
	if err != nil {
		return nil, fmt.Errorf("write invoice %s as UBL: %w", d.Number, err)
	}
	return o.list, nil
}

// out is one document being written.
type out struct {
	remarks
	x       *writer
	d       *documents.Document
	invoice *documents.Invoice
	credit  bool               // a CreditNote, not an Invoice
	guide   guide              // how the sender uses what guides leave open
	sums    sums               // what was derived
	nets    []documents.Number // of each line, where one had to be derived; else nil
	tree    *tree              // of lines and those that detail them; nil where none does
	ordered string             // BT-13: the order of the document, or that of all lines
}

// guide is how a sender uses what message guides understand in different ways.
type guide int

const (
	guideOther   guide = iota
	guideEN16931       // CEN/TS 16931-3-4: the binding of EN 16931 to INVOIC
)

// guideOf tells the guide by BT-24, which the binding puts into FTX+DOC.
func guideOf(d *documents.Document) guide {
	for i := range d.Detail.Texts {
		if isEN16931(&d.Detail.Texts[i]) {
			return guideEN16931
		}
	}
	return guideOther
}

// tell remarks something of the document as a whole.
func (o *out) tell(kind, term, format string, args ...any) {
	if len(args) > 0 {
		format = fmt.Sprintf(format, args...)
	}
	o.add(kind, term, -1, format)
}

// fit finds what the UBL schema demands and d does not say, and derives what can be.
func (o *out) fit() error {
	d := o.d
	switch {
	case d.Class != documents.ClassInvoice:
		return &Unfit{"it is no invoice and no credit note, and this writes no others"}
	case d.Revision() == documents.RevisionCancel:
		return &Unfit{"it cancels an invoice, and UBL has no cancellation: as an invoice it would ask for the money again"}
	case !known(d.TypeCode):
		return &Unfit{fmt.Sprintf("its type %q does not say whether it is an invoice or a credit note", d.TypeCode)}
	case d.Number == "":
		return &Unfit{"it has no number"}
	case d.IssueDate == "":
		return &Unfit{"it says no document date"}
	case d.Currency == "":
		return &Unfit{"it says no currency; X12 leaves out CUR where one is agreed"}
	case len(d.Lines) == 0:
		return &Unfit{"it has no lines"}
	}
	if err := o.derive(); err != nil {
		return err
	}
	if d.Test {
		o.tell(LeftOut, "", "it is a test; UBL cannot say so")
	}
	switch d.Revision() {
	case documents.RevisionReplace:
		o.tell(LeftOut, "", "it replaces one sent before (function %s); UBL cannot say so", d.Function)
	case documents.RevisionCopy:
		o.tell(LeftOut, "", "it is a copy (function %s); UBL under EN 16931 cannot say so", d.Function)
	case documents.RevisionPartial:
		o.tell(LeftOut, "", "it is a part of a document (function %s); UBL cannot say so", d.Function)
	}
	return nil
}

// known reports whether a type is a code of UNTDID 1001 at all.
func known(typeCode string) bool {
	for i := 0; i < len(typeCode); i++ {
		if c := typeCode[i]; c < '0' || c > '9' {
			return false
		}
	}
	return typeCode != ""
}
