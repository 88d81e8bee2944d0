package main

import (
	"github.com/edigw/edigw/compare"
	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
)

// comparedPair is an interchange of each of two payloads, and what differs.
type comparedPair struct {
	Before string          `json:"before,omitempty"` // message id; absent where there is none
	After  string          `json:"after,omitempty"`
	Result *compare.Result `json:"result"`
}

// comparePayloads pairs the interchanges of a and b in their order. An
// interchange that only one side has is said to be unreadable on the other.
func comparePayloads(a, b *edi.Payload) ([]comparedPair, error) {
	as, err := sidesOf(a, nil)
	if err != nil {
		return nil, err
	}
	bs, err := sidesOf(b, as)
	if err != nil {
		return nil, err
	}
	var pairs []comparedPair
	for i := range max(len(as), len(bs), 1) {
		x, y := compare.Unreadable("there is no such interchange in the first file"), compare.Unreadable("there is no such interchange in the second file")
		if i < len(as) {
			x = as[i]
		}
		if i < len(bs) {
			y = bs[i]
		}
		pairs = append(pairs, comparedPair{keyOfSide(x), keyOfSide(y), compare.Diff(x, y, namesOf(syntaxOf(x, y)))})
	}
	return pairs, nil
}

// sidesOf reads every interchange of p. others are those it will be compared
// with, in order: of messages they share nothing is kept.
func sidesOf(p *edi.Payload, others []*compare.Interchange) (sides []*compare.Interchange, err error) {
	err = gateway.Walk(p, formats(nil), gateway.Reading{}, func(f *gateway.Format, ic *edi.Interchange, fault *edi.Error) error {
		if fault != nil {
			if fault.Severity >= edi.SeverityError {
				sides = append(sides, compare.Unreadable(fault.Error()))
			}
			return nil
		}
		b := compare.Builder{Envelope: ic, Payload: p}
		if i := len(sides); i < len(others) {
			b.Other = others[i].Envelope
		}
		if err := f.Scan(p, ic, gateway.Reading{}, b.Visit); err != nil {
			return err
		}
		sides = append(sides, b.Interchange())
		return nil
	})
	return sides, err
}

func keyOfSide(s *compare.Interchange) string {
	if s.Envelope == nil || s.Envelope.ControlReference == "" {
		return ""
	}
	return dedup.InterchangeKey(s.Envelope, dedup.Shape{ControlReference: "unique"})
}

// compareTexts compares the first interchange of two payloads, for drift. A nil
// original is one that is no longer kept.
func compareTexts(original, later []byte) *compare.Result {
	side := func(text []byte, others []*compare.Interchange) *compare.Interchange {
		sides, err := sidesOf(edi.Bytes(text), others)
		switch {
		case err != nil:
			return compare.Unreadable(err.Error())
		case len(sides) == 0:
			return compare.Unreadable("")
		}
		return sides[0]
	}
	if original == nil {
		b := side(later, nil)
		return compare.Diff(nil, b, namesOf(syntaxOf(b)))
	}
	a := side(original, nil)
	b := side(later, []*compare.Interchange{a})
	return compare.Diff(a, b, namesOf(syntaxOf(a, b)))
}
