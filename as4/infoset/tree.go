package infoset

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/beevik/etree"
)

// XMLNamespace is bound to the prefix xml: Namespaces in XML 1.0 §3.
const XMLNamespace = "http://www.w3.org/XML/1998/namespace"

// Name is an expanded name: Namespaces in XML 1.0 §2.1.
type Name struct{ Space, Local string }

func (n Name) String() string {
	if n.Space == "" {
		return n.Local
	}
	return "{" + n.Space + "}" + n.Local
}

// NameOf gives the expanded name of e.
func NameOf(e *etree.Element) Name { return Name{Namespace(e, e.Space), e.Tag} }

// Is tells whether e has the expanded name.
func Is(e *etree.Element, name Name) bool {
	return e.Tag == name.Local && Namespace(e, e.Space) == name.Space
}

// Namespace gives the namespace that prefix ("" is the default) is bound to at e;
// "" if to none.
func Namespace(e *etree.Element, prefix string) string {
	if prefix == "xml" {
		return XMLNamespace
	}
	for ; e != nil; e = e.Parent() {
		for i := range e.Attr {
			if bound, ok := declares(&e.Attr[i]); ok && bound == prefix {
				return e.Attr[i].Value
			}
		}
	}
	return ""
}

// declares gives the prefix that an attribute binds; false if it binds none.
func declares(a *etree.Attr) (prefix string, ok bool) {
	switch {
	case a.Space == "xmlns":
		return a.Key, true
	case a.Space == "" && a.Key == "xmlns":
		return "", true
	}
	return "", false
}

// Children gives the child elements of e with the expanded name; none of nil.
func Children(e *etree.Element, name Name) (found []*etree.Element) {
	if e == nil {
		return nil
	}
	for _, t := range e.Child {
		if c, ok := t.(*etree.Element); ok && Is(c, name) {
			found = append(found, c)
		}
	}
	return found
}

// Child gives the child element of e with the expanded name, nil if there is
// none, and an error if there are several.
func Child(e *etree.Element, name Name) (*etree.Element, error) {
	switch found := Children(e, name); len(found) {
	case 0:
		return nil, nil
	case 1:
		return found[0], nil
	default:
		return nil, fmt.Errorf("%s holds %d elements %s, one is allowed", e.FullTag(), len(found), name)
	}
}

// Only gives the one child element of e with the expanded name; it is an error
// if there is none or more than one.
func Only(e *etree.Element, name Name) (*etree.Element, error) {
	c, err := Child(e, name)
	if err == nil && c == nil {
		err = fmt.Errorf("%s holds no element %s", e.FullTag(), name)
	}
	return c, err
}

// Attr gives the value of the attribute of e with the expanded name; one without
// a namespace has Space "".
func Attr(e *etree.Element, name Name) (value string, ok bool) {
	for i := range e.Attr {
		a := &e.Attr[i]
		if _, declaration := declares(a); declaration || a.Key != name.Local {
			continue
		}
		space := ""
		if a.Space != "" { // an attribute without prefix has no namespace: §6.2
			space = Namespace(e, a.Space)
		}
		if space == name.Space {
			return a.Value, true
		}
	}
	return "", false
}

// Text gives the whole text of e; comments count for nothing, and an element in it
// is an error. (etree's own Text ends at the first comment, so that who puts one in
// is read differently from what was signed.)
func Text(e *etree.Element) (string, error) {
	if len(e.Child) == 1 {
		if c, ok := e.Child[0].(*etree.CharData); ok {
			return c.Data, nil
		}
	}
	var b strings.Builder
	for _, t := range e.Child {
		switch t := t.(type) {
		case *etree.CharData:
			b.WriteString(t.Data)
		case *etree.Element:
			return "", fmt.Errorf("%s holds an element %s where text is expected", e.FullTag(), t.FullTag())
		}
	}
	return b.String(), nil
}

// Parse reads a document of bounded size into a tree. Every error is a
// *SyntaxError.
func Parse(text []byte, limits Limits) (*etree.Document, error) {
	r := NewReader(bytes.NewReader(text), limits)
	doc := etree.NewDocument()
	doc.WriteSettings = etree.WriteSettings{CanonicalText: true, CanonicalAttrVal: true}
	at := &doc.Element
	for {
		item, err := r.Next()
		if err == io.EOF {
			return doc, nil
		}
		if err != nil {
			return nil, err
		}
		at = grow(at, item)
	}
}

// grow adds one item to the tree and gives the element that is open after it.
func grow(at *etree.Element, item Item) *etree.Element {
	switch item.Kind {
	case Start:
		e := etree.NewElement(item.Local)
		e.Space = item.Prefix
		e.Attr = make([]etree.Attr, 0, len(item.Attributes))
		for _, a := range item.Attributes {
			key := a.Local
			if a.Prefix != "" {
				key = a.Prefix + ":" + a.Local
			}
			e.CreateAttr(key, a.Value)
		}
		at.AddChild(e)
		return e
	case End:
		return at.Parent()
	case Characters:
		if at.Parent() == nil {
			return at // white space beside the root is no item: Infoset §2.1
		}
		at.CreateText(string(item.Text))
	case Comment:
		at.CreateComment(string(item.Text))
	case Instruction:
		at.CreateProcInst(item.Local, string(item.Text))
	}
	return at
}
