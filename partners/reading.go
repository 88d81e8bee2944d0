package partners

import (
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/edigw/edigw/edi"
)

// reading reads how strictly the partner's text is read.
func (d *document) reading(into *ReadingSpec) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		d.mapping(n, path,
			field{"charset", d.charset(&into.Charset, declared)},
			field{"default_charset", d.charset(&into.DefaultCharset, noCharset)},
			field{"byte_order_mark", d.oneOf(&into.ByteOrderMark, "accept", "refuse")},
			field{"blank_lines", d.oneOf(&into.BlankLines, "accept", "refuse")},
			field{"padding", d.oneOf(&into.Padding, "accept", "refuse")},
			field{"leading_zeros", d.oneOf(&into.LeadingZeros, "accept", "refuse")},
			field{"surrounding_text", d.oneOf(&into.SurroundingText, "accept", "refuse")},
			field{"structure", d.oneOf(&into.Structure, "off", "note", "refuse")},
			field{"guide", d.guide(&into.Guide)},
			field{"line_wraps", d.oneOf(&into.LineWraps, "accept", "refuse")},
		)
	}
}

// charset reads the name of a character set, upper or lower case; unset is the
// word for none.
func (d *document) charset(into *string, unset string) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		s, ok := d.scalar(n, path)
		if name := strings.ToUpper(s); slices.Contains(edi.CharsetNames(), name) {
			s = name
		} else if ok && s != unset {
			d.fault(n.GetToken(), path, "must be %s, %s, not %q", unset, or(edi.CharsetNames()), s)
		}
		*into = s
	}
}

// guide reads the name of tables, a word of what may stand in 0057 and GS08.
func (d *document) guide(into *string) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		s, ok := d.scalar(n, path)
		if ok && !guideName.MatchString(s) {
			d.fault(n.GetToken(), path, "must be own, or the name of a guide, of up to 12 letters, digits and -, not %q", s)
		}
		*into = s
	}
}

var guideName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,11}$`)
