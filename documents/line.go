package documents

import "encoding/json"

// Line is one item of an invoice or despatch advice (BG-25): what has a column,
// and Detail for the rest.
type Line struct {
	No             string      `json:"line_no,omitempty"` // 1082 as sent: may be missing or repeated
	SubOf          string      `json:"sub_of,omitempty"`  // the line number this one details
	Package        int         `json:"package,omitempty"` // position in Document.Packages, from 1
	GTIN           string      `json:"gtin,omitempty"`    // BT-157
	SupplierItem   string      `json:"supplier_item,omitempty"`
	BuyerItem      string      `json:"buyer_item,omitempty"`
	Description    string      `json:"description,omitempty"` // BT-153
	Quantity       Number      `json:"quantity,omitzero"`     // BT-129 invoiced; despatched
	Unit           string      `json:"unit,omitempty"`
	Ordered        Number      `json:"ordered_quantity,omitzero"`
	Price          Number      `json:"price,omitzero"`       // BT-146, net
	PriceBasis     Number      `json:"price_basis,omitzero"` // BT-149
	PriceUnit      string      `json:"price_unit,omitempty"`
	NetAmount      Number      `json:"net_amount,omitzero"` // BT-131
	TaxCategory    string      `json:"tax_category,omitempty"`
	TaxRate        Number      `json:"tax_rate,omitzero"` // per cent
	OrderReference string      `json:"order_reference,omitempty"`
	OrderLine      string      `json:"order_line,omitempty"` // BT-132
	Batch          string      `json:"batch,omitempty"`
	BestBefore     string      `json:"best_before,omitempty"` // CCYY-MM-DD
	Detail         *LineDetail `json:"detail,omitempty"`
}

// LineDetail is what of a line has no column; it is stored as jsonb, and is nil
// for most lines.
type LineDetail struct {
	Action           string            `json:"action,omitempty"`        // 1229
	Level            string            `json:"level,omitempty"`         // 1222, of the configuration
	Configuration    string            `json:"configuration,omitempty"` // 7083: A added, D deleted, I included
	Items            []Identifier      `json:"items,omitempty"`         // scheme: 7143
	Descriptions     []Text            `json:"descriptions,omitempty"`
	Attributes       []Attribute       `json:"attributes,omitempty"` // BG-32
	Quantities       []Quantity        `json:"quantities,omitempty"`
	Prices           []Price           `json:"prices,omitempty"`
	Amounts          []Amount          `json:"amounts,omitempty"`
	AllowanceCharges []AllowanceCharge `json:"allowance_charges,omitempty"`
	Taxes            []Tax             `json:"taxes,omitempty"` // beside that of the columns
	Dates            []Date            `json:"dates,omitempty"`
	References       []Reference       `json:"references,omitempty"`
	Texts            []Text            `json:"texts,omitempty"`
	Parties          []Party           `json:"parties,omitempty"`
	Terms            []PaymentTerm     `json:"terms,omitempty"`
	Measures         []Measure         `json:"measures,omitempty"`
	Locations        []NamedLocation   `json:"locations,omitempty"` // LOC: places the line is for
	Batches          []Batch           `json:"batches,omitempty"`   // where there are several
	Serials          []string          `json:"serials,omitempty"`
	Expiry           string            `json:"expiry,omitempty"`
	Identifiers      []Identifier      `json:"identifiers,omitempty"` // GIN; scheme: 7405
	Variances        []Variance        `json:"variances,omitempty"`
	Origin           string            `json:"origin,omitempty"`   // 3239
	RawUnit          string            `json:"raw_unit,omitempty"` // of the line's quantity as sent, where it differs
	Other            []json.RawMessage `json:"other,omitempty"`
}

// Price is PRI, beside the price of the columns.
type Price struct {
	Role          string `json:"role,omitempty"`      // net, gross, information
	Qualifier     string `json:"qualifier,omitempty"` // 5125: AAA net, AAB gross
	Price         Number `json:"price,omitzero"`
	Type          string `json:"type,omitempty"`
	Specification string `json:"specification,omitempty"`
	Basis         Number `json:"basis,omitzero"`
	Unit          string `json:"unit,omitempty"`
}

// Batch is one lot of a despatched line.
type Batch struct {
	Number     string   `json:"number,omitempty"`
	BestBefore string   `json:"best_before,omitempty"`
	Expiry     string   `json:"expiry,omitempty"`
	Quantity   Number   `json:"quantity,omitzero"`
	Unit       string   `json:"unit,omitempty"`
	Serials    []string `json:"serials,omitempty"`
}

// Variance is QVR: despatched is not ordered.
type Variance struct {
	Quantity    Number `json:"quantity,omitzero"`
	Qualifier   string `json:"qualifier,omitempty"` // 6063
	Discrepancy string `json:"discrepancy,omitempty"`
	Reason      string `json:"reason,omitempty"`
}

// detail gives the line's Detail, made when it is first needed.
func (l *Line) detail() *LineDetail {
	if l.Detail == nil {
		l.Detail = &LineDetail{}
	}
	return l.Detail
}

// empty reports whether nothing stands in d beside batches, serials and expiry.
func (d *LineDetail) empty() bool {
	return d.Action == "" && d.Items == nil && d.Descriptions == nil && d.Attributes == nil && d.Quantities == nil && d.Prices == nil &&
		d.Amounts == nil && d.AllowanceCharges == nil && d.Taxes == nil && d.Dates == nil && d.References == nil &&
		d.Texts == nil && d.Parties == nil && d.Terms == nil && d.Measures == nil && d.Identifiers == nil &&
		d.Variances == nil && d.Level == "" && d.Configuration == "" && d.Locations == nil && d.Origin == "" && d.RawUnit == "" && d.Other == nil
}
