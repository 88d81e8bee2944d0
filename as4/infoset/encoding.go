package infoset

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/ianaindex"
)

// encoded is how the text of a document that is not UTF-8 becomes it: a decoder of one
// character from the beginning of b, which tells how many bytes it took; 0 bytes where
// more are needed, and no character where there is none.
type encoded func(b []byte) (c rune, size int, ok bool)

// utf16In reads UTF-16 in the byte order of unit: RFC 2781 §2.2.
func utf16In(unit func([]byte) rune) encoded {
	return func(b []byte) (rune, int, bool) {
		if len(b) < 2 {
			return 0, 0, false
		}
		c := unit(b)
		if !utf16.IsSurrogate(c) {
			return c, 2, true
		}
		if len(b) < 4 {
			return 0, 0, false
		}
		c = utf16.DecodeRune(c, unit(b[2:]))
		return c, 4, c != utf8.RuneError
	}
}

var (
	utf16BE = utf16In(func(b []byte) rune { return rune(b[0])<<8 | rune(b[1]) })
	utf16LE = utf16In(func(b []byte) rune { return rune(b[1])<<8 | rune(b[0]) })
)

// octets reads a character set of one byte each by its name at IANA; nil for another.
func octets(name string) encoded {
	e, err := ianaindex.IANA.Encoding(name)
	if err != nil {
		return nil
	}
	table, ok := e.(*charmap.Charmap)
	if !ok {
		return nil
	}
	return func(b []byte) (rune, int, bool) {
		if len(b) == 0 {
			return 0, 0, false
		}
		c := table.DecodeByte(b[0])
		return c, 1, c != utf8.RuneError
	}
}

// sniff finds out how a document that is not UTF-8 begins: XML 1.0 appendix F, without
// what is rarer than UTF-16. It takes a byte order mark.
func (r *Reader) sniff() error {
	if !r.limits.Encodings {
		for _, mark := range []string{"\xFE\xFF", "\xFF\xFE", "\x00<", "<\x00"} {
			if r.has(mark) {
				return r.fault("the document is not UTF-8")
			}
		}
	}
	for _, mark := range []string{"\xFF\xFE\x00\x00", "\x00\x00", "Lo\xA7\x94"} { // UTF-32, EBCDIC
		if r.has(mark) {
			return r.fault("the document is neither UTF-8 nor UTF-16, nor does it extend ASCII")
		}
	}
	switch {
	case r.take("\xFE\xFF"), r.has("\x00<"):
		r.recode("UTF-16BE", utf16BE)
	case r.take("\xFF\xFE"), r.has("<\x00"):
		r.recode("UTF-16LE", utf16LE)
	default:
		r.take("\xEF\xBB\xBF")
	}
	return nil
}

// declared takes the encoding that the XML declaration names: XML 1.0 §4.3.3. UTF-16 is
// known before it can be read.
func (r *Reader) declared(name string) error {
	upper := strings.ToUpper(name)
	switch {
	case r.encoding != "" && (upper == "UTF-16" || upper == r.encoding):
		return nil
	case r.encoding != "":
		return r.fault("the document is %s, and declares the encoding %q", r.encoding, name)
	case upper == "UTF-8", upper == "US-ASCII":
		return nil
	case strings.HasPrefix(upper, "UTF-16") && r.limits.Encodings:
		return r.fault("the encoding %q is declared, and the document does not begin as it would", name)
	case !r.limits.Encodings:
		return r.fault("the encoding %q is not read, only UTF-8", name)
	}
	decode := octets(name)
	if decode == nil {
		return r.fault("the encoding %q is not read, only UTF-8, UTF-16 and those of one byte a character", name)
	}
	r.recode(upper, decode)
	return nil
}

// recode has what follows read in another encoding.
func (r *Reader) recode(name string, decode encoded) {
	rest := bytes.Clone(r.window[r.from:r.to])
	r.before += int64(r.from)
	r.lines += bytes.Count(r.window[:r.from], []byte{'\n'})
	r.from, r.to, r.encoding = 0, 0, name
	r.in = &recoder{name: name, decode: decode, in: r.in, raw: rest, failed: r.failed}
	r.failed = nil
}

// recoder reads text as UTF-8.
type recoder struct {
	name   string
	decode encoded
	in     io.Reader
	raw    []byte // read, and not decoded yet
	failed error  // what ended the input
	made   []byte // decoded, and not given yet
}

// misencoded: the text is not in its encoding, which is fatal by XML 1.0 §4.3.3. To put
// something in its place would give two texts one digest.
type misencoded struct{ encoding string }

// Error says what it is not.
func (m *misencoded) Error() string { return fmt.Sprintf("the text is not %s", m.encoding) }

// Read implements io.Reader.
func (d *recoder) Read(p []byte) (int, error) {
	for len(d.made) == 0 {
		d.made = d.made[:0]
		c, size, ok := rune(0), 0, false
		for len(d.made) < len(p) {
			if c, size, ok = d.decode(d.raw); !ok {
				break
			}
			d.made, d.raw = utf8.AppendRune(d.made, c), d.raw[size:]
		}
		switch {
		case len(d.made) > 0 || len(p) == 0:
		case size > 0, d.failed == io.EOF && len(d.raw) > 0:
			return 0, &misencoded{d.name}
		case d.failed != nil:
			return 0, d.failed
		default:
			var more [4 << 10]byte
			n, err := d.in.Read(more[:])
			d.raw, d.failed = append(d.raw[:len(d.raw):len(d.raw)], more[:n]...), err
		}
	}
	n := copy(p, d.made)
	d.made = d.made[n:]
	return n, nil
}
