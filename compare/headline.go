package compare

import (
	"fmt"
	"strings"
)

// maxTold is how many messages or envelope elements a headline names.
const maxTold = 3

// words is the line of the whole result.
func (r *Result) words(a, b *Interchange) string {
	line := ""
	switch r.Class {
	case "":
		line = "no difference"
	case Formatting:
		line = "same segments: " + strings.Join(r.Formatting, ", ")
		if len(r.Formatting) == 0 {
			line += "line breaks, padding or empty elements"
		}
	case Envelope:
		line = "envelope only: " + r.envelopeWords()
	case DifferentDocument:
		line = "another document: " + about(a) + " → " + about(b)
	case Business:
		line = r.messageWords(max(len(a.Messages), len(b.Messages)))
	}
	if r.Partial != "" {
		line += " (" + r.Partial + ")"
	}
	return line
}

// envelopeWords: preparation time 1015 → 1345.
func (r *Result) envelopeWords() string {
	var parts []string
	told := map[string]bool{}
	for i := range r.Envelope {
		c := &r.Envelope[i]
		what := headerNames[headerPlace{c.Tag, c.Element, c.Component}]
		switch {
		case what == "" && c.ElementName != "":
			what = c.ElementName
		case what == "":
			what = c.Tag
		}
		part := what + " " + string(c.Kind)
		switch {
		case c.Kind == Changed:
			part = fmt.Sprintf("%s %s → %s", what, quoteNone(short(c.Before)), quoteNone(short(c.After)))
		case c.Kind == Moved:
			part = "order of messages"
		}
		if told[part] { // UNH and UNT say the same
			continue
		}
		told[part] = true
		parts = append(parts, part)
	}
	return some(parts)
}

// messageWords: the words of the one message, or 2 of 40 messages: RG-3 ….
func (r *Result) messageWords(of int) string {
	if of <= 1 && len(r.Messages) == 1 {
		return r.Messages[0].Headline
	}
	var parts []string
	for i := range r.Messages {
		m := &r.Messages[i]
		name := m.Number
		if name == "" {
			name = m.Reference
		}
		if m.BeforeNumber != "" {
			name = m.BeforeNumber + " → " + name
		}
		parts = append(parts, short(name)+" "+m.Headline)
	}
	return fmt.Sprintf("%d of %d messages: %s", len(r.Messages), of, some(parts))
}

// some joins the first parts and counts the rest.
func some(parts []string) string {
	if n := len(parts) - maxTold; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(parts[:maxTold], "; "), n)
	}
	return strings.Join(parts, "; ")
}

// about names what an interchange holds and between whom.
func about(ic *Interchange) string {
	what := "no message"
	if len(ic.Messages) > 0 {
		m := &ic.Messages[0]
		what = strings.TrimSpace(short(m.Type.Type) + " " + short(m.Number))
		if n := len(ic.Messages) - 1; n > 0 {
			what += fmt.Sprintf(" and %d more", n)
		}
	}
	return fmt.Sprintf("%s from %s to %s", what, quoteNone(short(ic.Envelope.Sender.ID)), quoteNone(short(ic.Envelope.Recipient.ID)))
}
