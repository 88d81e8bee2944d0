package docs_test

import (
	"regexp"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// masks hide what is another one in every run.
var masks = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "<uuid>"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z`), "<time>"},
	{regexp.MustCompile(`\bedigw_[pt]_[A-Za-z0-9_-]{43}`), "<token>"},
	{regexp.MustCompile(`\btook=\S+`), "took=<duration>"},
	{regexp.MustCompile(`(?m)^Date: .*$`), "Date: <time>"},
	{regexp.MustCompile(`[ \t]+`), " "}, // columns are as wide as what stands in them
	{regexp.MustCompile(`(?m)^ | ?\r?$`), ""},
}

func masked(s string) string {
	for _, m := range masks {
		s = m.what.ReplaceAllString(s, m.as)
	}
	return strings.Trim(s, "\n")
}

// differs says how what was printed differs from what the page shows; "" if it
// does not.
func differs(shown, printed string) string {
	want, got := strings.Split(masked(shown), "\n"), strings.Split(masked(printed), "\n")
	if fits(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}

// fits reports whether lines are those that a page shows, in which … stands for
// anything, and alone for any number of lines.
func fits(shown, printed []string) bool {
	switch {
	case len(shown) == 0:
		return len(printed) == 0
	case strings.TrimSpace(shown[0]) == "…":
		return fits(shown[1:], printed) || len(printed) > 0 && fits(shown, printed[1:])
	}
	if len(printed) == 0 {
		return false
	}
	line := "^" + strings.ReplaceAll(regexp.QuoteMeta(shown[0]), "…", ".*") + "$"
	return regexp.MustCompile(line).MatchString(printed[0]) && fits(shown[1:], printed[1:])
}
