package main

import (
	"time"
)

// documentSearch is what documents are searched by. What no index serves needs one of
// the others, or --received-from.
type documentSearch struct {
	Partner        string `placeholder:"ID" help:"Only this partner's."`
	Number         string `placeholder:"NUMBER" help:"Only of this number."`
	NumberPrefix   string `placeholder:"TEXT" help:"Only of numbers that begin so."`
	MessageID      string `name:"message-id" placeholder:"KEY" help:"Only what this interchange brought."`
	OrderReference string `placeholder:"NUMBER" help:"Only of this order, which the document names as a whole."`
	SSCC           string `name:"sscc" placeholder:"NUMBER" help:"Only despatch advices that name this logistic unit."`
	Class          string `placeholder:"WORD" help:"invoice, despatch or generic."`
	Live           bool   `help:"Only documents that count: neither replaced, cancelled, held nor test."`
	ReceivedFrom   string `placeholder:"TIME" help:"Only received on this day or at this time (2026-11-28, 2026-11-28T09:14:00Z), or later."`
	ReceivedTo     string `placeholder:"TIME" help:"Only received on this day, or before this time."`
	IssueFrom      string `placeholder:"DAY" help:"Only issued on this day or later."`
	IssueTo        string `placeholder:"DAY" help:"Only issued on this day or before."`
	TypeCode       string `placeholder:"CODE" help:"Only of this type of UNTDID 1001, like 380 or 381."`
	Supplier       string `placeholder:"TEXT" help:"Only of the supplier with this id, or this in his name."`
	Buyer          string `placeholder:"TEXT" help:"Only to the buyer with this id, or this in his name."`
	LineOrder      string `placeholder:"NUMBER" help:"Only with a line of this order."`
	Item           string `placeholder:"ID" help:"Only with a line of this GTIN, or this number of the supplier's or buyer's."`
	Currency       string `placeholder:"CODE" help:"Only in this currency."`
	AmountFrom     string `placeholder:"NUMBER" help:"Only of which this much or more is due."`
	AmountTo       string `placeholder:"NUMBER" help:"Only of which this much or less is due."`
	State          string `placeholder:"WORD" help:"live or held."`
	Report         string `placeholder:"WORD" help:"Only reported last as taken, posted, paid or refused, or none."`
	Finding        string `placeholder:"CODE" help:"Only with a finding of this code."`
}

// conditions are those asked for, as names and values of the API.
func (s documentSearch) conditions() (pairs []string, err error) {
	live := ""
	if s.Live {
		live = "true"
	}
	from, err := moment("--received-from", s.ReceivedFrom, 0)
	if err != nil {
		return nil, err
	}
	to, err := moment("--received-to", s.ReceivedTo, 1)
	if err != nil {
		return nil, err
	}
	return []string{"partner", s.Partner, "number", s.Number, "number_prefix", s.NumberPrefix, "message_id", s.MessageID,
		"order_reference", s.OrderReference, "sscc", s.SSCC, "class", s.Class, "live", live, "received_from", from, "received_to", to,
		"issue_from", s.IssueFrom, "issue_to", s.IssueTo, "type_code", s.TypeCode, "supplier", s.Supplier, "buyer", s.Buyer,
		"line_order", s.LineOrder, "item", s.Item, "currency", s.Currency, "amount_from", s.AmountFrom, "amount_to", s.AmountTo,
		"state", s.State, "report", s.Report, "finding", s.Finding}, nil
}

// moment is a time as the API takes it. A day is its beginning in UTC, or that of so many
// days behind it.
func moment(flag, text string, days int) (string, error) {
	if text == "" {
		return "", nil
	}
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t.AddDate(0, 0, days).Format(time.RFC3339), nil
	}
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		return "", usage("%s must be a day like 2026-11-28 or a time like 2026-11-28T09:14:00Z, not %q", flag, text)
	}
	return text, nil
}
