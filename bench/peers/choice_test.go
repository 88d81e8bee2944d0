package peers

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChoice(t *testing.T) {
	t.Run("without names all are wanted, and none is missing", func(t *testing.T) {
		var c Choice
		if !c.Wants("pyas2: plain") || c.Missing() != nil {
			t.Error("a combination was left out")
		}
	})
	c := Chosen("\npyas2: plain\nopenssl: signed\n")
	t.Run("those that are named are wanted, and no others", func(t *testing.T) {
		if !c.Wants("pyas2: plain") || c.Wants("pyas2: plain, again") {
			t.Error("another one was taken")
		}
	})
	t.Run("a name that no combination has is missing", func(t *testing.T) {
		if diff := cmp.Diff([]string{"openssl: signed"}, c.Missing()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}
