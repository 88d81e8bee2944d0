package edifact

import (
	"slices"
	"strings"
	"testing"

	"github.com/edigw/edigw/edi"
)

// annexA says by which segments of CONTRL a code of 0085 may be told (ISO 9735-4 annex
// A). The last five are of the list of syntax version 3 alone; what they speak of has
// one level.
var annexA = map[string]string{
	"2": "UCI", "7": "UCI", "20": "UCI", "23": "UCI", "46": "UCI",
	"12": "UCI UCF UCM UCS UCD", "13": "UCI UCF UCM UCS UCD", "14": "UCI UCF UCM UCS UCD", "15": "UCI UCF UCM UCS UCD", "16": "UCI UCF UCM UCS UCD",
	"18": "UCI UCF UCM UCS UCD", "21": "UCI UCF UCM UCS UCD", "22": "UCI UCF UCM UCS UCD",
	"17": "UCI UCF UCM UCS", "25": "UCI UCF UCM UCS", "24": "UCI UCF",
	"26": "UCI UCF UCM", "28": "UCI UCF UCM", "29": "UCI UCF UCM", "30": "UCI UCF UCM",
	"32": "UCI UCF", "33": "UCI UCF", "35": "UCM UCS UCD", "36": "UCS",
	"37": "UCI UCF UCM UCD", "39": "UCI UCF UCM UCD", "40": "UCI UCF UCM UCD", "45": "UCI UCF UCM UCS", "47": "UCF UCM",
	"19": "UCD", "27": "UCI UCF UCM", "31": "UCF", "34": "UCM", "38": "UCD",
}

func TestEveryCodeHasWords(t *testing.T) {
	for code := range annexA {
		if ErrorText(code) == "" {
			t.Errorf("0085 = %s has no words", code)
		}
	}
}

// codeAt is the element of each segment that holds 0085, the tag not counted.
var codeAt = map[string]int{"UCI": 5, "UCF": 5, "UCM": 4, "UCS": 2, "UCD": 1}

// notAtItsLevel gives what a CONTRL says at a level that annex A does not give it.
func notAtItsLevel(t *testing.T, text string) (wrong []string) {
	t.Helper()
	for _, s := range edi.NewBody([]byte(text), 0, 1, levelA, nil).Segments {
		code := s.Get(codeAt[s.Tag()], 1)
		if codeAt[s.Tag()] > 0 && code != "" && !slices.Contains(strings.Fields(annexA[code]), s.Tag()) {
			wrong = append(wrong, string(s.Raw()))
		}
	}
	return wrong
}

func TestLevels(t *testing.T) {
	if got := notAtItsLevel(t, "UCI+A?+B+S+R+4+35'UCM+1+INVOIC+4+35'UCS+3+36'UCD+36+2'UCS+4'"); len(got) != 2 || got[0] != "UCI+A?+B+S+R+4+35" || got[1] != "UCD+36+2" {
		t.Errorf("%q", got)
	}
}
