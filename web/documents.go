package web

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
)

var documentFilters = append([]Parameter{
	{"partner", Text, nil},
	{"number", Text, nil},
	{"class", Text, []string{documents.ClassInvoice, documents.ClassDespatch, documents.ClassGeneric}},
	{"message_id", Text, nil},
	{"sscc", Text, nil},
	{"live", Text, []string{"true"}},
}, paging...)

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

// listDocuments asks for one partner's, or for each partner's in turn and
// merges: ids are ordered by time.
func (c *call) listDocuments() error {
	after, err := c.cursorID()
	if err != nil {
		return err
	}
	partners, err := c.partners()
	if err != nil {
		return err
	}
	f := documents.Filter{Number: c.text["number"], Class: c.text["class"], MessageID: c.text["message_id"], SSCC: c.text["sscc"], Live: c.text["live"] != "", Limit: c.limit}
	if after != uuid.Nil {
		f.After = after.String()
	}
	items, more := []documentItem{}, false
	for _, f.Partner = range partners {
		p, err := c.api.Documents.List(c.ctx(), f)
		if err != nil {
			return err
		}
		more = more || p.Next != ""
		for i := range p.Documents {
			items = append(items, documentOf(&p.Documents[i]))
		}
	}
	slices.SortFunc(items, func(a, b documentItem) int { return -cmp.Compare(a.ID.String(), b.ID.String()) })
	out := pageOf(&c.query, items, func(d documentItem) string { return d.ID.String() })
	if out.Next == "" && more { // exactly a page was read, and there are more
		out = pageOf(&c.query, append(items, documentItem{}), func(d documentItem) string { return d.ID.String() })
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
	return c.reply(http.StatusOK, d)
}
