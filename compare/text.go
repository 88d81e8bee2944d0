package compare

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Layout is how Text shows changes.
type Layout int

// Unified has before above after; SideBySide has them in two columns, with
// equal segments counted between.
const (
	Unified Layout = iota
	SideBySide
)

// columnWidth is the most characters of one column side by side.
const columnWidth = 58

// Text writes the result for a terminal, in colour if asked for. Data is made
// safe to show. The only errors are those of w.
func (r *Result) Text(w io.Writer, layout Layout, color bool) error {
	p := printer{w: bufio.NewWriter(w), color: color}
	if r.Class == "" {
		p.line(bold, r.Headline)
	} else {
		p.line(bold, fmt.Sprintf("%s (%s): %s", strings.ReplaceAll(string(r.Class), "_", " "), r.Severity, r.Headline))
	}
	for _, note := range r.Formatting {
		p.line(plain, "  "+note)
	}
	if len(r.Envelope) > 0 {
		p.line(bold, "envelope")
		p.changes(r.Envelope)
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		p.line(bold, m.title())
		if m.Note != "" {
			p.line(faint, "  "+m.Note)
		}
		if layout == SideBySide && len(m.Rows) > 0 {
			p.columns(r.syntax, m.Rows)
		} else {
			p.changes(m.Changes)
		}
	}
	if n := r.Counts; r.Class != Unparseable && r.Class != OriginalPurged {
		p.line(faint, fmt.Sprintf("%d messages equal, %d changed, %d added, %d removed; segments: %d equal, %d changed, %d added, %d removed",
			n.MessagesEqual, n.MessagesChanged, n.MessagesAdded, n.MessagesRemoved,
			n.SegmentsEqual, n.SegmentsChanged, n.SegmentsAdded, n.SegmentsRemoved))
		if n.ChangesLeftOut > 0 {
			p.line(faint, fmt.Sprintf("%d further changes are counted but not listed", n.ChangesLeftOut))
		}
	}
	return p.w.Flush()
}

func (m *MessageResult) title() string {
	t := Clean(m.Type)
	if m.Number != "" {
		t += " " + Clean(m.Number)
	}
	t += ", message " + Clean(m.Reference)
	if m.Headline != "" {
		t += ": " + m.Headline
	}
	return t
}

type style string

// SGR codes of ECMA-48 §8.3.117.
const (
	plain style = ""
	bold  style = "1"
	faint style = "2"
	red   style = "31"
	green style = "32"
)

type printer struct {
	w     *bufio.Writer
	color bool
}

// line writes one line; bufio keeps the first error for Flush.
func (p *printer) line(s style, text string) {
	p.part(s, text)
	_ = p.w.WriteByte('\n') // Flush reports it
}

func (p *printer) part(s style, text string) {
	if p.color && s != plain {
		text = "\x1b[" + string(s) + "m" + text + "\x1b[0m"
	}
	_, _ = p.w.WriteString(text) // Flush reports it
}

// changes writes them one under the other; those of one segment share it.
func (p *printer) changes(list []Change) {
	for i := 0; i < len(list); {
		c := &list[i]
		j := i + 1
		for j < len(list) && c.sameSegments(&list[j]) {
			j++
		}
		p.line(faint, "  "+c.where()+what(list[i:j]))
		switch {
		case c.Kind == Moved:
			p.line(plain, fmt.Sprintf("~ moved, %d segments", c.Segments))
		case len(c.Content) > 0:
			p.content(c)
		default:
			p.segment(red, "-", c.BeforeSegment)
			p.segment(green, "+", c.AfterSegment)
		}
		i = j
	}
}

func (c *Change) sameSegments(o *Change) bool {
	return c.Kind == Changed && o.Kind == Changed && c.BeforeSegment != nil && o.BeforeSegment != nil &&
		c.AfterSegment != nil && o.AfterSegment != nil &&
		c.BeforeSegment.Location == o.BeforeSegment.Location && c.AfterSegment.Location == o.AfterSegment.Location
}

// where: package 1, line 3, PRI+AAA Price details.
func (c *Change) where() string {
	var at []string
	if c.Package != "" {
		at = append(at, "package "+Clean(c.Package))
	}
	if c.Line != "" {
		line := "line " + Clean(c.Line)
		if c.Item != "" {
			line += " (" + short(c.Item) + ")"
		}
		at = append(at, line)
	}
	name := Clean(c.Tag)
	switch {
	case strings.HasPrefix(c.Group, c.Tag): // it opens the group
		name = Clean(c.Group)
	case c.Group != "":
		at = append(at, Clean(c.Group))
	}
	if c.Name != "" && c.Name != c.Tag {
		name += " " + Clean(c.Name)
	}
	if c.Qualifier != "" {
		name += " (" + Clean(c.Qualifier) + ")"
	}
	return strings.Join(append(at, name), ", ")
}

// what names the elements that changed.
func what(list []Change) string {
	var names []string
	for i := range list {
		c := &list[i]
		if c.Element == 0 {
			continue
		}
		n := c.ElementName
		if n == "" {
			n = fmt.Sprintf("element %d.%d", c.Element, c.Component)
		}
		if c.BeforeText != "" || c.AfterText != "" {
			n += fmt.Sprintf(" (%s → %s)", quoteNone(c.BeforeText), quoteNone(c.AfterText))
		}
		if c.SameValue {
			n += ", same value"
		}
		names = append(names, n)
	}
	if names == nil {
		return ""
	}
	return ": " + strings.Join(names, "; ")
}

func (p *printer) content(c *Change) {
	s, sign := green, "+"
	if c.Kind == Removed {
		s, sign = red, "-"
	}
	for i := range c.Content {
		p.segment(s, sign, &c.Content[i])
	}
	if n := c.Segments - len(c.Content); n > 0 {
		p.line(faint, fmt.Sprintf("  and %d more segments", n))
	}
}

func (p *printer) segment(s style, sign string, t *SegmentText) {
	if t == nil || t.Text == "" {
		return
	}
	p.line(s, fmt.Sprintf("%s %5d  %s", sign, t.Location.Segment, Clean(t.Text)))
}

// columns writes the rows that differ side by side, and counts equal ones.
func (p *printer) columns(syntax string, rows []Row) {
	equal := 0
	flush := func() {
		if equal > 0 {
			p.line(faint, "  … "+plural(equal, "segment", "segments")+" equal")
		}
		equal = 0
	}
	for _, r := range rows {
		if r.Kind == "" {
			equal++
			continue
		}
		flush()
		left, right := "", ""
		if r.A != nil {
			left = r.A.Write(syntax)
		}
		if r.B != nil {
			right = r.B.Write(syntax)
		}
		sign := map[Kind]string{Added: ">", Removed: "<", Changed: "|"}[r.Kind]
		p.column(left, right, sign)
	}
	flush()
}

// column writes one row, long segments on several lines.
func (p *printer) column(left, right, sign string) {
	l, r := []rune(Clean(left)), []rune(Clean(right))
	for first := true; first || len(l) > 0 || len(r) > 0; first = false {
		var a, b []rune
		a, l = l[:min(len(l), columnWidth)], l[min(len(l), columnWidth):]
		b, r = r[:min(len(r), columnWidth)], r[min(len(r), columnWidth):]
		p.part(red, string(a))
		p.part(plain, strings.Repeat(" ", columnWidth-utf8.RuneCountInString(string(a)))+" "+sign)
		if len(b) > 0 {
			p.part(plain, " ")
			p.part(green, string(b))
		}
		p.line(plain, "")
		sign = " "
	}
}
