package infoset

// startTag reads a start tag or an empty-element tag: XML 1.0 §3.1.
func (r *Reader) startTag() (Item, error) {
	if len(r.open) == 0 && r.rootOpened {
		return Item{}, r.fault("a second root element follows the first")
	}
	if len(r.open) >= r.limits.Depth {
		return Item{}, r.fault("elements are nested more than %d deep", r.limits.Depth)
	}
	if err := r.count(1); err != nil {
		return Item{}, err
	}
	r.from++
	prefix, local, err := r.qname("an element")
	if err != nil {
		return Item{}, err
	}
	if err := r.attributes(); err != nil {
		return Item{}, err
	}
	outside := len(r.bindings)
	if err := r.bind(prefix); err != nil {
		return Item{}, err
	}
	r.open = append(r.open, opened{prefix, local, outside})
	r.rootOpened = true
	return Item{Kind: Start, Prefix: prefix, Local: local, Attributes: r.attrs}, nil
}

// attributes reads the attributes of a tag and its end.
func (r *Reader) attributes() error {
	r.attrs, r.spent = r.attrs[:0], 0
	for {
		apart := r.space()
		b, err := r.peek("a tag")
		switch {
		case err != nil:
			return err
		case b == '>':
			r.from++
			return nil
		case b == '/':
			if !r.take("/>") {
				return r.fault("/ is not followed by > in a tag")
			}
			r.endPending = true
			return nil
		case !apart:
			return r.fault("white space is expected before an attribute")
		case len(r.attrs) >= r.limits.Attributes:
			return r.fault("an element has more than %d attributes", r.limits.Attributes)
		}
		if err := r.attribute(); err != nil {
			return err
		}
	}
}

func (r *Reader) attribute() error {
	if err := r.count(1); err != nil {
		return err
	}
	prefix, local, err := r.qname("an attribute")
	if err != nil {
		return err
	}
	r.space()
	if !r.take("=") {
		return r.fault("= is expected after the name of an attribute")
	}
	r.space()
	quote, err := r.peek("an attribute")
	if err != nil {
		return err
	}
	if quote != '"' && quote != '\'' {
		return r.fault("the value of an attribute is not quoted")
	}
	r.from++
	value, err := r.value(quote)
	if err != nil {
		return err
	}
	r.attrs = append(r.attrs, Attribute{Prefix: prefix, Local: local, Value: value})
	return nil
}

// value reads an attribute value up to its quote, normalised: XML 1.0 §3.3.3. White
// space becomes a space, save what stands as a character reference.
func (r *Reader) value(quote byte) (string, error) {
	r.text = r.text[:0]
	for {
		b, err := r.peek("the value of an attribute")
		switch {
		case err != nil:
			return "", err
		case b == quote:
			r.from++
			r.spent += len(r.text)
			if len(r.text) <= 16 {
				return r.intern(r.text), nil
			}
			return string(r.text), nil
		case b == '<':
			return "", r.fault("< is not allowed in the value of an attribute")
		case b == '&':
			if r.text, err = r.reference(r.text); err != nil {
				return "", err
			}
		case isSpace(b):
			if !r.take("\r\n") { // one line end: §2.11 comes first
				r.from++
			}
			r.text = append(r.text, ' ')
		default:
			_, size, err := r.rune("the value of an attribute")
			if err != nil {
				return "", err
			}
			r.text = append(r.text, r.window[r.from:r.from+size]...)
			r.from += size
		}
		if r.spent+len(r.text) > r.limits.Values {
			return "", r.fault("the attributes of an element are longer than %d bytes", r.limits.Values)
		}
	}
}

// endTag reads an end tag: XML 1.0 §3.1.
func (r *Reader) endTag() (Item, error) {
	if len(r.open) == 0 {
		return Item{}, r.fault("an end tag stands outside the root element")
	}
	r.from += len("</")
	prefix, local, err := r.qname("an end tag")
	if err != nil {
		return Item{}, err
	}
	if o := r.open[len(r.open)-1]; o.prefix != prefix || o.local != local {
		return Item{}, r.fault("%s ends where %s is open", opened{prefix: prefix, local: local}.name(), o.name())
	}
	r.space()
	if !r.take(">") {
		return Item{}, r.fault("> is expected in the end tag of %s", local)
	}
	return r.end(), nil
}

// end closes the innermost element.
func (r *Reader) end() Item {
	o := r.open[len(r.open)-1]
	r.open = r.open[:len(r.open)-1]
	r.bindings = r.bindings[:o.bindings]
	return Item{Kind: End, Prefix: o.prefix, Local: o.local}
}
