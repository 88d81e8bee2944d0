package journal

import (
	"strings"
	"unicode/utf8"
)

// How much of a text the journal keeps, in bytes. A key is 200 at most.
const (
	maxText   = 255
	maxDetail = 2_000
)

// clean makes a column's text of what came from outside: PostgreSQL holds neither
// NUL nor what is no UTF-8, and one such row would fail the transaction of the
// delivery or, behind its answer, the whole batch. Both become U+FFFD; what is
// longer than limit is cut between characters.
func clean(s string, limit int) string {
	if len(s) <= limit && strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) {
		return s
	}
	if len(s) > limit { // enough of it: each byte gives one character at least
		s = s[:limit]
		for n := 1; n <= utf8.UTFMax && n <= len(s); n++ { // a character that the cut goes through
			if c := s[len(s)-n:]; utf8.RuneStart(c[0]) {
				if !utf8.FullRuneInString(c) {
					s = s[:len(s)-n]
				}
				break
			}
		}
	}
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
	for len(s) > limit {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	return s
}
