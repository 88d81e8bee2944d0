package roles

// Word is a role, and what it stands for.
type Word struct {
	Role  string
	Means string
}

// List is a kind with the words that its qualifiers may have as roles.
type List struct {
	Kind
	Name    string // the key of a partner's settings
	EDIFACT string // where its qualifiers stand
	X12     string
	Words   []Word
}

// Lists are the kinds in order.
var Lists = [kinds]List{
	{Parties, "parties", "NAD 3035", "N101", []Word{
		{"supplier", "who delivers and is paid, BG-4"},
		{"buyer", "who ordered and owes, BG-7"},
		{"invoicee", "who the invoice goes to, where that is not the buyer"},
		{"issuer", "who made the invoice out, where that is not the supplier"},
		{"payee", "who is paid, BG-10"},
		{"payer", "who pays"},
		{"tax_representative", "who answers for the supplier's tax, BG-11"},
		{"delivery", "where goods are delivered to, BG-13"},
		{"ship_to", "where goods are shipped to"},
		{"consignee", "who receives the consignment"},
		{"ultimate_consignee", "who gets the goods in the end"},
		{"ship_from", "where goods come from"},
		{"consignor", "who hands the consignment over"},
		{"distributor", "who distributes"},
		{"carrier", "who carries"},
		{"forwarder", "who has goods carried"},
		{"manufacturer", "who made the goods"},
		{"store", "the shop the goods are for"},
		{"warehouse", "the warehouse"},
		{"corporate_office", "the head office"},
		{"ordered_by", "who placed the order"},
		{"buyer_agent", "who acts for the buyer"},
		{"seller_agent", "who acts for the seller"},
		{"notify", "who is told of the arrival"},
	}},
	{References, "references", "RFF 1153", "REF01", []Word{
		{"order", "the buyer's order, BT-13"},
		{"order_release", "a call-off of it"},
		{"supplier_order", "the supplier's number of the order, BT-14"},
		{"despatch_advice", "BT-16"},
		{"delivery_note", "the paper that came with the goods"},
		{"receiving_advice", "BT-15"},
		{"invoice", "an earlier invoice, BT-25"},
		{"contract", "BT-12"},
		{"payment", "what the payer is to quote, BT-83"},
		{"project", "BT-11"},
		{"customer_reference", "what the buyer asked to be quoted, BT-10"},
		{"bill_of_lading", "of the transport"},
		{"transport_document", "of the transport, whichever it is"},
		{"packing_list", "of the shipment"},
		{"price_list", "the prices are from"},
		{"tax_id", "a VAT identifier, BT-31, BT-48, BT-63"},
		{"tax_registration", "another number at the tax office, BT-32"},
		{"company_registration", "in a register of companies, BT-30, BT-47, BT-61"},
		{"government_reference", "at another authority"},
		{"additional_id", "another identifier of the party"},
		{"tender", "the tender or lot, BT-17"},
		{"invoiced_object", "what is billed, BT-18, BT-128"},
		{"buyer_accounting", "where the buyer books it, BT-19, BT-133"},
		{"mandate", "the mandate of a direct debit, BT-89"},
		{"creditor", "who debits, BT-90"},
		{"line", "the line in the document named beside it"},
		{"batch", "the batch or lot"},
		{"serial", "the serial number"},
		{"department", "of the buyer"},
		{"promotion", "the promotion or deal"},
		{"merchandise_type", "of the buyer"},
		{"appointment", "for the delivery"},
		{"load", "the load of the carrier"},
	}},
	{Dates, "dates", "DTM 2005", "DTM01", []Word{
		{"issue", "of the document, BT-2; of the message, where there is one for the invoice"},
		{"invoice", "of the invoice, BT-2"},
		{"delivery", "BT-72"},
		{"service_completion", "the end of the service"},
		{"tax_point", "BT-7"},
		{"period", "from and to, where one date says both"},
		{"period_start", "BT-73, BT-134"},
		{"period_end", "BT-74, BT-135"},
		{"due", "BT-9"},
		{"discount_until", "the last day of a discount"},
		{"value", "of the payment"},
		{"rate", "of the rate of exchange"},
		{"reference", "of the document referred to, BT-26"},
		{"order", "of the order"},
		{"despatch", "goods left, or leave"},
		{"requested_despatch", "goods were to leave"},
		{"estimated_delivery", "goods will arrive"},
		{"requested_delivery", "goods were to arrive"},
		{"latest_delivery", "goods arrive by"},
		{"earliest_delivery", "goods arrive from"},
		{"best_before", "best before"},
		{"expiry", "use by"},
		{"production", "made"},
		{"packing", "packed"},
		{"cancel_after", "the order ends"},
	}},
	{Amounts, "amounts", "MOA 5025 outside of the summary", "AMT01, PAM04", []Word{
		{"line_net", "of the line without tax, BT-131"},
		{"line_inclusive", "of the line with tax"},
		{"goods", "quantity × price"},
		{"gross", "before allowances"},
		{"allowance_charge", "an allowance or a charge, BT-92, BT-99, BT-136, BT-141"},
		{"basis", "what a percentage is taken from, BT-93, BT-100, BT-137, BT-142"},
		{"allowances_and_charges", "their sum"},
		{"price_discount", "what the price was lowered by, BT-147"},
		{"tax", "BT-117"},
		{"taxable", "BT-116"},
		{"tax_in_tax_currency", "BT-111"},
		{"discount", "of the payment"},
		{"discount_basis", "what it is taken from"},
	}},
	{Totals, "totals", "MOA 5025 of the summary, outside of TAX", "none: TDS has no qualifier", []Word{
		{"lines", "BT-106"},
		{"allowances", "BT-107"},
		{"charges", "BT-108"},
		{"tax_exclusive", "BT-109"},
		{"tax", "BT-110"},
		{"tax_inclusive", "BT-112"},
		{"prepaid", "BT-113"},
		{"rounding", "BT-114"},
		{"payable", "BT-115"},
	}},
	{Quantities, "quantities", "QTY 6063", "QTY01", []Word{
		{"invoiced", "BT-129"},
		{"delivered", "delivered"},
		{"despatched", "despatched"},
		{"ordered", "ordered"},
		{"per_package", "in one package"},
		{"free", "free of charge"},
		{"received", "received"},
		{"returned", "returned"},
		{"backorder", "to follow"},
	}},
	{Prices, "prices", "PRI 5125", "CTP02", []Word{
		{"net", "what is charged, BT-146"},
		{"gross", "before discounts, BT-148"},
		{"information", "for information"},
	}},
	{Texts, "texts", "FTX 4451", "NTE01", []Word{
		{"note", "BT-22, BT-127"},
		{"payment_terms", "BT-20"},
		{"exemption_reason", "why there is no tax, BT-120"},
		{"legal_information", "what the law asks the supplier to say, BT-33"},
		{"remittance", "for the payment"},
		{"delivery", "for the delivery"},
		{"attribute", "a property of the item and its value, BT-160, BT-161"},
		{"specification", "process and specification, BT-23, BT-24"},
	}},
}

// None is the word of a setting that takes a qualifier's role away.
const None = "none"

// Has reports whether a word is one of the list, or None.
func (l *List) Has(word string) bool {
	if word == None {
		return true
	}
	for i := range l.Words {
		if l.Words[i].Role == word {
			return true
		}
	}
	return false
}
