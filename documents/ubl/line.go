package ubl

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/edigw/edigw/documents"
)

// lines writes BG-25.
func (o *out) lines() {
	name := "InvoiceLine"
	if o.credit {
		name = "CreditNoteLine"
	}
	for i := range o.d.Lines {
		if !o.tree.detail(i) {
			o.line(name, i)
		}
	}
}

// line writes line i, with the lines that detail it: UBL has a place for those, and
// EN 16931 a warning (UBL-CR-646), since it has none.
func (o *out) line(name string, i int) {
	x, l := o.x, &o.d.Lines[i]
	rest := l.Detail
	if rest == nil {
		rest = &documents.LineDetail{}
	}
	quantity, sub := "InvoicedQuantity", "SubInvoiceLine"
	if o.credit {
		quantity, sub = "CreditedQuantity", "SubCreditNoteLine"
	}
	x.group(name, func() {
		x.leaf("ID", o.lineNo(i))
		x.leaf("Note", note(rest))
		o.demand(l.Quantity.Valid(), "BT-129", i, "the quantity")
		o.demand(l.Unit != "", "BT-130", i, "the unit of the quantity")
		x.number(quantity, l.Quantity, "unitCode", unit(l.Unit))
		o.amount("LineExtensionAmount", o.net(i))
		x.leaf("AccountingCost", lineReference(rest, "buyer_accounting"))
		o.period(rest.Dates, "")
		o.orderLine(l, i)
		x.group("DocumentReference", func() {
			if id := lineReference(rest, "invoiced_object"); id != "" {
				x.leaf("ID", id)
				x.leaf("DocumentTypeCode", "130")
			}
		})
		for j := range rest.AllowanceCharges {
			if a := &rest.AllowanceCharges[j]; !discount(a).Valid() {
				o.allowance(a, i)
			}
		}
		o.item(l, rest, i)
		o.price(l, rest, i)
		for _, j := range o.tree.of(i) {
			o.line(sub, j)
		}
	})
	o.leftOut(l, rest, i)
}

// demand remarks what EN 16931 asks for and a line does not say. It asks nothing of
// what details another.
func (o *out) demand(said bool, term string, line int, what string) {
	if !said && !o.tree.detail(line) {
		o.add(Missing, term, line, what)
	}
}

// lineNo gives BT-126.
func (o *out) lineNo(i int) string {
	if no := o.d.Lines[i].No; strings.TrimSpace(no) != "" {
		return no
	}
	o.add(Derived, "BT-126", i, "the number of the line, from its place")
	return strconv.Itoa(i + 1)
}

