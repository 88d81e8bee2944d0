package compare

import (
	"strconv"
	"strings"
	"unicode"
)

// maxText bounds a written segment: a view, not evidence.
const maxText = 4096

// Write gives s with the default delimiters of its syntax and without the
// terminator, for people to read: MOA+77:1670.76, IT1*1*10*EA*9.588. Data is
// not made safe for a terminal here, see Clean.
func (s *Segment) Write(syntax string) string {
	element, component, repetition := byte('+'), byte(':'), byte('*')
	if syntax == "x12" {
		element, component, repetition = '*', '>', '^'
	}
	var b strings.Builder
	b.WriteString(s.Tag)
	at := Value{Element: 0}
	for i := range s.Values {
		v := &s.Values[i]
		if v.Element != at.Element {
			repeat(&b, element, int(v.Element-at.Element))
			at = Value{Element: v.Element, Repetition: 1, Component: 1}
		}
		if v.Repetition != at.Repetition {
			repeat(&b, repetition, int(v.Repetition-at.Repetition))
			at.Repetition, at.Component = v.Repetition, 1
		}
		repeat(&b, component, int(v.Component-at.Component))
		at.Component = v.Component
		if b.Len() > maxText {
			break
		}
		release(&b, syntax, v.Text)
	}
	if t := b.String(); len(t) > maxText {
		return strings.ToValidUTF8(t[:maxText], "") + "…"
	}
	return b.String()
}

func repeat(b *strings.Builder, c byte, n int) {
	for ; n > 0 && b.Len() <= maxText; n-- {
		b.WriteByte(c)
	}
}

func release(b *strings.Builder, syntax, text string) {
	if syntax == "x12" || !strings.ContainsAny(text, "+:'?") {
		b.WriteString(text)
		return
	}
	for i := range len(text) {
		switch text[i] {
		case '+', ':', '\'', '?':
			b.WriteByte('?')
		}
		b.WriteByte(text[i])
	}
}

// Clean makes data safe to show: what does not print, escape sequences of
// terminals and marks that turn the direction of writing, is written as \u….
func Clean(s string) string {
	safe := true
	for _, r := range s {
		if !unicode.IsPrint(r) {
			safe = false
			break
		}
	}
	if safe {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRuneToASCII(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}
