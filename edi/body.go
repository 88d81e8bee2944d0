package edi

// Body is the parsed text of one message: its segments, UNH or ST first, UNT or
// SE last. It is a view of the raw bytes: a value is copied, released and
// decoded only when it is asked for. A Body handed to a visitor is valid until
// the visitor returns.
type Body struct {
	Segments []Segment
}