// note gives BT-127: UBL under EN 16931 has one note for each line (UBL-SR-34).
func note(rest *documents.LineDetail) string {
	var texts []string
	for i := range rest.Texts {
		if t := rest.Texts[i].Text; t != "" {
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, "\n")
}

// lineReference gives the number of a line's first reference of a role.
func lineReference(rest *documents.LineDetail, role string) string {
	for i := range rest.References {
		if r := &rest.References[i]; r.Role == role && r.Number != "" {
			return r.Number
		}
	}
	return ""
}

// orderLine writes BT-132, and the order itself where it is another than the
// document's: EN 16931 warns of that (UBL-CR-528), and without it what was ordered
// where is lost.
func (o *out) orderLine(l *documents.Line, i int) {
	order := l.OrderReference
	if order == o.ordered {
		order = ""
	}
	line := l.OrderLine
	if line == "" && order != "" {
		line = notAvailable
		o.add(Derived, "BT-132", i, "NA as the line of the order, which the schema demands beside the order")
	}
	o.x.group("OrderLineReference", func() {
		o.x.leaf("LineID", line)
		o.x.group("OrderReference", func() { o.x.leaf("ID", order) })
	})
}

// item writes BG-31 and BG-32.
func (o *out) item(l *documents.Line, rest *documents.LineDetail, i int) {
	x := o.x
	name, description := itemName(l, rest)
	if name == "" {
		for _, id := range []string{l.GTIN, l.SupplierItem, l.BuyerItem} {
			if name == "" && id != "" {
				name = id
				o.add(Derived, "BT-153", i, "the name of the item, from its number")
			}
		}
	}
	o.demand(name != "", "BT-153", i, "the name of the item")
	x.must("Item", func() {
		x.leaf("Description", description)
		x.leaf("Name", name)
		x.group("BuyersItemIdentification", func() { x.leaf("ID", l.BuyerItem) })
		x.group("SellersItemIdentification", func() { x.leaf("ID", l.SupplierItem) })
		x.group("StandardItemIdentification", func() { x.leaf("ID", l.GTIN, "schemeID", gtinScheme) })
		x.group("OriginCountry", func() { x.leaf("IdentificationCode", rest.Origin) })
		for j := range rest.Items {
			if id := &rest.Items[j]; classification(id.Scheme) {
				x.group("CommodityClassification", func() { x.leaf("ItemClassificationCode", id.Value, "listID", id.Scheme) })
			}
		}
		o.lineTax(l, i)
		for j := range rest.Attributes {
			if a := &rest.Attributes[j]; a.Name != "" && a.Value != "" { // BR-54
				x.group("AdditionalItemProperty", func() {
					x.leaf("Name", a.Name)
					x.leaf("Value", a.Value)
				})
			}
		}
	})
}

// itemName gives BT-153 and BT-154: the line's description and what further ones say.
func itemName(l *documents.Line, rest *documents.LineDetail) (name, description string) {
	var more []string
	for i := range rest.Descriptions {
		if t := rest.Descriptions[i].Text; t != "" && !slices.Contains(more, t) {
			more = append(more, t)
		}
	}
	name = l.Description
	if strings.TrimSpace(name) == "" && len(more) > 0 {
		name, more = more[0], more[1:]
	}
	return name, strings.Join(more, "\n")
}

// gtinScheme is GTIN in ISO 6523, which BR-64 asks for. The examples of EN 16931 name
// 0088 there, which is GLN.
const gtinScheme = "0160"

// classification reports whether a code of UNTDID 7143 is of a list that sorts goods
// (BT-158), and not of one that numbers them.
func classification(scheme string) bool {
	switch scheme {
	case "CC", "CG", "CV", "GN", "HS", "STI", "STR", "STS", "TSN", "TSO", "TSP", "TSQ", "TSR", "TSS", "TST", "TSU", "ZZZ":
		return true
	}
	return len(scheme) == 3 && strings.HasPrefix(scheme, "SR") && scheme != "SRV"
}

// lineTax writes BG-30.
func (o *out) lineTax(l *documents.Line, i int) {
	o.category("ClassifiedTaxCategory", l.TaxCategory, l.TaxRate, "BT-151", i, nil)
}

// price writes BG-29. A gross price stands as the base of the discount that leads to
// the net price (BT-147, BT-148).
func (o *out) price(l *documents.Line, rest *documents.LineDetail, i int) {
	x := o.x
	o.demand(l.Price.Valid(), "BT-146", i, "the price")
	if !l.Price.Valid() {
		return
	}
	less, gross := o.grossPrice(l, rest, i)
	x.group("Price", func() {
		o.amount("PriceAmount", l.Price)
		if l.PriceBasis.Sign() > 0 {
			x.number("BaseQuantity", l.PriceBasis, "unitCode", unit(l.PriceUnit))
		}
		if less.Valid() {
			x.group("AllowanceCharge", func() {
				x.leaf("ChargeIndicator", "false")
				o.amount("Amount", less)
				o.amount("BaseAmount", gross)
			})
		}
	})
}

// grossPrice gives BT-147 and BT-148.
func (o *out) grossPrice(l *documents.Line, rest *documents.LineDetail, i int) (less, gross documents.Number) {
	for j := range rest.AllowanceCharges {
		if d := discount(&rest.AllowanceCharges[j]); d.Valid() {
			less = d
			break
		}
	}
	for j := range rest.Prices {
		p := &rest.Prices[j]
		if p.Role != "gross" || !p.Price.Valid() {
			continue
		}
		if !orOne(p.Basis).Equal(orOne(l.PriceBasis)) {
			o.add(LeftOut, "BT-148", i, "the gross price: it is for another quantity than the net price")
			continue
		}
		gross = p.Price
		break
	}
	if gross.Valid() && !less.Valid() {
		less = documents.NumberOf(gross.Decimal().Sub(l.Price.Decimal()))
		if less.Sign() < 0 {
			o.add(LeftOut, "BT-148", i, "the gross price: it is below the net price")
			return documents.Number{}, documents.Number{}
		}
		o.add(Derived, "BT-147", i, "the discount of the price, from gross and net price")
	}
	return less, gross
}

// orOne gives a price basis, which is 1 where none is said.
func orOne(basis documents.Number) decimal.Decimal {
	if basis.Sign() > 0 {
		return basis.Decimal()
	}
	return decimal.NewFromInt(1)
}

// discount gives what an allowance takes off the price for one, MOA+509, which is none
// of the line's.
func discount(a *documents.AllowanceCharge) documents.Number {
	if a.Amount.Valid() || a.Charge {
		return documents.Number{}
	}
	for i := range a.Amounts {
		if a.Amounts[i].Role == "price_discount" {
			return a.Amounts[i].Amount
		}
	}
	return documents.Number{}
}
