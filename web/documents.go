package web

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
)

// documentConditions are what documents are searched by; documents.Filter says which of
// them an index serves.
var documentConditions = []Parameter{
	{"partner", Text, nil},
	{"number", Text, nil},
	{"number_prefix", Text, nil},
	{"class", Text, []string{documents.ClassInvoice, documents.ClassDespatch, documents.ClassGeneric}},
	{"type_code", Text, nil},
	{"message_id", Text, nil},
	{"order_reference", Text, nil},
	{"line_order", Text, nil},
	{"item", Text, nil},
	{"sscc", Text, nil},
	{"supplier", Text, nil},
	{"buyer", Text, nil},
	{"issue_from", Day, nil},
	{"issue_to", Day, nil},
	{"received_from", Time, nil},
	{"received_to", Time, nil},
	{"currency", Text, nil},
	{"amount_from", Decimal, nil},
	{"amount_to", Decimal, nil},
	{"state", Text, []string{string(documents.StateLive), string(documents.StateHeld)}},
	{"live", Text, []string{"true"}},
	{"report", Text, []string{documents.NoReport, string(documents.Taken), string(documents.Posted), string(documents.Paid), string(documents.Refused)}},
	{"finding", Text, nil},
}

var documentFilters = slices.Concat(documentConditions, paging)

// documentFilter is what the parameters ask for, of no partner yet.
func (c *call) documentFilter() (f documents.Filter, err error) {
	f = documents.Filter{
		Number: c.text["number"], NumberPrefix: c.text["number_prefix"], MessageID: c.text["message_id"], OrderReference: c.text["order_reference"],
		SSCC: c.text["sscc"], ReceivedFrom: c.times["received_from"], ReceivedTo: c.times["received_to"],
		Class: c.text["class"], Live: c.text["live"] != "", TypeCode: c.text["type_code"], IssueFrom: c.text["issue_from"], IssueTo: c.text["issue_to"],
		Supplier: c.text["supplier"], Buyer: c.text["buyer"], LineOrder: c.text["line_order"], Item: c.text["item"], Currency: c.text["currency"],
		State: documents.State(c.text["state"]), Report: c.text["report"], Finding: c.text["finding"],
	}
	for name, into := range map[string]*documents.Number{"amount_from": &f.AmountFrom, "amount_to": &f.AmountTo} {
		if v := c.text[name]; v != "" {
			if err := into.UnmarshalJSON([]byte(v)); err != nil {
				return f, err
			}
		}
	}
	if err := f.Wide(time.Now()); err != nil {
		return f, unfitParameter("%v", err)
	}
	return f, nil
}

// documentItem is a document in a list: what its header says in short.
type documentItem struct {
	ID        uuid.UUID        `json:"document_id"`
	Partner   string           `json:"partner"`
	Class     string           `json:"class"`
	Type      string           `json:"message_type"`
	Number    string           `json:"number"`
	IssueDate string           `json:"issue_date,omitempty"`
	State     documents.State  `json:"state"`
	Live      bool             `json:"live"`
	Test      bool             `json:"test"`
	Revision  int              `json:"revision"`
	Supplier  documents.Name   `json:"supplier,omitzero"`
	Buyer     documents.Name   `json:"buyer,omitzero"`
	Currency  string           `json:"currency,omitempty"`
	Amount    documents.Number `json:"amount,omitzero"` // BT-115, where it is not said BT-112
	Lines     int              `json:"line_count"`
	Packages  int              `json:"package_count,omitempty"`
	MessageID string           `json:"message_id"`
	Received  string           `json:"received_at"`
	Self      string           `json:"document"` // where to read more
}

