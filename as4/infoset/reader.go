package infoset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Reader reads the items of one document, holding no more of it than a window, the
// names of the open elements and the namespaces in scope.
type Reader struct {
	in     io.Reader
	limits Limits

	window     [32 << 10]byte
	from, to   int   // what of the window is not consumed yet
	before     int64 // bytes of the document before the window
	lines      int   // line ends before the window
	failed     error // what ended the input or the reading
	begun      bool  // the byte order mark and the XML declaration are behind
	rootOpened bool
	endPending bool   // an empty-element tag was read: its End comes next
	inSection  bool   // a CDATA section goes on
	encoding   string // that it is decoded from; "" is UTF-8
	items      int64

	open     []opened
	bindings []binding
	attrs    []Attribute
	spent    int    // bytes of this element's attribute values
	text     []byte // of the item that was given last
	scratch  []byte
	seen     map[Name]struct{}
	interned map[string]string
}

// opened is an element that is open.
type opened struct {
	prefix, local string
	bindings      int // how many namespaces were in scope outside it
}

// NewReader reads a document from r. It reads ahead.
func NewReader(r io.Reader, limits Limits) *Reader {
	return &Reader{in: r, limits: limits.orHeader(), seen: map[Name]struct{}{}, interned: map[string]string{}}
}

// Next gives the next item; io.EOF after the document. Other errors are
// *SyntaxError, or those of the underlying reader, and stay.
func (r *Reader) Next() (Item, error) {
	if !r.begun {
		if err := r.begin(); err != nil {
			return Item{}, r.stay(err)
		}
		r.begun = true
	}
	item, err := r.next()
	return item, r.stay(err)
}

func (r *Reader) stay(err error) error {
	if err != nil {
		r.failed, r.from, r.to = err, 0, 0
	}
	return err
}

func (r *Reader) next() (Item, error) {
	if r.endPending {
		r.endPending = false
		return r.end(), nil
	}
	if r.inSection {
		if item, err := r.section(); err != nil || item.Kind != 0 {
			return item, err
		}
	}
	for {
		if r.from == r.to && !r.more() {
			return Item{}, r.finish()
		}
		if r.window[r.from] != '<' {
			if err := r.characters(); err != nil {
				return Item{}, err
			}
			if len(r.text) > 0 && len(r.open) > 0 {
				return Item{Kind: Characters, Text: r.text}, nil
			}
			continue
		}
		if item, err := r.markup(); err != nil || item.Kind != 0 {
			return item, err
		}
	}
}

// markup reads what begins with '<'; no item for a CDATA section without text.
func (r *Reader) markup() (Item, error) {
	if r.to-r.from < 2 && !r.more() {
		return r.startTag()
	}
	switch r.window[r.from+1] {
	case '/':
		return r.endTag()
	case '?':
		return r.instruction()
	case '!':
	default:
		return r.startTag()
	}
	switch {
	case r.has("<!--"):
		return r.comment()
	case r.has("<![CDATA["):
		return r.cdata()
	case r.has("<!DOCTYPE"):
		return Item{}, r.fault("a document type declaration is not allowed")
	}
	return Item{}, r.fault("a markup declaration is not allowed")
}

// finish is the end of the input: of the document, if all of it was there.
func (r *Reader) finish() error {
	switch {
	case r.failed != io.EOF:
		return r.failed
	case len(r.open) > 0:
		return r.fault("the document ends within the element %s", r.open[len(r.open)-1].name())
	case !r.rootOpened:
		return r.fault("there is no element")
	}
	return io.EOF
}

func (o opened) name() string {
	if o.prefix == "" {
		return o.local
	}
	return o.prefix + ":" + o.local
}

// more reads on into the window, keeping what is not consumed; false at the end of
// the input or after an error, which r.failed says.
func (r *Reader) more() bool {
	if r.failed != nil {
		return false
	}
	if r.from > 0 {
		r.lines += bytes.Count(r.window[:r.from], []byte{'\n'})
		r.before += int64(r.from)
		r.to = copy(r.window[:], r.window[r.from:r.to])
		r.from = 0
	}
	for range 100 {
		n, err := r.in.Read(r.window[r.to:])
		r.to += n
		if r.before+int64(r.to) > r.limits.Bytes {
			r.failed = r.fault("the document is longer than %d bytes", r.limits.Bytes)
			return false
		}
		if m, ok := errors.AsType[*misencoded](err); ok {
			err = r.fault("%s", m.Error())
		}
		if err != nil {
			r.failed = err
		}
		if n > 0 || err != nil {
			return n > 0
		}
	}
	r.failed = io.ErrNoProgress
	return false
}

// peek gives the next byte without consuming it; what says within what the document
// would end.
func (r *Reader) peek(what string) (byte, error) {
	if r.from < r.to || r.more() {
		return r.window[r.from], nil
	}
	return 0, r.cut(what)
}

// has tells whether the input goes on with literal, without consuming it.
func (r *Reader) has(literal string) bool {
	for r.to-r.from < len(literal) {
		if !r.more() {
			return false
		}
	}
	return string(r.window[r.from:r.from+len(literal)]) == literal
}

// take consumes literal if the input goes on with it.
func (r *Reader) take(literal string) bool {
	if !r.has(literal) {
		return false
	}
	r.from += len(literal)
	return true
}

// cut is the error for input that ends too early.
func (r *Reader) cut(within string) error {
	if r.failed != nil && r.failed != io.EOF {
		return r.failed
	}
	return r.fault("the document ends within %s", within)
}

// fault is a syntax error at the byte that comes next.
func (r *Reader) fault(format string, a ...any) error {
	return &SyntaxError{
		Offset: r.before + int64(r.from),
		Line:   1 + r.lines + bytes.Count(r.window[:r.from], []byte{'\n'}),
		What:   fmt.Sprintf(format, a...),
	}
}

// count is one item more.
func (r *Reader) count(n int) error {
	if r.items += int64(n); r.items > r.limits.Items {
		return r.fault("the document has more than %d elements, attributes, comments and sections", r.limits.Items)
	}
	return nil
}
