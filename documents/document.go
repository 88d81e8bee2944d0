package documents

import (
	"encoding/json"

	"github.com/google/uuid"
)

// The classes of document.
const (
	ClassInvoice  = "invoice"  // invoices, credit notes, debit notes
	ClassDespatch = "despatch" // despatch advices
	ClassGeneric  = "generic"  // kept without a mapping
)

// Document is one business document: what has a column, and Detail for the rest.
// A mapper fills all but ID, which the caller makes (UUIDv7) before Queue.
type Document struct {
	ID             uuid.UUID  `json:"document_id"`
	Class          string     `json:"class"`
	TypeCode       string     `json:"type_code"`               // BT-3, UNTDID 1001: 380 invoice, 381 credit note, 351 despatch advice
	Number         string     `json:"number"`                  // BT-1, an..35
	IssueDate      string     `json:"issue_date,omitempty"`    // BT-2, CCYY-MM-DD
	Function       string     `json:"function_code,omitempty"` // 1225 as sent; see Revision
	Test           bool       `json:"test"`
	MessageType    string     `json:"message_type"`    // INVOIC D.96A EAN008
	Issuer         Identifier `json:"issuer,omitzero"` // the party that numbers it
	Supplier       Name       `json:"supplier,omitzero"`
	Buyer          Name       `json:"buyer,omitzero"`
	OrderReference string     `json:"order_reference,omitempty"` // BT-13
	Currency       string     `json:"currency,omitempty"`        // BT-5, ISO 4217
	DueDate        string     `json:"due_date,omitempty"`        // BT-9, CCYY-MM-DD
	Totals         Totals     `json:"totals,omitzero"`
	LineCount      int        `json:"line_count"`
	PackageCount   int        `json:"package_count,omitempty"`
	Detail         Detail     `json:"detail"`
	Lines          []Line     `json:"lines,omitempty"`
	Packages       []Package  `json:"packages,omitempty"`

	// Segments is the message itself, of a document kept without a mapping.
	Segments json.RawMessage `json:"segments,omitempty"`

	keyed       *string  // the date in GuardKey, nil: IssueDate
	units       []Unit   // Units
	content     [32]byte // GuardContent
	contentOnly [32]byte // ContentWithoutNumberAndDate
}

// addLine adds an empty line. Lines were counted before, so that there is room, which
// make has cleared.
func (d *Document) addLine() *Line {
	n := len(d.Lines)
	if n < cap(d.Lines) {
		d.Lines = d.Lines[:n+1]
	} else {
		d.Lines = append(d.Lines, Line{})
	}
	return &d.Lines[n]
}

// Totals are the amounts of BG-22, as the document says them.
type Totals struct {
	Lines        Number `json:"lines,omitzero"`         // BT-106
	Allowances   Number `json:"allowances,omitzero"`    // BT-107
	Charges      Number `json:"charges,omitzero"`       // BT-108
	TaxExclusive Number `json:"tax_exclusive,omitzero"` // BT-109
	Tax          Number `json:"tax,omitzero"`           // BT-110
	TaxInclusive Number `json:"tax_inclusive,omitzero"` // BT-112
	Prepaid      Number `json:"prepaid,omitzero"`       // BT-113
	Rounding     Number `json:"rounding,omitzero"`      // BT-114
	Payable      Number `json:"payable,omitzero"`       // BT-115
}

// Detail is what of a document has no column; it is stored as jsonb.
type Detail struct {
	Parties       []Party           `json:"parties,omitempty"`
	References    []Reference       `json:"references,omitempty"`
	Dates         []Date            `json:"dates,omitempty"`
	Texts         []Text            `json:"texts,omitempty"`
	Amounts       []Amount          `json:"amounts,omitempty"` // totals without a column, raw qualifiers
	Measures      []Measure         `json:"measures,omitempty"`
	Locations     []NamedLocation   `json:"locations,omitempty"`      // LOC: ports and other places
	DeliveryTerms []DeliveryTerms   `json:"delivery_terms,omitempty"` // TOD or FOB: who bears cost and risk of the transport
	Transport     []Transport       `json:"transport,omitempty"`      // of an invoice; that of a despatch advice stands in despatch
	Equipment     []Equipment       `json:"equipment,omitempty"`      // EQD or TD3: containers and the like
	Counts        []Quantity        `json:"counts,omitempty"`         // control totals: CNT
	Invoice       *Invoice          `json:"invoice,omitempty"`
	Despatch      *Despatch         `json:"despatch,omitempty"`
	Findings      []Finding         `json:"findings,omitempty"` // of reading and of comparing, as the receipt tells them
	Other         []json.RawMessage `json:"other,omitempty"`    // segments that found no place, see appendSegment
}

