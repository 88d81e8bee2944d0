package documents

import (
	"slices"
	"strings"
)

// facts are what an invoice says: a term of EN 16931 and its value in each.
type facts struct {
	list []string
	line string // of the line being told: stands before its terms
}

// add tells a fact, unless it says nothing.
func (f *facts) add(term string, values ...string) {
	for i, v := range values {
		values[i] = strings.Join(strings.Fields(v), " ") // blanks and line breaks within are layout
	}
	if text := strings.Join(values, "; "); strings.Trim(text, "; ") != "" {
		f.list = append(f.list, f.line+term+" = "+text)
	}
}

// number tells a number by its value: that no digit is lost on the way is the subject
// of other tests.
func (f *facts) number(term, value string) { f.add(term, digits(value)) }

// digits writes a number of either side without trailing zeros, so that 4000.00
// is 4000.
func digits(s string) string {
	n, fault := parseNumber(s)
	if fault != nil {
		return "broken " + s
	}
	if !n.Valid() {
		return ""
	}
	return n.Decimal().String()
}

// modelFacts tells an invoice of ours.
func modelFacts(d *Document) facts {
	var f facts
	invoice := d.Detail.Invoice
	f.add("BT-1 number", d.Number)
	f.add("BT-2 issued", d.IssueDate)
	f.add("BT-3 type", d.TypeCode)
	f.add("BT-5 currency", d.Currency)
	f.add("BT-6 tax currency", invoice.TaxCurrency)
	f.add("BT-7 tax point", dayOf(d.Detail.Dates, "tax_point"))
	f.add("BT-9 due", d.DueDate)
	f.add("BT-13 order", d.OrderReference)
	for _, r := range [][2]string{
		{"BT-11 project", "project"}, {"BT-12 contract", "contract"}, {"BT-14 supplier's order", "supplier_order"}, {"BT-15 receiving advice", "receiving_advice"},
		{"BT-16 despatch advice", "despatch_advice"}, {"BT-17 tender", "tender"}, {"BT-83 payment reference", "payment"},
	} {
		f.add(r[0], numberOfRole(d.Detail.References, r[1]))
	}
	f.add("BT-72 delivered", dayOf(d.Detail.Dates, "delivery"))
	f.add("BT-73 period from", dayOf(d.Detail.Dates, "period_start"))
	f.add("BT-74 period to", dayOf(d.Detail.Dates, "period_end"))
	for _, text := range d.Detail.Texts {
		switch text.Subject {
		case "AAB":
			f.add("BT-20 terms", text.Text)
		case "DOC":
			f.add("BT-23 process", text.Code)
			f.add("BT-24 specification", text.Text)
		case "REG":
			f.add("BT-33 legal information", text.Text)
		case "AGM": // stands with the taxes
		default:
			f.add("BT-22 note", text.Text)
		}
	}
	for _, r := range d.Detail.References {
		switch r.Role {
		case "invoice":
			f.add("BG-3 preceding invoice", r.Number, dayOf(r.Dates, ""))
		case "invoiced_object":
			f.add("BG-24 supporting document", r.Number, r.Qualifier, "")
		}
	}
	for _, s := range invoice.Supporting {
		f.add("BG-24 supporting document", s.ID, s.Description, s.Location)
	}
	modelParties(&f, d)
	if len(invoice.PaymentMeans) > 0 {
		f.add("BT-81 means", invoice.PaymentMeans[0])
	}
	modelAllowances(&f, invoice.AllowanceCharges, "BG-20 allowance", "BG-21 charge")
	t := d.Totals
	for _, n := range []struct {
		term   string
		amount Number
	}{
		{"BT-110 tax", t.Tax}, {"BT-106 lines", t.Lines}, {"BT-109 without tax", t.TaxExclusive}, {"BT-112 with tax", t.TaxInclusive}, {"BT-107 allowances", t.Allowances},
		{"BT-108 charges", t.Charges}, {"BT-113 prepaid", t.Prepaid}, {"BT-114 rounding", t.Rounding}, {"BT-115 payable", t.Payable},
	} {
		f.number(n.term, n.amount.String())
	}
	for _, a := range d.Detail.Amounts {
		if a.Role == "tax_in_tax_currency" {
			f.number("BT-111 tax in its own currency", a.Amount.String())
		}
	}
	for _, x := range invoice.Taxes {
		f.add("BG-23 tax", x.Category, digits(x.Rate.String()), digits(x.Basis.String()), digits(x.Amount.String()), x.Exemption)
	}
	for i := range d.Lines {
		modelLine(&f, &d.Lines[i])
	}
	return f
}

