package ubl

import (
	"slices"
	"strings"

	"github.com/edigw/edigw/documents"
)

// The roles whose party is the one that EN 16931 means, the first going before the
// others.
var (
	sellerRoles   = []string{"supplier", "issuer"}
	buyerRoles    = []string{"buyer", "invoicee"}
	deliveryRoles = []string{"delivery", "ship_to", "ultimate_consignee", "consignee"}
)

// party gives the document's first party of one of the roles, nil if there is none.
func (o *out) party(roles ...string) *documents.Party {
	for _, role := range roles {
		for i := range o.d.Detail.Parties {
			if p := &o.d.Detail.Parties[i]; p.Role == role {
				return p
			}
		}
	}
	return nil
}

// seller gives BG-4, buyer BG-7; where no party has the role, what the columns say.
func (o *out) seller() *documents.Party { return orShort(o.party(sellerRoles...), o.d.Supplier) }
func (o *out) buyer() *documents.Party  { return orShort(o.party(buyerRoles...), o.d.Buyer) }

func orShort(p *documents.Party, short documents.Name) *documents.Party {
	if p == nil && short != (documents.Name{}) {
		return &documents.Party{ID: documents.Identifier{Value: short.ID}, Name: short.Name}
	}
	return p
}

// payee gives BG-10, nil where it is the seller (BR-17).
func (o *out) payee() *documents.Party {
	payee, seller := o.party("payee"), o.seller()
	if payee != nil && seller != nil && payee.Name == seller.Name && payee.ID == seller.ID {
		return nil
	}
	return payee
}

// parties writes BG-4, BG-7, BG-10 and BG-11.
func (o *out) parties() {
	x := o.x
	seller, buyer := o.seller(), o.buyer()
	x.must("AccountingSupplierParty", func() { o.trader(seller, "seller", "BT-27", "BT-40", true) })
	x.must("AccountingCustomerParty", func() { o.trader(buyer, "buyer", "BT-44", "BT-55", false) })
	if payee := o.payee(); payee != nil {
		if payee.Name == "" {
			o.tell(Missing, "BT-59", "the name of the payee")
		}
		x.group("PayeeParty", func() {
			o.identifier(payee.ID, "BT-60-1")
			x.group("PartyName", func() { x.leaf("Name", fullName(payee)) })
			x.group("PartyLegalEntity", func() { x.leaf("CompanyID", referenceOf(payee, "company_registration")) })
		})
	}
	if p := o.party("tax_representative"); p != nil {
		x.group("TaxRepresentativeParty", func() {
			x.group("PartyName", func() { x.leaf("Name", fullName(p)) })
			o.address("PostalAddress", p, "BT-69")
			o.taxScheme(p.TaxID)
		})
	}
	for i := range o.d.Detail.Parties {
		p := &o.d.Detail.Parties[i]
		if !o.hasPlace(p) {
			o.tell(LeftOut, "", "the party %s", named(p))
		}
	}
}

// hasPlace reports whether a party is one that is written.
func (o *out) hasPlace(p *documents.Party) bool {
	of := func(roles ...string) bool { return slices.Contains(roles, p.Role) && p == o.party(roles...) }
	return of(sellerRoles...) || of(buyerRoles...) || of(deliveryRoles...) || of("payee") || of("tax_representative")
}

// named tells a party by its role, else by the qualifier that was sent.
func named(p *documents.Party) string {
	switch {
	case p.Role != "" || p.Qualifier != "":
		return kind(p.Role, p.Qualifier)
	}
	return "without a role"
}

// trader writes the seller or the buyer.
func (o *out) trader(p *documents.Party, who, nameTerm, countryTerm string, seller bool) {
	x := o.x
	if p == nil {
		o.tell(Missing, nameTerm, "the %s", who)
		return
	}
	name, trading := o.names(p)
	if name == "" {
		o.tell(Missing, nameTerm, "the name of the %s", who)
	}
	contact, endpoint := o.contact(p, who)
	x.group("Party", func() {
		x.leaf("EndpointID", endpoint, "schemeID", "EM")
		o.identifier(p.ID, "")
		x.group("PartyName", func() { x.leaf("Name", trading) })
		if p.Country == "" {
			o.tell(Missing, countryTerm, "the country of the %s", who)
		}
		o.address("PostalAddress", p, "")
		o.taxScheme(p.TaxID)
		if seller {
			o.registration(p)
			if r := o.party("tax_representative"); p.TaxID == "" && referenceOf(p, "tax_registration") == "" && (r == nil || r.TaxID == "") { // BR-S-02 and its like
				o.tell(Missing, "BT-31", "the VAT identifier of the seller")
			}
		}
		x.group("PartyLegalEntity", func() {
			x.leaf("RegistrationName", name)
			x.leaf("CompanyID", referenceOf(p, "company_registration"))
			if seller {
				x.leaf("CompanyLegalForm", o.legalForm())
			}
		})
		if contact == nil {
			return
		}
		x.group("Contact", func() {
			x.leaf("Name", contact.Name)
			x.leaf("Telephone", contact.Phone)
			x.leaf("ElectronicMail", contact.Email)
		})
	})
}

