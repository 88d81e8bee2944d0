package entity

import (
	"io"
	"mime"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/ianaindex"
)

// longestLabel of a file name, in characters.
const longestLabel = 200

// Filename is the name that the sender gave: of Content-Disposition, else the name
// of Content-Type (RFC 2183 §2.3). It is a label: without any path, printable, and
// never to be used as one.
func Filename(disposition, contentType string) string {
	name := ParseValue(disposition).Get("filename")
	if name == "" {
		name = ParseValue(contentType).Get("name")
	}
	return Label(name)
}

// Filename is the entity's file name, "" if it has none.
func (e *Entity) Filename() string {
	return Filename(e.Get("Content-Disposition"), e.Get("Content-Type"))
}

// Label makes a file name harmless.
//
// QUIRK: RFC 2047 §5 forbids encoded words in a quoted string, and mail libraries
// put them there; some send bytes of another character set as they are.
func Label(name string) string {
	name = strings.Trim(name, ` "`)
	if decoded, err := words.DecodeHeader(name); err == nil {
		name = decoded
	}
	name = toUTF8("", name)
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name)
	name = strings.TrimSpace(name)
	if name == "." || name == "/" || name == ".." {
		return ""
	}
	if runes := []rune(name); len(runes) > longestLabel {
		name = string(runes[:longestLabel])
	}
	return name
}

var words = mime.WordDecoder{CharsetReader: func(charset string, r io.Reader) (io.Reader, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxHeader))
	return strings.NewReader(toUTF8(charset, string(b))), err
}}

// toUTF8 reads text in a character set by its name at IANA; one that is not known,
// or not named, is UTF-8 where the bytes are, else Windows-1252.
func toUTF8(charset, s string) string {
	if charset != "" && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "us-ascii") {
		if enc, err := ianaindex.MIME.Encoding(charset); err == nil && enc != nil {
			if text, err := enc.NewDecoder().String(s); err == nil {
				return text
			}
		}
	}
	if utf8.ValidString(s) {
		return s
	}
	text, err := charmap.Windows1252.NewDecoder().String(s)
	if err != nil {
		return strings.ToValidUTF8(s, "")
	}
	return text
}
