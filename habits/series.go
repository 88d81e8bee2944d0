package habits

import (
	"regexp"
	"strconv"
	"strings"
)

// Reference is what an interchange key says of who counts, and how far he is.
type Reference struct {
	Series string // the key without what counts: syntax, addresses, the prefix and length of the number
	Test   bool
	Number int64
	Width  int // digits of a number that has leading zeros; 0: it has none
}

// Longest number that is taken for one that is counted: more digits hold a time or are
// drawn at random, and fit no int64.
const mostDigits = 17

var (
	day      = regexp.MustCompile(`^[0-9]{8}$`)
	trailing = regexp.MustCompile(`[0-9]+$`)
)

// ReferenceOf reads an interchange key (dedup.InterchangeKey); false where it holds no
// number: a digest, a file without interchange, a reference that ends in no digit.
//
// UNB 0026 stays in the series: whoever has key_includes_application counts for each
// application. A date at the end does not: the numbers go on or begin anew on the next day,
// and which of both is seen.
func ReferenceOf(key string) (Reference, bool) {
	fields := splitKey(key)
	syntax := fields[0]
	if syntax != "unb" && syntax != "isa" {
		return Reference{}, false
	}
	fields = fields[1:]
	test := len(fields) > 5 && fields[0] == "test"
	if test {
		fields = fields[1:]
	}
	if len(fields) < 5 {
		return Reference{}, false
	}
	rest := fields[5:]
	if n := len(rest); n > 0 && day.MatchString(rest[n-1]) {
		rest = rest[:n-1]
	}
	text := fields[4]
	digits := trailing.FindString(text)
	if digits == "" || len(digits) > mostDigits {
		return Reference{}, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return Reference{}, false
	}
	r := Reference{Test: test, Number: n}
	var s strings.Builder
	s.WriteString(syntax)
	if test {
		s.WriteString(":test")
	}
	for _, f := range fields[:4] {
		s.WriteString(":" + f)
	}
	s.WriteString(":" + strings.TrimSuffix(text, digits) + "#")
	for _, f := range rest {
		s.WriteString(":" + f)
	}
	r.Series = s.String()
	if digits[0] == '0' && len(digits) > 1 {
		r.Width = len(digits)
	}
	return r, true
}

// splitKey cuts a key at its colons, but not at those that \ escapes.
func splitKey(key string) (fields []string) {
	from := 0
	for i := 0; i < len(key); i++ {
		switch key[i] {
		case '\\':
			i++
		case ':':
			fields = append(fields, key[from:i])
			from = i + 1
		}
	}
	return append(fields, key[from:])
}

// written gives the reference of a number in a series, as its sender writes it.
func written(series string, n int64, width int) string {
	digits := strconv.FormatInt(n, 10)
	if len(digits) < width {
		digits = strings.Repeat("0", width-len(digits)) + digits
	}
	fields := splitKey(series)
	for _, f := range fields {
		if prefix, ok := strings.CutSuffix(f, "#"); ok {
			return prefix + digits
		}
	}
	return digits
}

// keyOf gives the interchange key of a number in a series; a key that holds the day too
// begins with it.
func keyOf(series string, n int64, width int) string {
	i := strings.LastIndex(series, "#")
	j := strings.LastIndexByte(series[:i], ':')
	return series[:j+1] + written(series, n, width) + series[i+1:]
}
