package peers_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/bench/peers"
)

func TestTally(t *testing.T) {
	for name, c := range map[string]struct {
		choice string
		says   map[string]error
		want   string
		failed bool
	}{
		"nothing combined says nothing": {want: ""},
		"all well":                      {says: map[string]error{"a": nil}, want: "a      ok\n\n1 combinations, 1 ok, 0 failed, 0 skipped\n"},
		"one that fails":                {says: map[string]error{"a": errors.New("no MDN")}, want: "a      FAILED: no MDN\n\n1 combinations, 0 ok, 1 failed, 0 skipped\n", failed: true},
		"a chosen one that is none":     {choice: "b", says: map[string]error{"a": nil}, want: "a      ok\nthere is no combination b\n\n2 combinations, 1 ok, 0 failed, 1 skipped\n", failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			tally := peers.Tally{Out: &out, Columns: 6}
			if c.choice != "" {
				tally.Choice = peers.Chosen(c.choice)
			}
			for name, err := range c.says {
				tally.Says(name, err)
			}
			if err := tally.End(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, out.String()); diff != "" || tally.Failed() != c.failed {
				t.Errorf("failed %t\n%s", tally.Failed(), diff)
			}
		})
	}
}
