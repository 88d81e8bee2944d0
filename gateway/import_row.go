package gateway

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/partners"
)

// ImportRow is one row of a file of what a former gateway has processed: a value
// for each column of ImportColumns, "" where it says nothing.
type ImportRow struct {
	Partner string `json:"partner,omitempty"` // whose key it is
	Kind    string `json:"kind,omitempty"`    // interchange, transport, document

	// An interchange or a transport id, as edigw writes its key.
	MessageID string `json:"message_id,omitempty"`

	// An interchange by its envelope: UNB or ISA.
	Syntax             string `json:"syntax,omitempty"` // edifact, x12
	Sender             string `json:"sender,omitempty"`
	SenderQualifier    string `json:"sender_qualifier,omitempty"`
	Recipient          string `json:"recipient,omitempty"`
	RecipientQualifier string `json:"recipient_qualifier,omitempty"`
	Reference          string `json:"reference,omitempty"`   // 0020, ISA13
	Application        string `json:"application,omitempty"` // 0026

	// A transport id by its parts.
	Transport string `json:"transport,omitempty"` // as2, as4, http
	To        string `json:"to,omitempty"`        // AS2-To, the party of ours, the organisation
	ID        string `json:"id,omitempty"`

	// A business document.
	Class        string `json:"class,omitempty"` // invoice, despatch, generic
	Type         string `json:"type,omitempty"`  // 1001
	Number       string `json:"number,omitempty"`
	Issuer       string `json:"issuer,omitempty"`
	IssuerScheme string `json:"issuer_scheme,omitempty"`

	Date          string `json:"date,omitempty"`           // of the interchange or the document
	Test          string `json:"test,omitempty"`           // of either
	PayloadSHA256 string `json:"payload_sha256,omitempty"` // of an interchange or a transport's payload
	ReceivedAt    string `json:"received_at,omitempty"`

	// Unread says why the line could not be read as a row at all.
	Unread string `json:"unread,omitempty"`
}

// ImportColumn is a column of such a file.
type ImportColumn struct {
	Name  string
	Of    []string // the kinds that have it; nil: all
	Value func(*ImportRow) *string
}

// The kinds of rows.
const (
	importInterchange = "interchange"
	importTransport   = "transport"
	importDocument    = "document"
)

// ImportColumns are all columns there are.
var ImportColumns = []ImportColumn{
	{"partner", nil, func(r *ImportRow) *string { return &r.Partner }},
	{"kind", nil, func(r *ImportRow) *string { return &r.Kind }},
	{"message_id", []string{importInterchange, importTransport}, func(r *ImportRow) *string { return &r.MessageID }},
	{"syntax", []string{importInterchange}, func(r *ImportRow) *string { return &r.Syntax }},
	{"sender", []string{importInterchange}, func(r *ImportRow) *string { return &r.Sender }},
	{"sender_qualifier", []string{importInterchange}, func(r *ImportRow) *string { return &r.SenderQualifier }},
	{"recipient", []string{importInterchange}, func(r *ImportRow) *string { return &r.Recipient }},
	{"recipient_qualifier", []string{importInterchange}, func(r *ImportRow) *string { return &r.RecipientQualifier }},
	{"reference", []string{importInterchange}, func(r *ImportRow) *string { return &r.Reference }},
	{"application", []string{importInterchange}, func(r *ImportRow) *string { return &r.Application }},
	{"transport", []string{importTransport}, func(r *ImportRow) *string { return &r.Transport }},
	{"to", []string{importTransport}, func(r *ImportRow) *string { return &r.To }},
	{"id", []string{importTransport}, func(r *ImportRow) *string { return &r.ID }},
	{"class", []string{importDocument}, func(r *ImportRow) *string { return &r.Class }},
	{"type", []string{importDocument}, func(r *ImportRow) *string { return &r.Type }},
	{"number", []string{importDocument}, func(r *ImportRow) *string { return &r.Number }},
	{"issuer", []string{importDocument}, func(r *ImportRow) *string { return &r.Issuer }},
	{"issuer_scheme", []string{importDocument}, func(r *ImportRow) *string { return &r.IssuerScheme }},
	{"date", []string{importInterchange, importDocument}, func(r *ImportRow) *string { return &r.Date }},
	{"test", []string{importInterchange, importDocument}, func(r *ImportRow) *string { return &r.Test }},
	{"payload_sha256", []string{importInterchange, importTransport}, func(r *ImportRow) *string { return &r.PayloadSHA256 }},
	{"received_at", nil, func(r *ImportRow) *string { return &r.ReceivedAt }},
}