// names gives the name, and the one that the party trades under (BT-28, BT-45): the
// second of C080 in the binding of EN 16931, while in other guides it goes on there.
func (o *out) names(p *documents.Party) (name, trading string) {
	if o.guide == guideEN16931 && len(p.MoreNames) > 0 {
		return p.Name, p.MoreNames[0]
	}
	return fullName(p), ""
}

func fullName(p *documents.Party) string {
	return strings.TrimSpace(strings.Join(append([]string{p.Name}, p.MoreNames...), " "))
}

// identifier writes an identifier with its scheme where that is one of ISO 6523
// (BR-CL-10); "91", assigned by the seller, is none.
func (o *out) identifier(id documents.Identifier, term string) {
	o.x.group("PartyIdentification", func() { o.x.leaf("ID", id.Value, "schemeID", o.scheme(id, term)) })
}

func (o *out) scheme(id documents.Identifier, term string) string {
	if iso6523(id.Scheme) {
		return id.Scheme
	}
	if id.Scheme != "" && id.Value != "" {
		o.tell(LeftOut, term, "the scheme %s of an identifier: it is no code of ISO 6523", id.Scheme)
	}
	return ""
}

func iso6523(scheme string) bool {
	return len(scheme) == 4 && scheme[0] == '0' && strings.Trim(scheme, "0123456789") == ""
}

// address writes BG-5, BG-8, BG-12 or BG-15: three lines of street, of C059, else of
// C058.
func (o *out) address(name string, p *documents.Party, countryTerm string) {
	x := o.x
	street := p.Street
	if len(street) == 0 {
		street = p.Address
	}
	x.group(name, func() {
		for i, line := range street[:min(len(street), 2)] {
			x.leaf([...]string{"StreetName", "AdditionalStreetName"}[i], line)
		}
		x.leaf("CityName", p.City)
		x.leaf("PostalZone", p.Postcode)
		x.leaf("CountrySubentity", p.Region)
		if len(street) > 2 {
			x.group("AddressLine", func() { x.leaf("Line", strings.Join(street[2:], ", ")) })
		}
		x.group("Country", func() { x.leaf("IdentificationCode", p.Country) })
		if written := len(x.waiting) == 0; written && p.Country == "" && countryTerm != "" {
			o.tell(Missing, countryTerm, "the country of an address")
		}
	})
}

// taxScheme writes the VAT identifier. X12 sends tax numbers of any kind in its place:
// one that does not begin with a country is not of VAT (BR-CO-09).
func (o *out) taxScheme(id string) {
	scheme := "VAT"
	if strings.HasPrefix(o.d.MessageType, "810") && !startsWithLetters(id) {
		scheme = otherTax
	}
	o.x.group("PartyTaxScheme", func() {
		o.x.leaf("CompanyID", id)
		if len(o.x.waiting) == 0 {
			o.x.group("TaxScheme", func() { o.x.leaf("ID", scheme) })
		}
	})
}

// otherTax names a scheme that is not VAT (BT-32): UBL asks for any other name.
const otherTax = "TAX"

func startsWithLetters(s string) bool {
	return len(s) > 2 && s[0] >= 'A' && s[0] <= 'Z' && s[1] >= 'A' && s[1] <= 'Z'
}

// registration writes BT-32, the seller's number with its tax office.
func (o *out) registration(p *documents.Party) {
	id := referenceOf(p, "tax_registration")
	if id == "" {
		return
	}
	o.x.group("PartyTaxScheme", func() {
		o.x.leaf("CompanyID", id)
		o.x.group("TaxScheme", func() { o.x.leaf("ID", otherTax) })
	})
}

// legalForm gives BT-33, which the binding of EN 16931 puts into FTX+REG.
func (o *out) legalForm() string {
	if o.guide != guideEN16931 {
		return ""
	}
	for _, t := range o.texts(legalText) {
		return t.Text
	}
	return ""
}

// contact gives BG-6 or BG-9, and the electronic address (BT-34, BT-49): the mail
// address of a contact IC in the binding of EN 16931.
func (o *out) contact(p *documents.Party, who string) (contact *documents.Contact, endpoint string) {
	for i := range p.Contacts {
		switch c := &p.Contacts[i]; {
		case o.guide == guideEN16931 && c.Function == "IC" && c.Name == "" && c.Email != "":
			endpoint = c.Email
		case contact == nil:
			contact = c
		default:
			o.tell(LeftOut, "", "further contacts of the %s: EN 16931 has one", who)
		}
	}
	return contact, endpoint
}

// delivery writes BG-13.
func (o *out) delivery() {
	x := o.x
	p := o.party(deliveryRoles...)
	day := o.day("BT-72", "delivery")
	x.group("Delivery", func() {
		x.leaf("ActualDeliveryDate", day)
		if p == nil {
			return
		}
		x.group("DeliveryLocation", func() {
			x.leaf("ID", p.ID.Value, "schemeID", o.scheme(p.ID, "BT-71-1"))
			o.address("Address", p, "BT-80")
		})
		x.group("DeliveryParty", func() {
			x.group("PartyName", func() { x.leaf("Name", fullName(p)) })
		})
	})
}
