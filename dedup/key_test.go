package dedup

import (
	"testing"
	"unicode/utf8"
)

// The key of what a sender gives is text that the database takes, whatever he gives, and
// the same only for the same.
func TestTransportKey(t *testing.T) {
	seen := map[string]string{}
	for id, want := range map[string]string{
		"m1@talquist.example":         "as2:us:m1@talquist.example",
		"a:b\\c":                      `as2:us:a\:b\\c`,
		"a\tb\x00\x7f":                `as2:us:a\x09b\x00\x7f`,
		"Größe":                       "as2:us:Größe",
		"Gr\xf6\xdfe":                 `as2:us:Gr\xf6\xdfe`, // Latin-1
		"Gr\xf6\xdee":                 `as2:us:Gr\xf6\xdee`,
		`Gr\xf6\xdfe`:                 `as2:us:Gr\\xf6\\xdfe`,
		"cut in a character \xe2\x82": `as2:us:cut in a character \xe2\x82`,
		"\uFFFD":                      "as2:us:\uFFFD",
	} {
		got := TransportKey("as2", "us", id)
		if got != want || !utf8.ValidString(got) {
			t.Errorf("%q is %q, want %q", id, got, want)
		}
		if other, twice := seen[got]; twice {
			t.Errorf("%q and %q are both %q", id, other, got)
		}
		seen[got] = id
	}
}