// Identifier is a value with the scheme it is unique in.
type Identifier struct {
	Value    string `json:"value,omitempty"`
	Scheme   string `json:"scheme,omitempty"`   // ISO 6523 where known (0088 GLN, 0060 DUNS), else the code as sent
	Raw      string `json:"raw,omitempty"`      // the scheme as sent, where it differs
	Function string `json:"function,omitempty"` // 4347 of an item that takes the place of this one, or whose place this one takes
}

// Name is a party in short.
type Name struct {
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
}

// Party is NAD with what stands beneath it (BG-4, BG-7, BG-10, BG-13).
type Party struct {
	Role       string      `json:"role,omitempty"`      // ours: supplier, buyer, …; "" where the qualifier has none
	Qualifier  string      `json:"qualifier,omitempty"` // 3035 as sent
	ID         Identifier  `json:"id,omitzero"`
	Name       string      `json:"name,omitempty"`
	MoreNames  []string    `json:"more_names,omitempty"`
	Street     []string    `json:"street,omitempty"`
	City       string      `json:"city,omitempty"`
	Region     string      `json:"region,omitempty"`
	Postcode   string      `json:"postcode,omitempty"`
	Country    string      `json:"country,omitempty"` // ISO 3166-1 as sent
	Address    []string    `json:"address,omitempty"` // C058, unstructured
	TaxID      string      `json:"tax_id,omitempty"`  // VAT identifier: RFF+VA
	References []Reference `json:"references,omitempty"`
	Contacts   []Contact   `json:"contacts,omitempty"`
	Accounts   []Account   `json:"accounts,omitempty"`
}

// Contact is CTA with its COM.
type Contact struct {
	Function string       `json:"function,omitempty"` // 3139
	ID       string       `json:"id,omitempty"`
	Name     string       `json:"name,omitempty"`
	Phone    string       `json:"phone,omitempty"`
	Email    string       `json:"email,omitempty"`
	Other    []Identifier `json:"other,omitempty"` // scheme: 3155
}

// Account is FII: where to pay (BG-17).
type Account struct {
	Qualifier   string     `json:"qualifier,omitempty"` // 3035
	Account     string     `json:"account,omitempty"`   // IBAN or other
	Holder      string     `json:"holder,omitempty"`
	Institution Identifier `json:"institution,omitzero"` // BIC or other
	Name        string     `json:"name,omitempty"`
	Currency    string     `json:"currency,omitempty"`
	Country     string     `json:"country,omitempty"`
	Branch      Identifier `json:"branch,omitzero"` // 3434, of the institution
}

// Reference is RFF.
type Reference struct {
	Role      string       `json:"role,omitempty"`
	Qualifier string       `json:"qualifier,omitempty"` // 1153 as sent
	Number    string       `json:"number,omitempty"`
	Line      string       `json:"line,omitempty"`    // 1156, line in the referenced document
	Version   string       `json:"version,omitempty"` // 4000 or 1056, of the referenced document
	Text      string       `json:"text,omitempty"`    // REF03, in words
	Also      []Identifier `json:"also,omitempty"`    // REF04; scheme: 128
	Dates     []Date       `json:"dates,omitempty"`
}

// Text is FTX, or a description of an item: IMD.
type Text struct {
	Role     string `json:"role,omitempty"`    // ours: note, payment_terms, …; "" where the subject has none
	Subject  string `json:"subject,omitempty"` // 4451, or 7077 and 7081
	Code     string `json:"code,omitempty"`
	Text     string `json:"text,omitempty"`
	Language string `json:"language,omitempty"`
}

// Amount is MOA.
type Amount struct {
	Role      string `json:"role,omitempty"`
	Qualifier string `json:"qualifier,omitempty"` // 5025 as sent
	Amount    Number `json:"amount"`
	Currency  string `json:"currency,omitempty"`
}

// Measure is MEA.
type Measure struct {
	Purpose   string `json:"purpose,omitempty"`   // 6311
	Dimension string `json:"dimension,omitempty"` // 6313
	Value     Number `json:"value,omitzero"`
	Unit      string `json:"unit,omitempty"`
	Min       Number `json:"min,omitzero"`       // 6162, where it is a range
	Max       Number `json:"max,omitzero"`       // 6152
	Accuracy  string `json:"accuracy,omitempty"` // 6321: 3 about
	Text      string `json:"text,omitempty"`     // 6154
}

// Quantity is QTY.
type Quantity struct {
	Role      string `json:"role,omitempty"`
	Qualifier string `json:"qualifier,omitempty"` // 6063 as sent
	Quantity  Number `json:"quantity"`
	Unit      string `json:"unit,omitempty"`
}

