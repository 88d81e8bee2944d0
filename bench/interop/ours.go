package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/edigw/edigw/bench/peers"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/edifact"
	"github.com/edigw/edigw/x12"
)

// acknowledged is our answer to the interchanges of a text.
type acknowledged struct {
	kind string
	text []byte
}

// read reads text as the gateway does and acknowledges it.
func (r *run) read(syntax string, text []byte, structure edi.Structure) (a peers.Answer, acks []acknowledged, err error) {
	p := edi.Bytes(text)
	a.Read = true
	check := r.tables.Checker(edi.Tolerance{Structure: structure})
	e, x := edifact.Reader{Check: check}, x12.Reader{Check: check}
	split, scan, acknowledge := e.Split, e.Scan, edifact.Acknowledge
	if syntax == "x12" {
		split, scan, acknowledge = x.Split, x.Scan, x12.Acknowledge
	}
	for from := int64(0); from < p.Size(); {
		ic, err := split(p, from)
		var fault *edi.Error
		switch {
		case errors.Is(err, io.EOF):
			return a, acks, nil
		case errors.As(err, &fault):
			return peers.Answer{Reason: fault.Error()}, acks, nil
		case err != nil:
			return a, acks, err
		}
		if err := scan(p, ic, func(int, *edi.Body) error { return nil }); err != nil {
			return a, acks, err
		}
		a.Segments += ic.Segments
		refuse := func(list []*edi.Error) {
			for _, e := range list {
				if e.Severity >= edi.SeverityError && a.Read {
					a.Read, a.Reason = false, e.Error()
				}
			}
		}
		refuse(ic.Errors)
		for i := range ic.Groups {
			refuse(ic.Groups[i].Errors)
		}
		answer := edi.Acknowledgement{Reference: "1", Prepared: time.Date(2026, 11, 28, 9, 15, 0, 0, time.UTC), Action: edi.ActionAcknowledged}
		if edi.Worst(ic.Errors) >= edi.SeverityError {
			answer.Action, answer.Errors = edi.ActionRejected, ic.Errors
		}
		for i := range ic.Messages {
			refuse(ic.MessageErrors[i])
			m := edi.MessageAnswer{Index: i, Action: edi.ActionAcknowledged, Errors: ic.MessageErrors[i]}
			if ic.Refused(i) {
				m.Action = edi.ActionRejected
			}
			answer.Messages = append(answer.Messages, m)
		}
		kind, ack, err := acknowledge(ic, answer)
		if err != nil {
			return a, acks, fmt.Errorf("acknowledge: %w", err)
		}
		if len(ack) > 0 {
			acks = append(acks, acknowledged{kind, ack})
		}
		if ic.Length <= 0 {
			return a, acks, fmt.Errorf("no progress at byte %d", from)
		}
		from = ic.Offset + ic.Length
	}
	return a, acks, nil
}