// ImportFault is what is wrong with a row, and what to do.
type ImportFault struct {
	Row    int64  `json:"row"`              // of the file, from 1; the header is none
	Column string `json:"column,omitempty"` // "" is the row as a whole
	Detail string `json:"detail"`
}

// known is what one row says is known: a key, or the guard keys of a document.
type known struct {
	kind   dedup.Kind // 0: a document
	key    dedup.Ref
	digest *[32]byte
	guards [][32]byte
	at     time.Time // when it was received
	window time.Duration
}

// rowReader reads rows into what they say.
type rowReader struct {
	partner func(id string) *partners.Partner
	now     time.Time
}

// errRow is a fault in a row.
type errRow struct{ column, text string }

func (e *errRow) Error() string { return e.column + ": " + e.text }

func rowFault(column, format string, args ...any) error {
	return &errRow{column, fmt.Sprintf(format, args...)}
}

// read gives what row says. The error is an *errRow.
func (x rowReader) read(row *ImportRow) (known, error) {
	if row.Unread != "" {
		return known{}, rowFault("", "%s", row.Unread)
	}
	if err := plain(row); err != nil {
		return known{}, err
	}
	switch row.Kind {
	case importInterchange, importTransport, importDocument:
	case "":
		return known{}, rowFault("kind", "is missing: interchange, transport or document")
	default:
		return known{}, rowFault("kind", "must be interchange, transport or document, not %q", row.Kind)
	}
	p := x.partner(row.Partner)
	if row.Partner == "" {
		return known{}, rowFault("partner", "is missing: the short name of the partner whose key it is")
	}
	if p == nil {
		return known{}, rowFault("partner", "there is no partner %q; connect it with `edigw partners apply`, or mend the name", row.Partner)
	}
	for _, c := range ImportColumns {
		if c.Of != nil && !slices.Contains(c.Of, row.Kind) && *c.Value(row) != "" {
			return known{}, rowFault(c.Name, "says nothing of kind %s: leave it empty", row.Kind)
		}
	}
	k := known{at: x.now, window: p.Retention.DedupWindow}
	var err error
	if row.ReceivedAt != "" {
		if k.at, err = receivedAt(row.ReceivedAt); err != nil {
			return known{}, err
		}
		if k.at.After(x.now.Add(24 * time.Hour)) {
			return known{}, rowFault("received_at", "%s is in the future", row.ReceivedAt)
		}
		if k.at.After(x.now) { // a day in another zone
			k.at = x.now
		}
	}
	if row.PayloadSHA256 != "" {
		b, err := hex.DecodeString(row.PayloadSHA256)
		if err != nil || len(b) != 32 {
			return known{}, rowFault("payload_sha256", "must be a SHA-256 in 64 hex digits")
		}
		k.digest = (*[32]byte)(b)
	}
	switch row.Kind {
	case importInterchange:
		err = k.interchange(row, p)
	case importTransport:
		err = k.transport(row, p)
	default:
		err = k.document(row, p)
	}
	return k, err
}

