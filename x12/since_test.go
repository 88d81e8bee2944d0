package x12

import "testing"

func TestSaid(t *testing.T) {
	for _, c := range []struct{ list, code, version, want string }{
		{groupCode, "6", "003010", ""}, {groupCode, "6", "003020", "6"},
		{groupCode, "19", "004010", "6"}, {groupCode, "19", "004050", "19"},
		{setCode, "23", "003020", "7"}, {setCode, "23", "003030", "23"},
		{segmentCode, "8", "003030", ""}, {segmentCode, "8", "003040", "8"},
		{elementCode, "10", "003040", "3"}, {elementCode, "10", "003050", "10"},
		{elementCode, "12", "004010", "3"}, {elementCode, "12", "004050", "12"}, {elementCode, "12", "005010", "12"},
		{elementCode, "13", "004010", "3"}, {elementCode, "13", "004050", "13"},
		{elementCode, "7", "003010", "7"},
	} {
		t.Run("code "+c.code+" of "+c.list+" in "+c.version, func(t *testing.T) {
			if got := said(c.list, c.code, c.version); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if c.want != "" && ErrorText(c.list, c.want) == "" {
				t.Error("there are no words for it")
			}
		})
	}
}
