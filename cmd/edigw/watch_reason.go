package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// reasonInWords says what was wrong with a file, where, and what to do.
func reasonInWords(name string, s sent) string {
	var p struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Detail string `json:"detail"`
		Alert  string `json:"alert_id"`
		Errors []struct {
			Severity string `json:"severity"`
			Message  string `json:"message"`
			Location struct {
				Offset    int64  `json:"offset"`
				Segment   int    `json:"segment"`
				Tag       string `json:"tag"`
				Element   int    `json:"element"`
				Component int    `json:"component"`
			} `json:"location"`
			Reference string `json:"message_reference"`
		} `json:"errors"`
		Omitted int `json:"errors_omitted"`
	}
	var b strings.Builder
	if json.Unmarshal(s.Answer, &p) != nil || p.Title == "" {
		fmt.Fprintf(&b, "%s was not accepted: %s\n", name, s.Error)
		return printableLines(b.String())
	}
	fmt.Fprintf(&b, "%s was not accepted.\n\n%s\n", name, p.Title)
	if p.Detail != "" {
		fmt.Fprintf(&b, "%s\n", p.Detail)
	}
	for _, e := range p.Errors {
		fmt.Fprintf(&b, "\n- %s: %s\n  ", e.Severity, e.Message)
		if e.Reference != "" {
			fmt.Fprintf(&b, "message %s, ", e.Reference)
		}
		fmt.Fprintf(&b, "segment %d", e.Location.Segment)
		if e.Location.Tag != "" {
			fmt.Fprintf(&b, " (%s)", e.Location.Tag)
		}
		if e.Location.Element > 0 {
			fmt.Fprintf(&b, ", element %d", e.Location.Element)
		}
		if e.Location.Component > 0 {
			fmt.Fprintf(&b, ", component %d", e.Location.Component)
		}
		fmt.Fprintf(&b, ", byte %d\n", e.Location.Offset)
	}
	if p.Omitted > 0 {
		fmt.Fprintf(&b, "\n%d more are not listed.\n", p.Omitted)
	}
	if p.Alert != "" {
		fmt.Fprintf(&b, "\nThe receiver's operators have it before them as alert %s.\n", p.Alert)
	}
	fmt.Fprintf(&b, "\nStatus %d, %s\n", s.Status, p.Type)
	return printableLines(b.String())
}