// plain trims every value and refuses what no key holds.
func plain(row *ImportRow) error {
	for _, c := range ImportColumns {
		v := c.Value(row)
		*v = strings.TrimSpace(*v)
		switch {
		case len(*v) > 1000:
			return rowFault(c.Name, "has %d bytes; that is no value of this column", len(*v))
		case !utf8.ValidString(*v):
			return rowFault(c.Name, "is no UTF-8: save the file as UTF-8")
		case strings.ContainsFunc(*v, unicode.IsControl):
			return rowFault(c.Name, "holds a control character")
		}
	}
	return nil
}

// receivedAt reads a time as exports write it; without a zone it is UTC.
func receivedAt(s string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly, "20060102"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, rowFault("received_at", "must be a time like 2026-01-31T14:05:06Z or a day like 2026-01-31, not %q", s)
}

// dayOf reads a day into CCYYMMDD.
func dayOf(s string) (string, error) {
	for _, layout := range []string{time.DateOnly, "20060102", "060102"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.Format("20060102"), nil
		}
	}
	return "", rowFault("date", "must be a day like 2026-01-31 or 20260131, not %q", s)
}

func isTest(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "", "0", "false", "no", "p":
		return false, nil
	case "1", "true", "yes", "t":
		return true, nil
	}
	return false, rowFault("test", "must be true or false, not %q", s)
}

// interchange makes the key as the partner's settings shape it.
func (k *known) interchange(row *ImportRow, p *partners.Partner) error {
	k.kind = dedup.Interchange
	if row.MessageID != "" {
		for _, c := range ImportColumns {
			if *c.Value(row) != "" && len(c.Of) > 0 && !slices.Contains([]string{"message_id", "payload_sha256"}, c.Name) {
				return rowFault(c.Name, "stands beside message_id, which says it already: leave one of them empty")
			}
		}
		return k.interchangeKey(row.MessageID, p)
	}
	ic := edi.Interchange{Syntax: row.Syntax, Sender: edi.Party{ID: row.Sender, Qualifier: row.SenderQualifier},
		Recipient: edi.Party{ID: row.Recipient, Qualifier: row.RecipientQualifier}, ControlReference: row.Reference, ApplicationReference: row.Application}
	var err error
	if ic.Test, err = isTest(row.Test); err != nil {
		return err
	}
	if row.Date != "" {
		if ic.Date, err = dayOf(row.Date); err != nil {
			return err
		}
	}
	for _, needed := range []struct{ column, value, what string }{
		{"syntax", row.Syntax, "edifact or x12"}, {"sender", row.Sender, "UNB 0004 or ISA06"},
		{"recipient", row.Recipient, "UNB 0010 or ISA08"}, {"reference", row.Reference, "UNB 0020 or ISA13"},
	} {
		if needed.value == "" {
			return rowFault(needed.column, "is missing: %s; or give message_id", needed.what)
		}
	}
	switch row.Syntax {
	case "x12":
		// QUIRK: spreadsheets take the leading zeros of ISA13, and the one of ISA05, for a number's.
		ic.ControlReference = padded(ic.ControlReference, 9)
		ic.Sender.Qualifier, ic.Recipient.Qualifier = padded(ic.Sender.Qualifier, 2), padded(ic.Recipient.Qualifier, 2)
		if len(ic.ControlReference) != 9 || !digits(ic.ControlReference) {
			return rowFault("reference", "ISA13 has nine digits, not %q", row.Reference)
		}
	case "edifact":
	default:
		return rowFault("syntax", "must be edifact or x12, not %q", row.Syntax)
	}
	if err := speaks(p, ic.Sender, "sender"); err != nil {
		return err
	}
	s := shape(p.Policy)
	if s.ControlReference == "unique_per_day" && ic.Date == "" {
		return rowFault("date", "is missing: with control_reference: unique_per_day the interchange's date is in its key")
	}
	if s.ControlReference == "unreliable" {
		if k.digest == nil {
			return rowFault("payload_sha256", "is missing: with control_reference: unreliable the digest is the key")
		}
		ic.PayloadSHA256 = *k.digest
	}
	k.key = dedup.Ref{Partner: p.ID, ID: dedup.InterchangeKey(&ic, s)}
	return nil
}

