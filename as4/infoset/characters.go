package infoset

import "unicode/utf8"

// What a byte of text may be.
const (
	ordinary  = iota
	special   // < & CR ]: looked at
	forbidden // no Char: XML 1.0 §2.2
	multibyte // the first of several, or invalid
)

var classes = func() (c [256]byte) {
	for b := range c {
		switch {
		case b == '\t' || b == '\n':
		case b == '<' || b == '&' || b == '\r' || b == ']':
			c[b] = special
		case b < ' ':
			c[b] = forbidden
		case b >= utf8.RuneSelf:
			c[b] = multibyte
		}
	}
	return c
}()

// isChar is XML 1.0 §2.2 Char.
func isChar(c rune) bool {
	return c >= ' ' && c <= 0xD7FF || c == '\t' || c == '\n' || c == '\r' || c >= 0xE000 && c <= 0xFFFD || c >= 0x10000 && c <= utf8.MaxRune
}

// isNameStart is XML 1.0 §2.3 NameStartChar without the colon.
func isNameStart(c rune) bool {
	switch {
	case c < utf8.RuneSelf:
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
	case c < 0x2000:
		return c >= 0xC0 && c != 0xD7 && c != 0xF7 && (c < 0x300 || c >= 0x370) && c != 0x37E
	case c < 0x10000:
		return c == 0x200C || c == 0x200D || c >= 0x2070 && c <= 0x218F || c >= 0x2C00 && c <= 0x2FEF ||
			c >= 0x3001 && c <= 0xD7FF || c >= 0xF900 && c <= 0xFDCF || c >= 0xFDF0 && c <= 0xFFFD
	}
	return c <= 0xEFFFF
}

// isName is XML 1.0 §2.3 NameChar without the colon.
func isName(c rune) bool {
	return isNameStart(c) || c >= '0' && c <= '9' || c == '-' || c == '.' || c == 0xB7 ||
		c >= 0x300 && c <= 0x36F || c == 0x203F || c == 0x2040
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

// rune looks at the next character, which has to be a Char, and gives its length in
// bytes.
func (r *Reader) rune(within string) (c rune, size int, err error) {
	if r.from < r.to && r.window[r.from] >= ' ' && r.window[r.from] < utf8.RuneSelf {
		return rune(r.window[r.from]), 1, nil
	}
	for !utf8.FullRune(r.window[r.from:r.to]) {
		if !r.more() {
			if r.from < r.to {
				break // the input ends within a character
			}
			return 0, 0, r.cut(within)
		}
	}
	c, size = utf8.DecodeRune(r.window[r.from:r.to])
	if c == utf8.RuneError && size <= 1 {
		return 0, 0, r.fault("the byte %#02x is not UTF-8", r.window[r.from])
	}
	if !isChar(c) {
		return 0, 0, r.fault("the character %U is not allowed in XML", c)
	}
	return c, size, nil
}

// ncname reads a name without a colon: Namespaces in XML 1.0 §3 NCName.
func (r *Reader) ncname(of string) (string, error) {
	r.scratch = r.scratch[:0]
	for {
		c, size, err := r.rune(of)
		if err != nil {
			return "", err
		}
		if len(r.scratch) == 0 && !isNameStart(c) {
			return "", r.fault("a name is expected for %s, not %q", of, c)
		}
		if !isName(c) {
			return r.intern(r.scratch), nil
		}
		r.scratch = append(r.scratch, r.window[r.from:r.from+size]...)
		r.from += size
		if len(r.scratch) > r.limits.Names {
			return "", r.fault("a name is longer than %d bytes", r.limits.Names)
		}
	}
}

// intern gives the same string for the same name, of which a document has few.
func (r *Reader) intern(b []byte) string {
	if s, ok := r.interned[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(r.interned) < 512 {
		r.interned[s] = s
	}
	return s
}

// qname reads a name with or without a prefix: Namespaces in XML 1.0 §4 QName.
func (r *Reader) qname(of string) (prefix, local string, err error) {
	if local, err = r.ncname(of); err != nil {
		return "", "", err
	}
	if r.take(":") {
		prefix = local
		if local, err = r.ncname(of); err != nil {
			return "", "", err
		}
		if r.has(":") {
			return "", "", r.fault("the name %s:%s goes on with a second colon", prefix, local)
		}
	}
	return prefix, local, nil
}

// space consumes white space and tells whether there was any.
func (r *Reader) space() (any bool) {
	for (r.from < r.to || r.more()) && isSpace(r.window[r.from]) {
		r.from++
		any = true
	}
	return any
}