// Invoice is what only invoices have.
type Invoice struct {
	RawType          string            `json:"raw_type,omitempty"`     // BIG07 as sent
	TaxCurrency      string            `json:"tax_currency,omitempty"` // BT-6
	Currencies       []Currency        `json:"currencies,omitempty"`
	TaxPoint         string            `json:"tax_point,omitempty"`     // BT-8, UNTDID 2005: which date tells when tax is due
	PaymentMeans     []string          `json:"payment_means,omitempty"` // BT-81, UNTDID 4461
	Terms            []PaymentTerm     `json:"terms,omitempty"`         // BT-20
	AllowanceCharges []AllowanceCharge `json:"allowance_charges,omitempty"`
	Taxes            []Tax             `json:"taxes,omitempty"`         // BG-23, by category and rate
	DefaultTaxes     []Tax             `json:"default_taxes,omitempty"` // TAX in the header: of lines that say nothing
	Supporting       []Supporting      `json:"supporting,omitempty"`    // BG-24
}

// Currency is one C504 of CUX.
type Currency struct {
	Usage    string `json:"usage,omitempty"`    // 6347: 2 reference, 3 target, 6 tax
	Function string `json:"function,omitempty"` // 6343: 4 invoicing
	Raw      string `json:"raw,omitempty"`      // CUR01, whose currency it is
	Code     string `json:"code,omitempty"`
	Rate     Number `json:"rate,omitzero"`
	Base     Number `json:"base,omitzero"`    // 6348: units of the currency that the rate is for
	Market   string `json:"market,omitempty"` // 6341: where the rate is from
}

// PaymentTerm is PAT or PYT with its dates, percentages and amounts.
type PaymentTerm struct {
	Type     string   `json:"type,omitempty"` // 4279: 1 basic, 3 fixed date, 22 discount
	Code     string   `json:"code,omitempty"` // 4277, or ITD01
	Text     string   `json:"text,omitempty"`
	Period   string   `json:"period,omitempty"` // 2151: D day
	Count    string   `json:"count,omitempty"`  // 2152
	Relation string   `json:"relation,omitempty"`
	Event    string   `json:"event,omitempty"` // 2475: what the period counts from
	Percent  Number   `json:"percent,omitzero"`
	Of       string   `json:"of,omitempty"`  // 5245, what the percentage is: 12 discount, 15 penalty
	Day      string   `json:"day,omitempty"` // ITD13, of the month
	Dates    []Date   `json:"dates,omitempty"`
	Amounts  []Amount `json:"amounts,omitempty"`
}

// AllowanceCharge is ALC with what stands beneath it (BG-20, BG-21, BG-27, BG-28).
type AllowanceCharge struct {
	Charge      bool     `json:"charge"`
	Code        string   `json:"code,omitempty"`     // UNTDID 5189 or 7161
	RawCode     string   `json:"raw_code,omitempty"` // SAC02 as sent, where it differs
	Reason      string   `json:"reason,omitempty"`
	Sequence    string   `json:"sequence,omitempty"` // 1227
	Settlement  string   `json:"settlement,omitempty"`
	Percent     Number   `json:"percent,omitzero"`
	Basis       Number   `json:"basis,omitzero"`
	Amount      Number   `json:"amount,omitzero"`
	Quantity    Number   `json:"quantity,omitzero"`
	Unit        string   `json:"unit,omitempty"` // of the quantity
	Rate        Number   `json:"rate,omitzero"`
	RateBasis   Number   `json:"rate_basis,omitzero"` // 5284: how many units the rate is for
	RateUnit    string   `json:"rate_unit,omitempty"` // unit of what the rate is for
	Reference   string   `json:"reference,omitempty"` // SAC13
	TaxCategory string   `json:"tax_category,omitempty"`
	TaxRate     Number   `json:"tax_rate,omitzero"`
	Amounts     []Amount `json:"amounts,omitempty"` // others
}

// Tax is TAX with its amounts.
type Tax struct {
	Function     string     `json:"function,omitempty"` // 5283: 7 tax
	Type         string     `json:"type,omitempty"`     // 5153: VAT, GST
	Category     string     `json:"category,omitempty"` // UNTDID 5305
	Rate         Number     `json:"rate,omitzero"`      // per cent
	RawRate      string     `json:"raw_rate,omitempty"` // where it is no number
	Basis        Number     `json:"basis,omitzero"`     // BT-116
	Amount       Number     `json:"amount,omitzero"`    // BT-117
	Amounts      []Amount   `json:"amounts,omitempty"`
	Account      string     `json:"account,omitempty"`     // 5289
	PartyID      string     `json:"party_id,omitempty"`    // 3446, or TXI09: tax number of the party
	Jurisdiction Identifier `json:"jurisdiction,omitzero"` // TXI04 and TXI05: whose tax it is

	Exemption     string `json:"exemption,omitempty"`      // BT-120, why no tax is due
	ExemptionCode string `json:"exemption_code,omitempty"` // BT-121
}

// Despatch is what only despatch advices have.
type Despatch struct {
	DespatchDate      string      `json:"despatch_date,omitempty"` // CCYY-MM-DD, DTM+11
	EstimatedDelivery string      `json:"estimated_delivery,omitempty"`
	Transport         []Transport `json:"transport,omitempty"`
	GrossWeight       Number      `json:"gross_weight,omitzero"`
	WeightUnit        string      `json:"weight_unit,omitempty"`
}
