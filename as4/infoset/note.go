package infoset

import "strings"

// begin reads the byte order mark and the XML declaration: XML 1.0 §2.8, §4.3.3.
func (r *Reader) begin() error {
	if err := r.sniff(); err != nil {
		return err
	}
	if !r.has("<?xml ") && !r.has("<?xml\t") && !r.has("<?xml\n") && !r.has("<?xml\r") {
		return nil
	}
	r.from += len("<?xml")
	if err := r.note("the XML declaration", "?>"); err != nil {
		return err
	}
	return r.declaration(string(r.text))
}

// declaration holds the pseudo-attributes of the XML declaration against the one
// that is read here: version 1.0, then the encoding, then standalone.
func (r *Reader) declaration(text string) error {
	rest, encoding := text, ""
	for i, key := range []string{"version", "encoding", "standalone"} {
		trimmed := strings.TrimLeft(rest, " \t\n")
		value, after, ok := pseudo(trimmed, key)
		if !ok {
			if i == 0 {
				return r.fault("the XML declaration names no version")
			}
			continue
		}
		if trimmed == rest {
			return r.fault("white space is missing before %s in the XML declaration", key)
		}
		rest = after
		switch {
		case key == "version" && value != "1.0":
			return r.fault("XML version %q is not read, only 1.0", value)
		case key == "encoding":
			encoding = value
		case key == "standalone" && value != "yes" && value != "no":
			return r.fault("standalone is %q in the XML declaration, not yes or no", value)
		}
	}
	if strings.Trim(rest, " \t\n") != "" {
		return r.fault("the XML declaration holds %q", rest)
	}
	if encoding == "" {
		return nil
	}
	return r.declared(encoding)
}

// pseudo cuts key = "value" off the front of text.
func pseudo(text, key string) (value, after string, ok bool) {
	rest, found := strings.CutPrefix(text, key)
	rest, equals := strings.CutPrefix(strings.TrimLeft(rest, " \t\n"), "=")
	rest = strings.TrimLeft(rest, " \t\n")
	if !found || !equals || rest == "" || rest[0] != '"' && rest[0] != '\'' {
		return "", "", false
	}
	return strings.Cut(rest[1:], rest[:1])
}

// note reads up to a terminator into r.text, without it.
func (r *Reader) note(what, terminator string) error {
	r.text = r.text[:0]
	for !r.take(terminator) {
		b, err := r.peek(what)
		switch {
		case err != nil:
			return err
		case b == '\r':
			r.lineEnd()
		case b == terminator[0] || classes[b] == special:
			r.text = append(r.text, b)
			r.from++
		default:
			_, size, err := r.rune(what)
			if err != nil {
				return err
			}
			r.text = append(r.text, r.window[r.from:r.from+size]...)
			r.from += size
		}
		if len(r.text) > r.limits.Notes {
			return r.fault("%s is longer than %d bytes", what, r.limits.Notes)
		}
	}
	return nil
}

// comment is XML 1.0 §2.5.
func (r *Reader) comment() (Item, error) {
	if err := r.count(1); err != nil {
		return Item{}, err
	}
	r.from += len("<!--")
	if err := r.note("a comment", "--"); err != nil {
		return Item{}, err
	}
	if !r.take(">") {
		return Item{}, r.fault("-- is not allowed within a comment")
	}
	return Item{Kind: Comment, Text: r.text}, nil
}

// instruction is XML 1.0 §2.6; its target has no colon (Namespaces §7).
func (r *Reader) instruction() (Item, error) {
	if !r.limits.Instructions {
		return Item{}, r.fault("a processing instruction is not allowed")
	}
	if err := r.count(1); err != nil {
		return Item{}, err
	}
	r.from += len("<?")
	target, err := r.ncname("a processing instruction")
	if err != nil {
		return Item{}, err
	}
	if strings.EqualFold(target, "xml") {
		return Item{}, r.fault("an XML declaration stands at the start of a document, nowhere else")
	}
	if !r.space() && !r.has("?>") {
		return Item{}, r.fault("white space is expected after the target of a processing instruction")
	}
	if err := r.note("a processing instruction", "?>"); err != nil {
		return Item{}, err
	}
	return Item{Kind: Instruction, Local: target, Text: r.text}, nil
}
