package cms

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The page on algorithms names each that there is, in the first column of its
// tables, and no other.
func TestAlgorithmsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/reference/cms.md")
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for i, word := range strings.Split(cells[1], "`") {
			if i%2 == 1 {
				told = append(told, word)
			}
		}
	}
	want := []string{string(SignedData), string(EnvelopedData), string(AuthEnvelopedData), string(CompressedData),
		string(RSAPKCS1), string(RSAPSS), string(ECDSA), string(Ed25519), string(KeyRSAPKCS1), string(KeyRSAOAEP), string(KeyECDH)}
	for _, e := range Encryptions {
		want = append(want, string(e))
	}
	for _, d := range digests {
		want = append(want, d.hash.String())
	}
	slices.Sort(told)
	slices.Sort(want)
	for _, name := range want {
		if !slices.Contains(told, name) {
			t.Errorf("the page has no line of %s", name)
		}
	}
	for _, name := range told {
		if !slices.Contains(want, name) {
			t.Errorf("the page tells of %s, which is not there", name)
		}
	}
}
