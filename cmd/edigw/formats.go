package main

import (
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/edifact"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/structure"
	"github.com/edigw/edigw/x12"
)

// formats are the EDI syntaxes this program reads; tables judge what stands in
// messages, nil nothing.
func formats(tables *structure.Tables) []gateway.Format {
	edifactReader := func(o gateway.Reading) edifact.Reader {
		return edifact.Reader{Tolerance: o.Tolerance, UnreliableMessageReferences: o.UnreliableMessageReferences, Undigested: o.Undigested, Check: tables.Checker(o.Tolerance)}
	}
	x12Reader := func(o gateway.Reading) x12.Reader {
		return x12.Reader{Tolerance: o.Tolerance, UnreliableMessageReferences: o.UnreliableMessageReferences, Undigested: o.Undigested, Check: tables.Checker(o.Tolerance)}
	}
	return []gateway.Format{
		{
			Name:  "edifact",
			Leads: edifact.Leads,
			Split: func(p *edi.Payload, from int64, o gateway.Reading) (*edi.Interchange, error) {
				return edifactReader(o).Split(p, from)
			},
			Scan: func(p *edi.Payload, ic *edi.Interchange, o gateway.Reading, visit func(int, *edi.Body) error) error {
				return edifactReader(o).Scan(p, ic, visit)
			},
			Again: func(p *edi.Payload, ic *edi.Interchange, o gateway.Reading) func(int) (*edi.Body, error) {
				return edifactReader(o).Again(p, ic)
			},
			Answers: func(p *edi.Payload, ic *edi.Interchange, o gateway.Reading, visit func(edi.Answer) error) error {
				return edifactReader(o).Answers(p, ic, visit)
			},
			Acknowledge:       edifact.Acknowledge,
			Advise:            edifact.Advise,
			NeverAcknowledged: []string{"CONTRL"},
		},
		{
			Name:  "x12",
			Leads: x12.Leads,
			Split: func(p *edi.Payload, from int64, o gateway.Reading) (*edi.Interchange, error) {
				return x12Reader(o).Split(p, from)
			},
			Scan: func(p *edi.Payload, ic *edi.Interchange, o gateway.Reading, visit func(int, *edi.Body) error) error {
				return x12Reader(o).Scan(p, ic, visit)
			},
			Again: func(p *edi.Payload, ic *edi.Interchange, o gateway.Reading) func(int) (*edi.Body, error) {
				return x12Reader(o).Again(p, ic)
			},
			Answers: func(p *edi.Payload, ic *edi.Interchange, o gateway.Reading, visit func(edi.Answer) error) error {
				return x12Reader(o).Answers(p, ic, visit)
			},
			Acknowledge: x12.Acknowledge, // it passes over 997 and 999 itself, and answers what stands beside them
			Advise:      x12.Advise,
		},
	}
}
