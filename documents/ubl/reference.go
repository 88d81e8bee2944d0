package ubl

import "github.com/edigw/edigw/documents"

// references writes what the document refers to (BT-11 to BT-18, BG-3, BG-24).
func (o *out) references() {
	x := o.x
	o.order()
	o.preceding()
	despatch := o.reference("BT-16", "despatch_advice", "delivery_note")
	x.group("DespatchDocumentReference", func() { x.leaf("ID", despatch) })
	receipt := o.reference("BT-15", "receiving_advice")
	x.group("ReceiptDocumentReference", func() { x.leaf("ID", receipt) })
	tender := o.reference("BT-17", "tender")
	originator := func() { x.group("OriginatorDocumentReference", func() { x.leaf("ID", tender) }) }
	contract := o.reference("BT-12", "contract")
	project := o.reference("BT-11", "project")
	if !o.credit {
		originator()
	}
	x.group("ContractDocumentReference", func() { x.leaf("ID", contract) })
	o.object()
	o.supporting()
	if o.credit { // UBL 2.1 has no ProjectReference here; UNTDID 1001: 50 is a project
		if project != "" {
			x.group("AdditionalDocumentReference", func() {
				x.leaf("ID", project)
				x.leaf("DocumentTypeCode", "50")
			})
		}
		originator()
	} else {
		x.group("ProjectReference", func() { x.leaf("ID", project) })
	}
}

// reference gives the number of the document's first reference that has one of the
// roles, the first role going before the second.
func (o *out) reference(term string, roles ...string) string {
	for _, role := range roles {
		number := ""
		for i := range o.d.Detail.References {
			r := &o.d.Detail.References[i]
			switch {
			case r.Role != role || r.Number == "":
			case number == "":
				number = r.Number
			case r.Number != number:
				o.tell(LeftOut, term, "further references of the kind %s: EN 16931 has one", role)
			}
		}
		if number != "" {
			return number
		}
	}
	return ""
}

// order writes BT-13 and BT-14. Where the order stands with the lines alone, and is the
// same in all, it is the document's.
func (o *out) order() {
	order, sales := o.d.OrderReference, o.reference("BT-14", "supplier_order")
	if order == "" {
		if order = o.orderOfLines(); order != "" {
			o.tell(Derived, "BT-13", "the order, which all lines name")
		}
	}
	o.ordered = order
	for i := range o.d.Detail.References {
		if r := &o.d.Detail.References[i]; r.Role == "order" && r.Number != "" && r.Number != order {
			o.tell(LeftOut, "BT-13", "further orders of the document: EN 16931 has one; those of lines stand there")
		}
	}
	o.x.group("OrderReference", func() {
		if order == "" && sales != "" {
			order = notAvailable // the schema demands the buyer's number
			o.tell(Derived, "BT-13", "NA as the order, which the schema demands beside the seller's number of it")
		}
		o.x.leaf("ID", order)
		o.x.leaf("SalesOrderID", sales)
	})
}

// notAvailable stands where the schema demands what the document does not say, and
// EN 16931 has no rule: so do others (Peppol BIS Billing 3.0 of cac:OrderReference).
const notAvailable = "NA"

// orderOfLines gives the order that every line names, "" if they name several or none.
func (o *out) orderOfLines() string {
	order := o.d.Lines[0].OrderReference
	for i := range o.d.Lines {
		if o.d.Lines[i].OrderReference != order && !o.tree.detail(i) {
			return ""
		}
	}
	return order
}

// preceding writes BG-3, the invoices that this one corrects or credits.
func (o *out) preceding() {
	for i := range o.d.Detail.References {
		r := &o.d.Detail.References[i]
		if r.Role != "invoice" || r.Number == "" {
			continue
		}
		o.x.group("BillingReference", func() {
			o.x.group("InvoiceDocumentReference", func() {
				o.x.leaf("ID", r.Number)
				o.x.leaf("IssueDate", firstDay(r.Dates))
			})
		})
	}
}

// object writes BT-18, what is invoiced, such as a meter or a subscription: 130 of
// UNTDID 1001.
func (o *out) object() {
	id := o.reference("BT-18", "invoiced_object")
	if id == "" {
		return
	}
	o.x.group("AdditionalDocumentReference", func() {
		o.x.leaf("ID", id)
		o.x.leaf("DocumentTypeCode", "130")
	})
}

// supporting writes BG-24, documents that go with the invoice.
func (o *out) supporting() {
	for i := range o.invoice.Supporting {
		s := &o.invoice.Supporting[i]
		if s.ID == "" {
			o.tell(Missing, "BT-122", "the reference of a supporting document, which is left out")
			continue
		}
		o.x.group("AdditionalDocumentReference", func() {
			o.x.leaf("ID", s.ID)
			o.x.leaf("DocumentDescription", s.Description)
			o.x.group("Attachment", func() {
				o.x.group("ExternalReference", func() { o.x.leaf("URI", s.Location) })
			})
		})
	}
}

// referenceOf gives a party's reference of one of the roles.
func referenceOf(p *documents.Party, roles ...string) string {
	if p == nil {
		return ""
	}
	for _, role := range roles {
		for i := range p.References {
			if p.References[i].Role == role && p.References[i].Number != "" {
				return p.References[i].Number
			}
		}
	}
	return ""
}

// firstDay gives the first of dates that is a day.
func firstDay(dates []documents.Date) string {
	for i := range dates {
		if day := dates[i].Day(); day != "" {
			return day
		}
	}
	return ""
}
