package edi

import "testing"

func TestLineBreak(t *testing.T) {
	edifact := Delimiters{Component: ':', Element: '+', Release: '?', Terminator: '\''}
	lines := Delimiters{Component: '>', Element: '*', Terminator: '\n'}
	for name, c := range map[string]struct {
		text string
		d    Delimiters
		tag  string // of the segment it stands in, "" for none
		at   int
	}{
		"one line":                            {"UNH+1'BGM+380'UNT+3+1'", edifact, "", 0},
		"a line a segment":                    {"UNH+1'\nBGM+380'\nUNT+3+1'\n", edifact, "", 0},
		"CR LF behind each":                   {"UNH+1'\r\nBGM+380'\r\nUNT+3+1'\r\n", edifact, "", 0},
		"blank lines between":                 {"UNH+1'\n\n \r\nBGM+380'\nUNT+3+1", edifact, "", 0},
		"inside a value":                      {"UNH+1'FTX+AAI+++two\r\nlines'UNT+3+1'", edifact, "FTX", 13},
		"inside the last one":                 {"UNH+1'\nUNT+3\n+1", edifact, "UNT", 5},
		"inside, and none behind one segment": {"UNH+1'BGM+38\n0'\nUNT+3+1'", edifact, "BGM", 6},
		"CR alone":                            {"UNH+1'\rBGM+38\r0'\rUNT+3+1'", edifact, "BGM", 6},
		"released":                            {"UNH+1'BGM+38?\n0'UNT+3+1'", edifact, "BGM", 7},
		"the terminator":                      {"ST*810*1\nBIG*1\nSE*3*1\n", lines, "", 0},
		"the terminator, and CR inside":       {"ST*810*1\nBIG*1\r*2\nSE*3*1\n", lines, "BIG", 5},
		"nothing":                             {"", edifact, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, k, found := NewBody([]byte(c.text), 0, 1, c.d, nil).LineBreak()
			if found != (c.tag != "") || found && (s.Tag() != c.tag || k != c.at) {
				t.Errorf("%v in %q at %d, want %q at %d", found, s.Tag(), k, c.tag, c.at)
			}
		})
	}
}
