package wssec

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/as4/c14n"
)

// TestTheReferenceListsTheAlgorithms holds docs/reference/as4-security.md against the
// closed lists.
func TestTheReferenceListsTheAlgorithms(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/as4-security.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile("`(http://[^`]*)`").FindAllSubmatch(text, -1) {
		listed[string(m[1])] = true
	}
	taken := map[string]bool{c14n.Exclusive: true, attachmentContent: true, RSAOAEP: true, RSAOAEPMGF1P: true, X25519: true, ECDHES: true, hkdfURI: true, concatKDF: true}
	for uri := range signatures {
		taken[uri] = true
	}
	for _, list := range [][]string{
		slices.Collect(maps.Keys(digests)), slices.Collect(maps.Keys(ciphers)), slices.Collect(maps.Keys(masks)), slices.Collect(maps.Keys(keyWraps)), slices.Collect(maps.Keys(prfs)),
	} {
		for _, uri := range list {
			taken[uri] = true
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(taken)), slices.Sorted(maps.Keys(listed))); diff != "" {
		t.Errorf("(-taken +listed):\n%s", diff)
	}
}
