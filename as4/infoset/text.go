package infoset

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// chunk is how much text is given in one item, about.
const chunk = 16 << 10

// characters reads text up to the next markup, or a chunk of it, into r.text.
func (r *Reader) characters() error {
	r.text = r.text[:0]
	for len(r.text) < chunk && (r.from < r.to || r.more()) {
		switch b := r.window[r.from]; b {
		case '<':
			return r.beside()
		case '&':
			if len(r.open) == 0 {
				return r.beside('&')
			}
			var err error
			if r.text, err = r.reference(r.text); err != nil {
				return err
			}
		case '\r':
			r.lineEnd()
		case ']':
			if r.has("]]>") {
				return r.fault("]]> is not allowed in text")
			}
			r.text = append(r.text, ']')
			r.from++
		default:
			if err := r.run(); err != nil {
				return err
			}
		}
	}
	if r.from == r.to && r.failed != nil && len(r.open) > 0 {
		return r.finish()
	}
	return r.beside()
}

// beside is an error if there is text outside the root: XML 1.0 §2.8 has white
// space there.
func (r *Reader) beside(more ...byte) error {
	if len(r.open) > 0 || len(bytes.Trim(r.text, " \t\n")) == 0 && len(more) == 0 {
		return nil
	}
	if r.rootOpened {
		return r.fault("text follows the root element")
	}
	return r.fault("text stands before the root element")
}

// lineEnd reads CR or CRLF as LF: XML 1.0 §2.11.
func (r *Reader) lineEnd() {
	if !r.take("\r\n") {
		r.from++
	}
	r.text = append(r.text, '\n')
}

// run takes the characters up to the next special one.
func (r *Reader) run() error {
	i := r.from
	for i < r.to && classes[r.window[i]] == ordinary {
		i++
	}
	r.text = append(r.text, r.window[r.from:i]...)
	r.from = i
	if i == r.to {
		return nil
	}
	switch classes[r.window[i]] {
	case multibyte, forbidden:
		_, size, err := r.rune("text")
		if err != nil {
			return err
		}
		r.text = append(r.text, r.window[r.from:r.from+size]...)
		r.from += size
	}
	return nil
}

// reference reads a character reference or one of the five entities and appends
// what it stands for: XML 1.0 §4.1, §4.6.
func (r *Reader) reference(to []byte) ([]byte, error) {
	const longest = 16 // &#x0010FFFF; with zeros to spare
	r.from++
	for n := 1; n <= longest; n++ {
		for r.to-r.from < n {
			if !r.more() {
				return nil, r.cut("a reference")
			}
		}
		if b := r.window[r.from+n-1]; b == '#' || isName(rune(b)) {
			continue
		} else if b != ';' {
			return nil, r.fault("a reference does not end with ;")
		}
		name := r.window[r.from : r.from+n-1]
		c, ok := referred(name)
		if !ok {
			return nil, r.fault("the reference &%s; is not allowed: only &lt; &gt; &amp; &apos; &quot; and characters by number", name)
		}
		r.from += n
		return utf8.AppendRune(to, c), nil
	}
	return nil, r.fault("a reference is longer than %d bytes", longest)
}

// referred is what the reference &name; stands for.
func referred(name []byte) (rune, bool) {
	switch string(name) {
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "amp":
		return '&', true
	case "apos":
		return '\'', true
	case "quot":
		return '"', true
	}
	digits, base := "", 10
	switch {
	case len(name) > 2 && name[0] == '#' && name[1] == 'x':
		digits, base = string(name[2:]), 16
	case len(name) > 1 && name[0] == '#':
		digits = string(name[1:])
	}
	if digits == "" || digits[0] == '+' || digits[0] == '-' {
		return 0, false
	}
	c, err := strconv.ParseUint(digits, base, 32)
	if err != nil || c > 0x10FFFF || !isChar(rune(c)) {
		return 0, false
	}
	return rune(c), true
}

// cdata reads a CDATA section, or a chunk of it, as text: XML 1.0 §2.7.
func (r *Reader) cdata() (Item, error) {
	if len(r.open) == 0 {
		return Item{}, r.fault("a CDATA section stands outside the root element")
	}
	if err := r.count(1); err != nil {
		return Item{}, err
	}
	r.from += len("<![CDATA[")
	return r.section()
}

func (r *Reader) section() (Item, error) {
	r.text = r.text[:0]
	r.inSection = true
	for len(r.text) < chunk {
		b, err := r.peek("a CDATA section")
		switch {
		case err != nil:
			return Item{}, err
		case b == '\r':
			r.lineEnd()
		case b == ']' && r.take("]]>"):
			r.inSection = false
			if len(r.text) == 0 {
				return Item{}, nil
			}
			return Item{Kind: Characters, Text: r.text}, nil
		case classes[b] == special:
			r.text = append(r.text, b)
			r.from++
		default:
			if err := r.run(); err != nil {
				return Item{}, err
			}
		}
	}
	return Item{Kind: Characters, Text: r.text}, nil
}
