package c14n

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/beevik/etree"

	"github.com/edigw/edigw/as4/infoset"
)

// Element writes e with all it holds, in the context of its ancestors: Canonical
// XML §2.4, Exclusive XML Canonicalization §3. Errors are of w, or a namespace that is
// relative (Canonical XML §1.3).
func (m Method) Element(w io.Writer, e *etree.Element) error {
	c := m.on(w)
	c.context(e.Parent())
	if err := c.tree(e); err != nil {
		return err
	}
	return c.out.Flush()
}

// Stream writes the document that r reads, as it is read. Errors are of r, of w, or
// as those of Element.
func (m Method) Stream(w io.Writer, r *infoset.Reader) error {
	c := m.on(w)
	c.outside = true
	for {
		item, err := r.Next()
		if err == io.EOF {
			return c.out.Flush()
		}
		if err != nil {
			return err
		}
		if err := c.item(item); err != nil {
			return err
		}
	}
}

// writer canonicalises one element or document.
type writer struct {
	Method
	out *bufio.Writer

	scope    []binding // declared by the open elements and their ancestors
	rendered []binding // written on the open elements
	open     []mark
	outside  bool // of the root: notes stand on lines of their own
	closed   bool // the root is behind

	apex       []infoset.Attribute // xml: attributes of the ancestors, for the first element of an inclusive method
	namespaces []binding           // of one element, to be written
	attributes []infoset.Attribute // of one element, to be written
	converted  []infoset.Attribute
}

type mark struct{ scope, rendered int }

func (m Method) on(w io.Writer) *writer {
	return &writer{Method: m, out: bufio.NewWriterSize(w, 4<<10)}
}

// context takes what is in scope at an element that is not written itself.
func (c *writer) context(e *etree.Element) {
	if e == nil {
		return
	}
	c.context(e.Parent())
	for i := range e.Attr {
		a := attribute(&e.Attr[i])
		if prefix, ok := a.Declares(); ok {
			c.scope = append(c.scope, binding{prefix, a.Value})
		} else if a.Prefix == "xml" && !c.exclusive {
			// Canonical XML §2.4: the nearest ancestor's goes for the others.
			c.apex = append(without(c.apex, a.Local), a)
		}
	}
}

func without(attributes []infoset.Attribute, local string) (rest []infoset.Attribute) {
	for _, a := range attributes {
		if a.Local != local {
			rest = append(rest, a)
		}
	}
	return rest
}

func attribute(a *etree.Attr) infoset.Attribute {
	return infoset.Attribute{Prefix: a.Space, Local: a.Key, Value: a.Value}
}

// tree writes an element of a tree.
func (c *writer) tree(e *etree.Element) error {
	c.converted = c.converted[:0]
	for i := range e.Attr {
		c.converted = append(c.converted, attribute(&e.Attr[i]))
	}
	if err := c.item(infoset.Item{Kind: infoset.Start, Prefix: e.Space, Local: e.Tag, Attributes: c.converted}); err != nil {
		return err
	}
	for _, child := range e.Child {
		var err error
		switch t := child.(type) {
		case *etree.Element:
			err = c.tree(t)
		case *etree.CharData:
			escape(c.out, t.Data, &textEscapes)
		case *etree.Comment:
			c.comment(t.Data)
		case *etree.ProcInst:
			c.instruction(t.Target, t.Inst)
		default:
			err = errors.New("a directive cannot be canonicalised")
		}
		if err != nil {
			return err
		}
	}
	return c.item(infoset.Item{Kind: infoset.End, Prefix: e.Space, Local: e.Tag})
}

// item writes one item.
func (c *writer) item(item infoset.Item) error {
	switch item.Kind {
	case infoset.Start:
		return c.start(item)
	case infoset.End:
		last := c.open[len(c.open)-1]
		c.open = c.open[:len(c.open)-1]
		c.scope, c.rendered = c.scope[:last.scope], c.rendered[:last.rendered]
		c.closed = len(c.open) == 0
		c.write("</")
		c.name(item.Prefix, item.Local)
		c.write(">")
	case infoset.Characters:
		escape(c.out, item.Text, &textEscapes)
	case infoset.Comment:
		c.comment(string(item.Text))
	case infoset.Instruction:
		c.instruction(item.Local, string(item.Text))
	}
	return nil
}

func (c *writer) start(item infoset.Item) error {
	outer := mark{len(c.scope), len(c.rendered)}
	for i := range item.Attributes {
		prefix, ok := item.Attributes[i].Declares()
		if !ok {
			continue
		}
		space := item.Attributes[i].Value
		if space != "" && !absolute(space) {
			return fmt.Errorf("the namespace %q is relative, which canonical XML does not take", space)
		}
		c.scope = append(c.scope, binding{prefix, space})
	}
	if err := c.collect(item, outer.scope); err != nil {
		return err
	}
	c.open = append(c.open, outer)
	c.write("<")
	c.name(item.Prefix, item.Local)
	for _, b := range c.namespaces {
		c.rendered = append(c.rendered, b)
		c.write(" xmlns")
		if b.prefix != "" {
			c.write(":")
			c.write(b.prefix)
		}
		c.quoted(b.space)
	}
	for i := range c.attributes {
		a := &c.attributes[i]
		c.write(" ")
		c.name(a.Prefix, a.Local)
		c.quoted(a.Value)
	}
	c.write(">")
	return nil
}

// absolute tells whether a URI has a scheme: RFC 3986 §3.1.
func absolute(uri string) bool {
	scheme, _, ok := strings.Cut(uri, ":")
	if !ok || scheme == "" {
		return false
	}
	for i, b := range []byte(scheme) {
		letter := b|0x20 >= 'a' && b|0x20 <= 'z'
		if !letter && (i == 0 || (b < '0' || b > '9') && b != '+' && b != '-' && b != '.') {
			return false
		}
	}
	return true
}

func (c *writer) comment(text string) {
	if c.comments {
		c.note("<!--", text, "-->")
	}
}

func (c *writer) instruction(target, text string) {
	if text != "" {
		target += " " + text
	}
	c.note("<?", target, "?>")
}

// note writes a comment or an instruction; outside the root on a line of its own
// before it, and after a line end behind it: Canonical XML §2.3.
func (c *writer) note(begin, text, end string) {
	outside := c.outside && len(c.open) == 0
	if outside && c.closed {
		c.write("\n")
	}
	c.write(begin)
	c.write(text)
	c.write(end)
	if outside && !c.closed {
		c.write("\n")
	}
}

func (c *writer) name(prefix, local string) {
	if prefix != "" {
		c.write(prefix)
		c.write(":")
	}
	c.write(local)
}

func (c *writer) quoted(value string) {
	c.write(`="`)
	escape(c.out, value, &valueEscapes)
	c.write(`"`)
}

// write keeps no error: the buffer does, and Flush says it.
func (c *writer) write(s string) {
	_, _ = c.out.WriteString(s) // Flush says it
}
