package documents

import (
	"encoding/xml"
	"strings"
	"testing"
)

// node is an element of XML: enough to read a UBL file by paths.
type node struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []node     `xml:",any"`
}

// all gives the elements at a path below n, names without prefixes.
func (n *node) all(path string) []*node {
	found := []*node{n}
	for step := range strings.SplitSeq(path, "/") {
		var next []*node
		for _, at := range found {
			for i := range at.Children {
				if at.Children[i].XMLName.Local == step {
					next = append(next, &at.Children[i])
				}
			}
		}
		found = next
	}
	return found
}

// get gives the text of the first element at a path, "" if there is none.
func (n *node) get(path string) string {
	if found := n.all(path); len(found) > 0 {
		return strings.TrimSpace(found[0].Text)
	}
	return ""
}

// attr gives an attribute of the first element at a path.
func (n *node) attr(path, name string) string {
	found := n.all(path)
	if len(found) == 0 {
		return ""
	}
	for _, a := range found[0].Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// twin reads a UBL invoice.
func twin(t testing.TB, text []byte) *node {
	t.Helper()
	n := &node{}
	if err := xml.Unmarshal(text, n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Where UBL has what of a party is told (CEN/TS 16931-3-2).
type partyPaths struct{ name, id, legal, address string }

var (
	traderPaths         = partyPaths{"PartyLegalEntity/RegistrationName", "PartyIdentification/ID", "PartyLegalEntity/CompanyID", "PostalAddress"}
	payeePaths          = partyPaths{"PartyName/Name", "PartyIdentification/ID", "PartyLegalEntity/CompanyID", ""}
	representativePaths = partyPaths{"PartyName/Name", "", "", "PostalAddress"}
	deliveryPaths       = partyPaths{"DeliveryParty/PartyName/Name", "DeliveryLocation/ID", "", "DeliveryLocation/Address"}
)

// partyFacts tells a party of a UBL file.
func partyFacts(f *facts, who string, n *node, paths partyPaths) {
	f.add(who+" name", n.get(paths.name))
	if paths == traderPaths {
		f.add(who+" trading name", n.get("PartyName/Name"))
		f.add(who+" electronic address", n.get("EndpointID"))
		f.add(who+" contact", n.get("Contact/Name"))
		f.add(who+" phone", n.get("Contact/Telephone"))
		f.add(who+" mail", n.get("Contact/ElectronicMail"))
	}
	if paths.id != "" {
		f.add(who+" id", n.get(paths.id))
		f.add(who+" id scheme", n.attr(paths.id, "schemeID"))
	}
	if paths.legal != "" {
		f.add(who+" legal id", n.get(paths.legal))
	}
	for _, scheme := range n.all("PartyTaxScheme") {
		if scheme.get("TaxScheme/ID") == "VAT" {
			f.add(who+" VAT id", scheme.get("CompanyID"))
		} else {
			f.add(who+" tax id", scheme.get("CompanyID"))
		}
	}
	if paths.address != "" {
		a := paths.address + "/"
		f.add(who+" street", n.get(a+"StreetName"))
		f.add(who+" street 2", n.get(a+"AdditionalStreetName"))
		f.add(who+" city", n.get(a+"CityName"))
		f.add(who+" post code", n.get(a+"PostalZone"))
		f.add(who+" region", n.get(a+"CountrySubentity"))
		f.add(who+" country", n.get(a+"Country/IdentificationCode"))
	}
}

// ublFacts tells an invoice in UBL by the official meaning of its elements.
func ublFacts(n *node) facts {
	var f facts
	for _, leaf := range [][2]string{
		{"BT-1 number", "ID"}, {"BT-2 issued", "IssueDate"}, {"BT-3 type", "InvoiceTypeCode"}, {"BT-5 currency", "DocumentCurrencyCode"},
		{"BT-6 tax currency", "TaxCurrencyCode"}, {"BT-7 tax point", "TaxPointDate"}, {"BT-9 due", "DueDate"}, {"BT-10 buyer reference", "BuyerReference"},
		{"BT-11 project", "ProjectReference/ID"}, {"BT-12 contract", "ContractDocumentReference/ID"}, {"BT-13 order", "OrderReference/ID"},
		{"BT-14 supplier's order", "OrderReference/SalesOrderID"}, {"BT-15 receiving advice", "ReceiptDocumentReference/ID"},
		{"BT-16 despatch advice", "DespatchDocumentReference/ID"}, {"BT-17 tender", "OriginatorDocumentReference/ID"},
		{"BT-19 buyer accounting", "AccountingCost"}, {"BT-20 terms", "PaymentTerms/Note"}, {"BT-72 delivered", "Delivery/ActualDeliveryDate"},
		{"BT-73 period from", "InvoicePeriod/StartDate"}, {"BT-74 period to", "InvoicePeriod/EndDate"}, {"BT-24 specification", "CustomizationID"},
		{"BT-23 process", "ProfileID"}, {"BT-33 legal information", "AccountingSupplierParty/Party/PartyLegalEntity/CompanyLegalForm"},
	} {
		f.add(leaf[0], n.get(leaf[1]))
	}
	for _, note := range n.all("Note") {
		f.add("BT-22 note", note.Text)
	}
	for _, r := range n.all("BillingReference/InvoiceDocumentReference") {
		f.add("BG-3 preceding invoice", r.get("ID"), r.get("IssueDate"))
	}
	for _, r := range n.all("AdditionalDocumentReference") {
		f.add("BG-24 supporting document", r.get("ID"), r.get("DocumentDescription"), r.get("Attachment/ExternalReference/URI"))
	}
	for _, p := range []struct {
		who, path string
		paths     partyPaths
	}{
		{"BG-4 seller", "AccountingSupplierParty/Party", traderPaths}, {"BG-7 buyer", "AccountingCustomerParty/Party", traderPaths},
		{"BG-10 payee", "PayeeParty", payeePaths}, {"BG-11 tax representative", "TaxRepresentativeParty", representativePaths},
		{"BG-13 delivery", "Delivery", deliveryPaths},
	} {
		for _, at := range n.all(p.path) {
			partyFacts(&f, p.who, at, p.paths)
		}
	}
	for i, means := range n.all("PaymentMeans") {
		if i == 0 {
			f.add("BT-81 means", means.get("PaymentMeansCode"))
			f.add("BT-83 payment reference", means.get("PaymentID"))
			f.add("BT-89 mandate", means.get("PaymentMandate/ID"))
			f.add("BT-91 debited account", means.get("PaymentMandate/PayerFinancialAccount/ID"))
		}
		f.add("BG-17 account", means.get("PayeeFinancialAccount/ID"), means.get("PayeeFinancialAccount/FinancialInstitutionBranch/ID"))
	}
	ublAllowances(&f, n, "BG-20 allowance", "BG-21 charge")
	for i, total := range n.all("TaxTotal") {
		term := "BT-110 tax"
		if i > 0 {
			term = "BT-111 tax in its own currency"
		}
		f.number(term, total.get("TaxAmount"))
		for _, sub := range total.all("TaxSubtotal") {
			f.add("BG-23 tax", sub.get("TaxCategory/ID"), digits(sub.get("TaxCategory/Percent")), digits(sub.get("TaxableAmount")), digits(sub.get("TaxAmount")),
				sub.get("TaxCategory/TaxExemptionReason"))
		}
	}
	for _, leaf := range [][2]string{
		{"BT-106 lines", "LineExtensionAmount"}, {"BT-109 without tax", "TaxExclusiveAmount"}, {"BT-112 with tax", "TaxInclusiveAmount"},
		{"BT-107 allowances", "AllowanceTotalAmount"}, {"BT-108 charges", "ChargeTotalAmount"}, {"BT-113 prepaid", "PrepaidAmount"},
		{"BT-114 rounding", "PayableRoundingAmount"}, {"BT-115 payable", "PayableAmount"},
	} {
		f.number(leaf[0], n.get("LegalMonetaryTotal/"+leaf[1]))
	}
	for _, line := range n.all("InvoiceLine") {
		ublLine(&f, line)
	}
	return f
}

func ublAllowances(f *facts, n *node, allowance, charge string) {
	for _, a := range n.all("AllowanceCharge") {
		term := allowance
		if indicator := a.get("ChargeIndicator"); indicator == "true" || indicator == "1" {
			term = charge
		}
		f.add(term, digits(a.get("Amount")), digits(a.get("BaseAmount")), digits(a.get("MultiplierFactorNumeric")), a.get("AllowanceChargeReason"),
			a.get("AllowanceChargeReasonCode"), a.get("TaxCategory/ID"), digits(a.get("TaxCategory/Percent")))
	}
}

// ublLine tells BG-25.
func ublLine(f *facts, n *node) {
	f.line = "line " + n.get("ID") + " "
	defer func() { f.line = "" }()
	f.add("BT-126 number", n.get("ID"))
	for _, leaf := range [][2]string{
		{"BT-127 note", "Note"}, {"BT-133 buyer accounting", "AccountingCost"}, {"BT-134 period from", "InvoicePeriod/StartDate"},
		{"BT-135 period to", "InvoicePeriod/EndDate"}, {"BT-132 order line", "OrderLineReference/LineID"}, {"BT-128 object", "DocumentReference/ID"},
		{"BT-153 name", "Item/Name"}, {"BT-154 description", "Item/Description"}, {"BT-155 seller's item", "Item/SellersItemIdentification/ID"},
		{"BT-156 buyer's item", "Item/BuyersItemIdentification/ID"}, {"BT-157 standard item", "Item/StandardItemIdentification/ID"},
		{"BT-159 origin", "Item/OriginCountry/IdentificationCode"}, {"BT-151 tax category", "Item/ClassifiedTaxCategory/ID"},
	} {
		f.add(leaf[0], n.get(leaf[1]))
	}
	f.number("BT-129 quantity", n.get("InvoicedQuantity"))
	f.add("BT-130 unit", n.attr("InvoicedQuantity", "unitCode"))
	f.number("BT-131 amount", n.get("LineExtensionAmount"))
	f.number("BT-152 tax rate", n.get("Item/ClassifiedTaxCategory/Percent"))
	f.number("BT-146 price", n.get("Price/PriceAmount"))
	f.number("BT-149 price basis", n.get("Price/BaseQuantity"))
	f.add("BT-150 unit of the basis", n.attr("Price/BaseQuantity", "unitCode"))
	f.number("BT-147 discount of the price", n.get("Price/AllowanceCharge/Amount"))
	f.number("BT-148 gross price", n.get("Price/AllowanceCharge/BaseAmount"))
	ublAllowances(f, n, "BG-27 allowance", "BG-28 charge")
	for _, c := range n.all("Item/CommodityClassification") {
		f.add("BT-158 class", c.attr("ItemClassificationCode", "listID"), c.get("ItemClassificationCode"))
	}
	for _, p := range n.all("Item/AdditionalItemProperty") {
		f.add("BG-32 attribute", p.get("Name"), p.get("Value"))
	}
}
