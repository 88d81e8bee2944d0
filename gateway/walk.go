package gateway

import (
	"errors"
	"fmt"
	"io"

	"github.com/edigw/edigw/edi"
)

// maxInterchanges bounds the interchanges of one payload: in a delivery each is a
// key, a lock and a part of the receipt.
const maxInterchanges = 10_000

// ErrTooMany ends a Walk through a payload of more interchanges than are taken.
var ErrTooMany = errors.New("too many interchanges")

// Walk splits p into its interchanges, read as o says, and hands each over with its
// format. What stands there instead of one comes with the fault, and so does text
// that stands outside: that is an error by itself or where o refuses it, a warning
// beside interchanges, and a note if it only marks the end of a file. An error of do
// ends it and is returned as it is; any other but ErrTooMany is ours.
func Walk(p *edi.Payload, formats []Format, o Reading, do func(f *Format, ic *edi.Interchange, fault *edi.Error) error) error {
	return walkParts(p, nil, formats, o, do)
}

// walkParts is Walk through a payload whose parts end where ends says. No interchange
// goes over an end: what a part lacks is not taken from the next.
func walkParts(p *edi.Payload, ends []int64, formats []Format, o Reading, do func(f *Format, ic *edi.Interchange, fault *edi.Error) error) error {
	count, from := 0, int64(0)
	for _, end := range ends {
		if err := walk(p.Until(end), from, &count, formats, o, do); err != nil {
			return err
		}
		from = end
	}
	return walk(p, from, &count, formats, o, do)
}

func walk(p *edi.Payload, from int64, count *int, formats []Format, o Reading, do func(f *Format, ic *edi.Interchange, fault *edi.Error) error) error {
	for from < p.Size() {
		f, err := formatAt(p, formats, from)
		if err != nil {
			return err
		}
		ic, err := f.Split(p, from, o)
		if errors.Is(err, io.EOF) {
			return nil
		}
		var fault *edi.Error
		if err != nil && !errors.As(err, &fault) {
			return fmt.Errorf("split the payload: %w", err)
		}
		if ic == nil || ic.Offset+ic.Length <= from {
			return fmt.Errorf("split the payload: no progress at byte %d", from)
		}
		from = ic.Offset + ic.Length
		if fault != nil && fault.Outside() && (*count > 0 || from < p.Size()) {
			fault.Severity = outside(fault, o)
		}
		if fault == nil || fault.Severity >= edi.SeverityError {
			if *count == maxInterchanges {
				return ErrTooMany
			}
			*count++
		}
		if err := do(f, ic, fault); err != nil {
			return err
		}
	}
	return nil
}

// outside is how much text beside interchanges matters.
func outside(e *edi.Error, o Reading) edi.Severity {
	switch {
	case e.Code == edi.CodeEndMark:
		return edi.SeverityNote
	case o.RefuseSurroundedText:
		return edi.SeverityError
	}
	return edi.SeverityWarning
}

// TooMany says that a payload holds more interchanges than are taken.
func TooMany() *edi.Error {
	return &edi.Error{Code: "too-many-interchanges", Severity: edi.SeverityError,
		Text: fmt.Sprintf("The payload holds more than %d interchanges; send it in several.", maxInterchanges)}
}

// formatAt gives the format that leads at from; where none does, the first one
// says what stands there and how far it goes.
func formatAt(p *edi.Payload, formats []Format, from int64) (*Format, error) {
	head, err := p.Slice(from, min(4096, p.Size()-from))
	if err != nil {
		return nil, err
	}
	for i := range formats {
		if formats[i].Leads(head) {
			return &formats[i], nil
		}
	}
	return &formats[0], nil
}
