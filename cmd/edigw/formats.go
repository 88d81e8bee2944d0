package main

import (
	"github.com/edigw/edigw/compare"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/edifact"
	"github.com/edigw/edigw/gateway"
)

// formats are the EDI syntaxes this program reads.
var formats = []gateway.Format{
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
		Acknowledge:         edifact.Acknowledge,
		AcknowledgementType: "CONTRL",
		NeverAcknowledged:   []string{"CONTRL"},
	},
}

func edifactReader(o gateway.Reading) edifact.Reader {
	return edifact.Reader{Tolerance: o.Tolerance, UnreliableMessageReferences: o.UnreliableMessageReferences}
}

// names put segments, elements and codes into words.
var names = compare.Names{Segment: edifact.SegmentName, Element: edifact.ElementName, Code: edifact.CodeText}
