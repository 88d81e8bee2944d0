package compare

import (
	"slices"

	"github.com/edigw/edigw/edi"
)

// Result is all that differs between an original and what came later. Its JSON
// names are part of the API.
type Result struct {
	Class      Class           `json:"class"`
	Severity   Severity        `json:"severity"`
	Headline   string          `json:"words"`
	Identical  bool            `json:"identical"`            // the bytes are equal
	Fault      string          `json:"fault,omitempty"`      // why a side cannot be read
	Partial    string          `json:"partial,omitempty"`    // what was compared by digest only
	Formatting []string        `json:"formatting,omitempty"` // how the writing differs
	Envelope   []Change        `json:"envelope,omitempty"`
	Messages   []MessageResult `json:"messages,omitempty"` // those that differ
	Counts     Counts          `json:"counts"`

	critical bool
	syntax   string
}

// Words is one line for a list: what changed, the gravest first.
func (r *Result) Words() string { return r.Headline }

// WithoutValues gives r for those who may not see what stands in the payloads:
// class, severity, words and counts, and of each change what it is and where.
func (r *Result) WithoutValues() *Result {
	out := *r
	out.Envelope = places(r.Envelope)
	out.Messages = slices.Clone(r.Messages)
	for i := range out.Messages {
		out.Messages[i].Changes = places(r.Messages[i].Changes)
		out.Messages[i].Rows = nil
	}
	return &out
}

func places(changes []Change) []Change {
	out := slices.Clone(changes)
	for i := range out {
		c := &out[i]
		c.Item, c.Before, c.After, c.BeforeText, c.AfterText = "", "", "", "", ""
		c.BeforeSegment, c.AfterSegment = c.BeforeSegment.place(), c.AfterSegment.place()
		c.Content = slices.Clone(c.Content)
		for j := range c.Content {
			c.Content[j].Text = ""
		}
	}
	return out
}

func (s *SegmentText) place() *SegmentText {
	if s == nil {
		return nil
	}
	return &SegmentText{Location: s.Location}
}

// Counts sums up a Result.
type Counts struct {
	MessagesEqual   int           `json:"messages_equal"`
	MessagesChanged int           `json:"messages_changed"`
	MessagesAdded   int           `json:"messages_added"`
	MessagesRemoved int           `json:"messages_removed"`
	SegmentsEqual   int           `json:"segments_equal"`
	SegmentsChanged int           `json:"segments_changed"`
	SegmentsAdded   int           `json:"segments_added"`
	SegmentsRemoved int           `json:"segments_removed"`
	Facets          map[Facet]int `json:"facets,omitempty"`           // segments, or whole lines, that touch each
	ChangesLeftOut  int           `json:"changes_left_out,omitempty"` // counted and classified, not listed
}

// Kind is what happened to a segment, a line or a message.
type Kind string

// The kinds of a change.
const (
	Added   Kind = "added"
	Removed Kind = "removed"
	Changed Kind = "changed"
	Moved   Kind = "moved" // a line with the same content at another place
)

// MessageResult is one message that differs.
type MessageResult struct {
	Kind            Kind     `json:"kind"`
	Type            string   `json:"type"`
	Reference       string   `json:"reference"`
	Number          string   `json:"number,omitempty"` // of the document
	BeforeType      string   `json:"before_type,omitempty"`
	BeforeReference string   `json:"before_reference,omitempty"`
	BeforeNumber    string   `json:"before_number,omitempty"` // these three only where they differ
	Headline        string   `json:"words"`
	Note            string   `json:"note,omitempty"`
	Changes         []Change `json:"changes,omitempty"`

	// Rows are all segments of both sides as aligned, equal ones included, for
	// a view side by side.
	Rows []Row `json:"-"`
}

// Row is one line of a view side by side: a nil side has nothing there.
type Row struct {
	Kind Kind // "" where both are equal
	A, B *Segment
}

// Change is one element that changed, or one segment, group or line that was
// added, removed or moved as a whole.
type Change struct {
	Kind  Kind   `json:"kind"`
	Facet Facet  `json:"facet"`
	Tag   string `json:"tag"`
	Name  string `json:"name,omitempty"` // of the segment

	Package string `json:"package,omitempty"` // number of the package or level it stands in
	Line    string `json:"line,omitempty"`    // number of the line it stands in, b's where both have one
	Item    string `json:"item,omitempty"`    // of an added, removed or moved line
	Group   string `json:"group,omitempty"`   // segment group: NAD+PE

	Element     int    `json:"element,omitempty"` // from 1; zero for a whole segment
	Component   int    `json:"component,omitempty"`
	Repetition  int    `json:"repetition,omitempty"`
	ElementName string `json:"element_name,omitempty"`
	Qualifier   string `json:"qualifier,omitempty"` // what the segment's qualifier means

	Before     string `json:"before,omitempty"`
	After      string `json:"after,omitempty"`
	BeforeText string `json:"before_text,omitempty"` // of a code
	AfterText  string `json:"after_text,omitempty"`
	SameValue  bool   `json:"same_value,omitempty"` // 10.0 and 10.00: written differently, worth the same

	BeforeSegment *SegmentText  `json:"before_segment,omitempty"`
	AfterSegment  *SegmentText  `json:"after_segment,omitempty"`
	Segments      int           `json:"segments,omitempty"` // how many were added, removed or moved
	Content       []SegmentText `json:"content,omitempty"`  // these, up to maxContent
}

// SegmentText is a segment as written with the default delimiters of its
// syntax, and where it stands in its payload.
type SegmentText struct {
	Text     string       `json:"text"`
	Location edi.Location `json:"location"`
}

// Names put segments, elements and codes into words: edifact.SegmentName,
// ElementName and CodeText, or x12's. A nil func gives none.
type Names struct {
	Segment func(tag string) string
	// Element names an element or component.
	Element func(tag string, element, component int) string
	// Code gives the text of a code in that place, "" if it is none.
	Code func(tag string, element, component int, value string) string
}

func (n Names) segment(tag string) string {
	if n.Segment == nil {
		return ""
	}
	return n.Segment(tag)
}

func (n Names) element(tag string, element, component int) string {
	if n.Element == nil {
		return ""
	}
	return n.Element(tag, element, component)
}

func (n Names) code(tag string, element, component int, value string) string {
	if n.Code == nil || value == "" {
		return ""
	}
	return n.Code(tag, element, component, value)
}
