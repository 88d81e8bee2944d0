package cms

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// attribute is one of a distinguished name: RFC 5280 §4.1.2.4.
type attribute struct {
	set   int // number of the RelativeDistinguishedName it stands in
	id    string
	value string
}

// A name has no more attributes and bytes; one that has is compared byte for byte
// alone.
const (
	mostAttributes = 64
	mostNameBytes  = 4 << 10
)

// sameName reports whether two Names are the same: byte for byte, or, since
// software that writes a name anew often picks other string types, by RFC 5280
// §7.1: case and runs of spaces do not count.
func sameName(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	left, right := attributes(a), attributes(b)
	return left != nil && slices.EqualFunc(left, right, func(x, y attribute) bool {
		return x.set == y.set && x.id == y.id && folded(x.value) == folded(y.value)
	})
}

func folded(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// attributes reads a Name; nil where it cannot be read. Those of one set are
// sorted.
func attributes(name []byte) (list []attribute) {
	r := newReader(name, partDepth)
	if len(name) > mostNameBytes || r.enter(tagSequence) != nil {
		return nil
	}
	list = []attribute{}
	for set := 0; r.more(); set++ {
		if r.enter(tagSet) != nil {
			return nil
		}
		from := len(list)
		for r.more() {
			if len(list) == mostAttributes || r.enter(tagSequence) != nil {
				return nil
			}
			id, err := r.primitive(tagOID)
			if err != nil {
				return nil
			}
			h, err := r.header()
			if err != nil {
				return nil
			}
			raw, err := r.skip()
			if err != nil || r.leave() != nil {
				return nil
			}
			value := string(raw)
			if !h.constructed {
				value = stringValue(h.tag, raw[h.size:])
			}
			list = append(list, attribute{set, string(id), value})
		}
		slices.SortFunc(list[from:], func(x, y attribute) int {
			return strings.Compare(x.id+"="+x.value, y.id+"="+y.value)
		})
		if r.leave() != nil {
			return nil
		}
	}
	return list
}

// stringValue gives what a string says in UTF-8: X.690 §8.23.
func stringValue(t tag, content []byte) string {
	switch t {
	case 0x1e: // BMPString
		units := make([]uint16, 0, len(content)/2)
		for ; len(content) > 1; content = content[2:] {
			units = append(units, uint16(content[0])<<8|uint16(content[1]))
		}
		return string(utf16.Decode(units))
	case 0x14: // TeletexString, taken as ISO 8859-1 as everybody does
		if !utf8.Valid(content) {
			runes := make([]rune, len(content))
			for i, b := range content {
				runes[i] = rune(b)
			}
			return string(runes)
		}
	}
	return string(content)
}

// nameText writes a Name for people: CN=ACME GmbH, C=DE.
func nameText(name []byte) string {
	list := attributes(name)
	switch {
	case list == nil:
		return "a name that cannot be read"
	case len(list) == 0:
		return "no name"
	}
	var parts []string
	for _, a := range list {
		short := map[string]string{
			"\x55\x04\x03": "CN", "\x55\x04\x05": "SERIALNUMBER", "\x55\x04\x06": "C", "\x55\x04\x07": "L",
			"\x55\x04\x08": "ST", "\x55\x04\x0a": "O", "\x55\x04\x0b": "OU",
			"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x01": "emailAddress",
		}[a.id]
		if short == "" {
			short = dotted([]byte(a.id))
		}
		value := a.value
		if !utf8.ValidString(value) {
			value = "#" + hex.EncodeToString([]byte(value))
		}
		if runes := []rune(value); len(runes) > 64 {
			value = string(runes[:64]) + "…"
		}
		parts = append(parts, short+"="+strings.Map(printable, value))
	}
	text := strings.Join(parts, ", ")
	if len(text) > mostNameText {
		text = strings.ToValidUTF8(text[:mostNameText], "") + "…"
	}
	return text
}

// mostNameText is how much of a name is told, in bytes.
const mostNameText = 300

func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return ' '
	}
	return r
}

// dotted writes the content octets of an OBJECT IDENTIFIER as 1.2.840.…: X.690
// §8.19. What is no such thing or very long is written in hexadecimal.
func dotted(id []byte) string {
	if len(id) == 0 || len(id) > 32 || id[len(id)-1]&0x80 != 0 {
		return "#" + hex.EncodeToString(id[:min(len(id), 32)])
	}
	var b strings.Builder
	value := uint64(0)
	for _, octet := range id {
		if value > 1<<56 {
			return "#" + hex.EncodeToString(id)
		}
		value = value<<7 | uint64(octet&0x7f)
		if octet&0x80 != 0 {
			continue
		}
		if b.Len() == 0 {
			first := min(value/40, 2)
			fmt.Fprintf(&b, "%d.%d", first, value-40*first)
		} else {
			fmt.Fprintf(&b, ".%d", value)
		}
		value = 0
	}
	return b.String()
}
