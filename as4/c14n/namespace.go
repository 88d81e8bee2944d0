package c14n

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/edigw/edigw/as4/infoset"
)

const xmlNamespace = infoset.XMLNamespace

// binding is a prefix, "" for the default, and the namespace it stands for.
type binding struct{ prefix, space string }

// lookup gives what a prefix is bound to in a list of which the last goes first.
func lookup(in []binding, prefix string) (space string, ok bool) {
	for i := len(in) - 1; i >= 0; i-- {
		if in[i].prefix == prefix {
			return in[i].space, true
		}
	}
	return "", false
}

// collect gathers the namespaces and attributes that an element is written with, in
// their order. scope is how many declarations its ancestors made.
func (c *writer) collect(item infoset.Item, scope int) error {
	c.namespaces, c.attributes = c.namespaces[:0], c.attributes[:0]
	first := len(c.open) == 0
	if _, declared := lookup(c.scope, item.Prefix); !declared && item.Prefix != "" && item.Prefix != "xml" {
		return fmt.Errorf("the prefix %q of the element %s is not declared", item.Prefix, item.Local)
	}
	for i := range item.Attributes {
		a := item.Attributes[i]
		if _, declaration := a.Declares(); !declaration {
			c.attributes = append(c.attributes, a)
		}
	}
	if c.exclusive {
		c.render(item.Prefix)
		for i := range c.attributes {
			if p := c.attributes[i].Prefix; p != "" {
				c.render(p)
			}
		}
		for _, p := range c.prefixes {
			c.render(p)
		}
	} else {
		if first {
			scope = 0
			c.inherit()
		}
		for i := len(c.scope) - 1; i >= scope; i-- {
			c.render(c.scope[i].prefix)
		}
	}
	for i := range c.attributes {
		a := &c.attributes[i]
		a.Space = ""
		switch {
		case a.Prefix == "xml":
			a.Space = xmlNamespace
		case a.Prefix != "":
			var ok bool
			if a.Space, ok = lookup(c.scope, a.Prefix); !ok {
				return fmt.Errorf("the prefix %q of an attribute is not declared", a.Prefix)
			}
		}
	}
	slices.SortFunc(c.namespaces, func(a, b binding) int { return cmp.Compare(a.prefix, b.prefix) })
	slices.SortFunc(c.attributes, func(a, b infoset.Attribute) int {
		return cmp.Or(cmp.Compare(a.Space, b.Space), cmp.Compare(a.Local, b.Local))
	})
	return nil
}

// render takes the declaration of a prefix among those to be written, if it is in
// scope and no open element was written with the same one.
func (c *writer) render(prefix string) {
	space, declared := lookup(c.scope, prefix)
	was, written := lookup(c.rendered, prefix)
	switch {
	case prefix == "xml":
		return // never written: Canonical XML §2.3
	case !declared && prefix != "":
		return
	case prefix == "" && !written && space == "":
		return // xmlns="" undoes nothing
	case written && was == space:
		return
	}
	for _, b := range c.namespaces {
		if b.prefix == prefix {
			return
		}
	}
	c.namespaces = append(c.namespaces, binding{prefix, space})
}

// inherit takes the xml: attributes of the ancestors that the element itself does
// not have: Canonical XML §2.4.
func (c *writer) inherit() {
	for _, a := range c.apex {
		own := slices.ContainsFunc(c.attributes, func(o infoset.Attribute) bool { return o.Prefix == "xml" && o.Local == a.Local })
		if !own {
			c.attributes = append(c.attributes, a)
		}
	}
}