func padded(s string, width int) string {
	if s == "" || !digits(s) || len(s) >= width {
		return s
	}
	return strings.Repeat("0", width-len(s)) + s
}

func digits(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

// speaks refuses a sender whose interchanges come under another partner's keys,
// or under none.
func speaks(p *partners.Partner, sender edi.Party, column string) error {
	if slices.Contains(p.Identifiers, partners.Identifier{Qualifier: sender.Qualifier, ID: sender.ID}) {
		return nil
	}
	return rowFault(column, "%s is none of the identifiers of %s: its interchanges would not be looked for under this key; add it to the partner, or mend the row", address(sender), p.ID)
}

// transport makes the key of a transport id.
func (k *known) transport(row *ImportRow, p *partners.Partner) error {
	k.kind = dedup.Transport
	if row.MessageID != "" {
		if row.Transport+row.To+row.ID != "" {
			return rowFault("message_id", "stands beside transport, to or id: give either")
		}
		return k.transportKey(row.MessageID, p)
	}
	if !slices.Contains(transportWords, row.Transport) {
		return rowFault("transport", "must be as2, as4 or http, not %q; or give message_id", row.Transport)
	}
	id := row.ID
	if row.Transport != "http" { // RFC 5322 writes msg-id in angle brackets; the key is without
		id = strings.TrimSuffix(strings.TrimPrefix(id, "<"), ">")
	}
	if id == "" {
		return rowFault("id", "is missing: Message-ID, eb:MessageId or Idempotency-Key")
	}
	to := row.To
	if to == "" && row.Transport == "http" {
		to = p.Organisation
	}
	if to == "" {
		return rowFault("to", "is missing: the address of ours that was used, AS2-To or the party id")
	}
	k.key = dedup.Ref{Partner: p.ID, ID: dedup.TransportKey(row.Transport, to, id)}
	return nil
}

var transportWords = []string{"as2", "as4", "http"}

// document makes the guard keys of a business document: one where the issuer is
// said, else one for each form in which the partner may be named.
func (k *known) document(row *ImportRow, p *partners.Partner) error {
	f := documents.Former{Class: row.Class, TypeCode: row.Type, Number: row.Number}
	switch row.Class {
	case documents.ClassInvoice, documents.ClassDespatch, documents.ClassGeneric:
	default:
		return rowFault("class", "must be invoice, despatch or generic, not %q", row.Class)
	}
	if row.Number == "" {
		return rowFault("number", "is missing: BGM 1004, BIG02 or BSN02")
	}
	if row.Type == "" {
		return rowFault("type", "is missing: the code of the document type, like 380 for an invoice, 381 for a credit note, 351 for a despatch advice; for generic the message type")
	}
	var err error
	if f.Test, err = isTest(row.Test); err != nil {
		return err
	}
	if year := row.Date; len(year) == 4 && digits(year) {
		f.IssueDate = year + "-"
	} else {
		d, err := dayOf(row.Date)
		if err != nil {
			return rowFault("date", "must be the document's date like 2026-01-31, or its year: numbers are told apart by year, not %q", row.Date)
		}
		f.IssueDate = d[:4] + "-"
	}
	issuers := []documents.Identifier{{Value: row.Issuer, Scheme: row.IssuerScheme}}
	switch {
	case row.Issuer != "":
	case row.IssuerScheme != "":
		return rowFault("issuer", "is missing beside issuer_scheme; leave both out to guard the number under each identifier of the partner")
	case len(p.Identifiers) == 0:
		return rowFault("issuer", "is missing: %s has no identifiers that could stand for it", p.ID)
	default:
		issuers = nil
		for _, id := range p.Identifiers {
			issuers = append(issuers, documents.IssuerForms(id.Qualifier, id.ID)...)
		}
	}
	for _, f.Issuer = range issuers {
		k.guards = append(k.guards, f.GuardKey())
	}
	return nil
}
