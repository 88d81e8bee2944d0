package main

import (
	"fmt"
	"io"

	"github.com/edigw/edigw/edi"
)

// inspectJSON writes the answer of inspect as one JSON object, part by part.
type inspectJSON struct {
	w        io.Writer
	begun    bool // the object
	messages int  // of the interchange at hand
	answers  int  // likewise
	count    int  // of interchanges
}

func (j *inspectJSON) begin() error {
	if j.begun {
		return nil
	}
	j.begun = true
	_, err := io.WriteString(j.w, "{\n  \"interchanges\": [")
	return err
}

func (j *inspectJSON) interchange(ic *edi.Interchange, key string) error {
	if err := j.begin(); err != nil {
		return err
	}
	comma := ""
	if j.count > 0 {
		comma = ","
	}
	j.count++
	j.messages, j.answers = 0, 0
	if _, err := fmt.Fprintf(j.w, "%s\n    {", comma); err != nil {
		return err
	}
	for _, field := range []struct {
		name  string
		value any
	}{
		{"syntax", ic.Syntax},
		{"sender", party(ic.Sender)},
		{"recipient", party(ic.Recipient)},
		{"control_reference", ic.ControlReference},
		{"message_id", key},
		{"payload_sha256", digestText(ic.PayloadSHA256)},
		{"test", ic.Test},
	} {
		v, err := compact(field.value)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(j.w, "\n      %q: %s,", field.name, v); err != nil {
			return err
		}
	}
	_, err := io.WriteString(j.w, "\n      \"messages\": [")
	return err
}

func (j *inspectJSON) message(m inspectedMessage) error {
	v, err := compact(m)
	if err != nil {
		return err
	}
	comma := ""
	if j.messages > 0 {
		comma = ","
	}
	j.messages++
	_, err = fmt.Fprintf(j.w, "%s\n        %s", comma, v)
	return err
}

// answer begins a list behind the messages with the first one.
func (j *inspectJSON) answer(a edi.Answer) error {
	v, err := compact(a)
	if err != nil {
		return err
	}
	before := ","
	if j.answers == 0 {
		before = j.line() + "],\n      \"answers\": ["
	}
	j.answers++
	_, err = fmt.Fprintf(j.w, "%s\n        %s", before, v)
	return err
}

// line is what stands before the end of the list at hand.
func (j *inspectJSON) line() string {
	if j.messages+j.answers > 0 {
		return "\n      "
	}
	return ""
}

// end writes what is known only when all of the interchange was read.
func (j *inspectJSON) end(ic *edi.Interchange) error {
	_, err := fmt.Fprintf(j.w, "%s],\n      \"content_sha256\": %q\n    }", j.line(), digestText(ic.ContentSHA256))
	return err
}

func (j *inspectJSON) findings(list []finding, _, omitted int) error {
	if err := j.begin(); err != nil {
		return err
	}
	line := ""
	if j.count > 0 {
		line = "\n  "
	}
	if _, err := fmt.Fprintf(j.w, "%s],\n  \"findings\": [", line); err != nil {
		return err
	}
	for i, f := range list {
		v, err := compact(f)
		if err != nil {
			return err
		}
		comma := ","
		if i == 0 {
			comma = ""
		}
		if _, err := fmt.Fprintf(j.w, "%s\n    %s", comma, v); err != nil {
			return err
		}
	}
	line = ""
	if len(list) > 0 {
		line = "\n  "
	}
	if _, err := fmt.Fprintf(j.w, "%s]", line); err != nil {
		return err
	}
	if omitted > 0 {
		if _, err := fmt.Fprintf(j.w, ",\n  \"findings_omitted\": %d", omitted); err != nil {
			return err
		}
	}
	_, err := io.WriteString(j.w, "\n}\n")
	return err
}