func modelParties(f *facts, d *Document) {
	var accounts []Account
	for i := range d.Detail.Parties {
		p := &d.Detail.Parties[i]
		who := map[string]string{"supplier": "BG-4 seller", "buyer": "BG-7 buyer", "payee": "BG-10 payee", "tax_representative": "BG-11 tax representative", "delivery": "BG-13 delivery"}[p.Role]
		f.add(who+" name", p.Name)
		if len(p.MoreNames) > 0 {
			f.add(who+" trading name", p.MoreNames[0])
		}
		f.add(who+" id", p.ID.Value)
		f.add(who+" id scheme", p.ID.Scheme)
		f.add(who+" VAT id", p.TaxID)
		f.add(who+" legal id", numberOfRole(p.References, "company_registration"))
		f.add(who+" tax id", numberOfRole(p.References, "tax_registration"))
		for j, street := range p.Street {
			f.add(who+" street"+[]string{"", " 2", " 3", " 4"}[j], street)
		}
		f.add(who+" city", p.City)
		f.add(who+" post code", p.Postcode)
		f.add(who+" region", p.Region)
		f.add(who+" country", p.Country)
		for _, c := range p.Contacts {
			if c.Function == "IC" {
				f.add(who+" electronic address", c.Email)
				continue
			}
			f.add(who+" contact", c.Name)
			f.add(who+" phone", c.Phone)
			f.add(who+" mail", c.Email)
		}
		switch p.Role {
		case "buyer":
			f.add("BT-10 buyer reference", numberOfRole(p.References, "customer_reference"))
			f.add("BT-19 buyer accounting", numberOfRole(p.References, "buyer_accounting"))
			f.add("BT-89 mandate", numberOfRole(p.References, "mandate"))
			for _, a := range p.Accounts {
				f.add("BT-91 debited account", a.Account)
			}
		case "supplier", "payee":
			for _, a := range p.Accounts {
				if !slices.ContainsFunc(accounts, func(had Account) bool { return had.Account == a.Account }) { // once with its bank, once without
					f.add("BG-17 account", a.Account, a.Institution.Value)
				}
				accounts = append(accounts, a)
			}
		}
	}
}

func modelAllowances(f *facts, list []AllowanceCharge, allowance, charge string) {
	for _, a := range list {
		term := allowance
		if a.Charge {
			term = charge
		}
		if !a.Amount.Valid() {
			for _, other := range a.Amounts {
				if other.Role == "price_discount" {
					f.number("BT-147 discount of the price", other.Amount.String())
				}
			}
			continue
		}
		f.add(term, digits(a.Amount.String()), digits(a.Basis.String()), digits(a.Percent.String()), a.Reason, a.Code, a.TaxCategory, digits(a.TaxRate.String()))
	}
}

func modelLine(f *facts, l *Line) {
	f.line = "line " + l.No + " "
	defer func() { f.line = "" }()
	f.add("BT-126 number", l.No)
	f.number("BT-129 quantity", l.Quantity.String())
	f.add("BT-130 unit", l.Unit)
	f.number("BT-131 amount", l.NetAmount.String())
	f.add("BT-132 order line", l.OrderLine)
	f.add("BT-153 name", l.Description)
	f.add("BT-155 seller's item", l.SupplierItem)
	f.add("BT-156 buyer's item", l.BuyerItem)
	f.add("BT-157 standard item", l.GTIN)
	f.add("BT-151 tax category", l.TaxCategory)
	f.number("BT-152 tax rate", l.TaxRate.String())
	f.number("BT-146 price", l.Price.String())
	f.number("BT-149 price basis", l.PriceBasis.String())
	f.add("BT-150 unit of the basis", l.PriceUnit)
	rest := l.Detail
	if rest == nil {
		return
	}
	for _, text := range rest.Texts {
		f.add("BT-127 note", text.Text)
	}
	f.add("BT-133 buyer accounting", numberOfRole(rest.References, "buyer_accounting"))
	f.add("BT-128 object", numberOfRole(rest.References, "invoiced_object"))
	f.add("BT-134 period from", dayOf(rest.Dates, "period_start"))
	f.add("BT-135 period to", dayOf(rest.Dates, "period_end"))
	for _, text := range rest.Descriptions {
		f.add("BT-154 description", text.Text)
	}
	f.add("BT-159 origin", rest.Origin)
	modelAllowances(f, rest.AllowanceCharges, "BG-27 allowance", "BG-28 charge")
	for _, p := range rest.Prices {
		if p.Qualifier == "AAB" {
			f.number("BT-148 gross price", p.Price.String())
		}
	}
	for _, id := range rest.Items {
		f.add("BT-158 class", id.Scheme, id.Value)
	}
	for _, a := range rest.Attributes {
		f.add("BG-32 attribute", a.Name, a.Value)
	}
}

// numberOfRole gives the number of the first reference of a role.
func numberOfRole(list []Reference, role string) string {
	for _, r := range list {
		if r.Role == role {
			return r.Number
		}
	}
	return ""
}

// dayOf gives the first day of a role; any day if role is "".
func dayOf(list []Date, role string) string {
	for _, d := range list {
		if role == "" || d.Role == role {
			return d.Day()
		}
	}
	return ""
}
