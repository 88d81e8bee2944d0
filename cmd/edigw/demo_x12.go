package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// x12 shows the same in the other syntax: an 810 and an 856, and what their
// sender's system is told, TA1 and 997.
func (d *demo) x12() error {
	reference := d.run[len(d.run)-8:] // ISA13 is nine digits
	for i, sent := range []struct{ heading, file, class string }{
		{"5  " + demoX12 + " sends an invoice in X12, an 810, and asks for a TA1 by ISA14", "invoice.x12", "invoice"},
		{"6  And a despatch advice, an 856 in 005010, which asks for none", "despatch.x12", "despatch"},
	} {
		text, err := d.file(sent.file, reference+strconv.Itoa(i))
		if err != nil {
			return err
		}
		d.heading("%s", sent.heading)
		answer, err := d.send(demoX12, text)
		if err != nil {
			return err
		}
		segments, err := acknowledgement(answer.body)
		if err != nil {
			return err
		}
		for _, s := range segments {
			d.line("   told: %s", s)
		}
		told := strings.Join(segments, "\n")
		d.check(answer.status == http.StatusCreated && strings.Contains(told, "TA1*") == (i == 0) && strings.Contains(told, "AK9*A*1*1*1"),
			"201 first: the group and its transaction set are accepted")
		if err := d.documents(demoX12, sent.class, d.run); err != nil {
			return err
		}
	}
	return nil
}

// acknowledgement gives the segments of the functional acknowledgement in a
// receipt.
func acknowledgement(body []byte) ([]string, error) {
	var receipt struct {
		Interchanges []struct {
			Acknowledgement struct{ Content string }
		}
	}
	if err := json.Unmarshal(body, &receipt); err != nil {
		return nil, fmt.Errorf("the answer is no receipt: %w", err)
	}
	var segments []string
	for _, ic := range receipt.Interchanges {
		for s := range strings.SplitSeq(ic.Acknowledgement.Content, "~") {
			if s = strings.TrimSpace(s); s != "" {
				segments = append(segments, s)
			}
		}
	}
	return segments, nil
}
