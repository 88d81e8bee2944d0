package infoset

const xmlnsNamespace = "http://www.w3.org/2000/xmlns/"

// binding is a prefix that is bound to a namespace; "" to "" undeclares the default.
type binding struct{ prefix, space string }

// bind brings the declarations of the tag into scope, and holds its names against
// Namespaces in XML 1.0: §3 (reserved), §5 (declared), §6.3 (unique).
func (r *Reader) bind(prefix string) error {
	for i := range r.attrs {
		if declared, ok := r.attrs[i].Declares(); ok {
			if err := r.declare(declared, r.attrs[i].Value); err != nil {
				return err
			}
		}
	}
	if prefix == "xmlns" {
		return r.fault("the prefix xmlns is not for elements")
	}
	if _, ok := r.resolve(prefix); !ok {
		return r.fault("the prefix %s is not declared", prefix)
	}
	clear(r.seen)
	for i := range r.attrs {
		a := &r.attrs[i]
		key := Name{xmlnsNamespace, a.Local}
		if _, declaration := a.Declares(); !declaration {
			if a.Prefix != "" { // an attribute without prefix has no namespace: §6.2
				var ok bool
				if a.Space, ok = r.resolve(a.Prefix); !ok {
					return r.fault("the prefix %s is not declared", a.Prefix)
				}
			}
			key.Space = a.Space
		} else if a.Prefix == "" {
			key.Local = "" // xmlns itself, which xmlns:xmlns could not be
		}
		if _, twice := r.seen[key]; twice {
			return r.fault("an element has the attribute %s twice", opened{prefix: a.Prefix, local: a.Local}.name())
		}
		r.seen[key] = struct{}{}
	}
	return nil
}

func (r *Reader) declare(prefix, space string) error {
	switch {
	case prefix == "xmlns":
		return r.fault("the prefix xmlns cannot be declared")
	case space == xmlnsNamespace:
		return r.fault("the namespace of xmlns cannot be bound to a prefix")
	case (prefix == "xml") != (space == XMLNamespace):
		return r.fault("the prefix xml and its namespace belong to each other alone")
	case prefix != "" && space == "":
		return r.fault("the prefix %s is declared without a namespace", prefix)
	case len(r.bindings) >= maxBindings:
		return r.fault("more than %d namespace declarations are in scope", maxBindings)
	}
	r.bindings = append(r.bindings, binding{prefix, space})
	return nil
}

// resolve gives the namespace of a prefix; false if it is not declared. The default
// may be undeclared, which is no namespace.
func (r *Reader) resolve(prefix string) (string, bool) {
	if prefix == "xml" {
		return XMLNamespace, true
	}
	for i := len(r.bindings) - 1; i >= 0; i-- {
		if r.bindings[i].prefix == prefix {
			return r.bindings[i].space, true
		}
	}
	return "", prefix == ""
}
