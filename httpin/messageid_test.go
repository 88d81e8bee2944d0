package httpin

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

func TestMessageID(t *testing.T) {
	long := strings.Repeat("x", longestID)
	for _, c := range []struct {
		name    string
		headers []string
		want    string
		refused bool
	}{
		{"none", nil, "", false},
		{"bare", []string{"Idempotency-Key", "inv-10871"}, "inv-10871", false},
		{"in quotation marks, as the draft asks", []string{"Idempotency-Key", `"inv-10871"`}, "inv-10871", false},
		{"with parameters", []string{"Idempotency-Key", `"inv-10871";v=1`}, "inv-10871", false},
		{"escaped", []string{"Idempotency-Key", `"a\"b\\c"`}, `a"b\c`, false},
		{"blanks around it", []string{"Idempotency-Key", " inv 1\t"}, "inv 1", false},
		{"the other field", []string{"EDI-Message-Id", "<1@acme>"}, "<1@acme>", false},
		{"both, alike", []string{"Idempotency-Key", `"m1"`, "EDI-Message-Id", "m1"}, "m1", false},
		{"twice, alike", []string{"Idempotency-Key", "m1", "Idempotency-Key", "m1"}, "m1", false},
		{"longest", []string{"Idempotency-Key", long}, long, false},
		{"longest, quoted", []string{"Idempotency-Key", `"` + long + `"`}, long, false},

		{"too long", []string{"Idempotency-Key", long + "x"}, "", true},
		{"empty", []string{"Idempotency-Key", ""}, "", true},
		{"blank", []string{"EDI-Message-Id", "  "}, "", true},
		{"empty string", []string{"Idempotency-Key", `""`}, "", true},
		{"not closed", []string{"Idempotency-Key", `"m1`}, "", true},
		{"closed by an escaped mark", []string{"Idempotency-Key", `"m1\"`}, "", true},
		{"unknown escape", []string{"Idempotency-Key", `"m\1"`}, "", true},
		{"a list", []string{"Idempotency-Key", `"m1", "m2"`}, "", true},
		{"not ASCII", []string{"Idempotency-Key", "köln"}, "", true},
		{"control character", []string{"Idempotency-Key", "a\x7fb"}, "", true},
		{"both, different", []string{"Idempotency-Key", "m1", "EDI-Message-Id", "m2"}, "", true},
		{"twice, different", []string{"Idempotency-Key", "m1", "Idempotency-Key", "m2"}, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			header := http.Header{}
			for i := 0; i < len(c.headers); i += 2 {
				header.Add(c.headers[i], c.headers[i+1])
			}
			got, err := messageID(header)
			if got != c.want || (err != nil) != c.refused {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func FuzzMessageID(f *testing.F) {
	for _, seed := range []string{"", "m1", `"m1"`, `"a\"b\\c";p=1`, `"m1`, `"m1\`, "\x00", "ü", `"m1" x`, ";", `"";`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		id, err := parseMessageID(value)
		if err != nil {
			return
		}
		if len(id) < 1 || len(id) > longestID {
			t.Fatalf("%q gives an id of %d characters", value, len(id))
		}
		for i := range len(id) {
			if id[i] < 0x20 || id[i] > 0x7e {
				t.Fatalf("%q gives %q", value, id)
			}
		}
		// Written as a structured-field string it is the same id.
		again, err := parseMessageID(strconv.Quote(id))
		if err != nil || again != id {
			t.Fatalf("%q quoted gives %q, %v", id, again, err)
		}
	})
}
