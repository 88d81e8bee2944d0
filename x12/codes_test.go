package x12

import (
	"fmt"
	"strings"
	"testing"
)

// TestEveryCodeHasWords goes by the lists of all versions, as they are publicly known.
func TestEveryCodeHasWords(t *testing.T) {
	var notes []string
	for n := range 32 {
		notes = append(notes, fmt.Sprintf("%03d", n))
	}
	for list, codes := range map[string]string{
		"I18": strings.Join(notes, " "),
		"716": "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 30 31 32",
		"718": "1 2 3 4 5 6 7 8 9 10 11 12 13 15 16 17 18 19 20 21 22 23 24 25 26 27",
		"618": "1 2 3 4 5 6 7 8 9 10 11 12 13 15 16 17 18 19 23 24 25 26 27 I5 I6",
		"720": "1 2 3 4 5 6 7 8",
		"723": "1 2 3 4 5 6 7 8 9 10 12 13 16",
		"621": "1 2 3 4 5 6 7 8 9 10 12 13 16 I6 I9 I10 I11 I12 I13",
	} {
		for code := range strings.FieldsSeq(codes) {
			if ErrorText(list, code) == "" {
				t.Errorf("%s = %s has no words", list, code)
			}
		}
	}
	for tag, last := range map[string]int{"AK5": 6, "IK5": 6, "AK9": 9} {
		if CodeText(tag, last, 1, "3") == "" {
			t.Errorf("the last code of %s has no words", tag)
		}
	}
}