func documentOf(d *documents.Stored) documentItem {
	amount := d.Totals.Payable
	if !amount.Valid() {
		amount = d.Totals.TaxInclusive
	}
	return documentItem{
		ID: d.ID, Partner: d.Partner, Class: d.Class, Type: d.MessageType, Number: d.Number, IssueDate: d.IssueDate, State: d.State,
		Live: d.Live, Test: d.Test, Revision: d.Revision, Supplier: d.Supplier, Buyer: d.Buyer, Currency: d.Currency, Amount: amount,
		Lines: d.LineCount, Packages: d.PackageCount, MessageID: d.MessageID, Received: d.ReceivedAt.UTC().Format("2006-01-02T15:04:05.999999Z"),
		Self: Prefix + "/documents/" + d.ID.String(),
	}
}

// What a list without an index looks at, in documents: of all partners together, and
// of one at least.
const (
	lookAll = 50_000
	lookOne = 500
)

// listDocuments asks for one partner's, or for each partner's in turn and
// merges: ids are ordered by time. One whose list goes on has been looked through down to
// where it does; what is older than that, of any partner, is for the next page.
func (c *call) listDocuments() error {
	after, err := c.cursorID()
	if err != nil {
		return err
	}
	f, err := c.documentFilter()
	if err != nil {
		return err
	}
	partners, err := c.partners()
	if err != nil {
		return err
	}
	f.Limit, f.Look = c.limit, max(lookAll/max(len(partners), 1), lookOne)
	if after != uuid.Nil {
		f.After = after.String()
	}
	items, until := []documentItem{}, ""
	for _, f.Partner = range partners {
		p, err := c.api.Documents.List(c.ctx(), f)
		if err != nil {
			return err
		}
		until = max(until, p.Next) // as texts ids are in the same order
		for i := range p.Documents {
			items = append(items, documentOf(&p.Documents[i]))
		}
	}
	items = slices.DeleteFunc(items, func(d documentItem) bool { return d.ID.String() < until })
	slices.SortFunc(items, func(a, b documentItem) int { return -cmp.Compare(a.ID.String(), b.ID.String()) })
	out := pageOf(&c.query, items, func(d documentItem) string { return d.ID.String() })
	if out.Next == "" && until != "" {
		out.Next = c.after(until)
	}
	return c.reply(http.StatusOK, out)
}

// documentsOf gives a partner's documents of that number, the newest first.
func (c *call) documentsOf(partner, number string) ([]documents.Stored, error) {
	p, err := c.api.Documents.List(c.ctx(), documents.Filter{Partner: partner, Number: number, Limit: maxLimit})
	return p.Documents, err
}

// brought lists the documents that an interchange brought.
func (c *call) brought(k *dedup.Key, m *message) error {
	if k.Kind != dedup.Interchange {
		return nil
	}
	p, err := c.api.Documents.List(c.ctx(), documents.Filter{Partner: k.Partner, MessageID: k.ID, Limit: maxDocuments})
	if err != nil {
		return err
	}
	for i := range p.Documents {
		m.Documents = append(m.Documents, documentOf(&p.Documents[i]))
	}
	if p.Next != "" {
		m.DocumentsContinued = documentsPath(k.Partner, k.ID)
	}
	return nil
}

func (c *call) showDocument() error {
	id, err := c.pathID("document_id")
	if err != nil {
		return err
	}
	d, err := c.documentByID(id)
	if err != nil {
		return err
	}
	c.w.Header().Set("Link", "<"+Prefix+schemaPath+`>; rel="describedby"`) // JSON Schema core §9.5.1.1
	return c.reply(http.StatusOK, d)
}

const schemaPath = "/schemas/document.json"

// documentSchema gives the JSON Schema of a document. It is no secret.
func (c *call) documentSchema() error {
	h := c.w.Header()
	h.Set("Content-Type", "application/schema+json")
	h.Set("Content-Length", strconv.Itoa(len(documents.Schema)))
	c.w.WriteHeader(http.StatusOK)
	if _, err := c.w.Write(documents.Schema); err != nil {
		c.api.Log.DebugContext(c.ctx(), "the client went away during the answer", "err", err)
	}
	return nil
}
