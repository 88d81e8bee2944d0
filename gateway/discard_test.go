package gateway_test

import (
	"fmt"
	"testing"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

func TestDiscardBehindMoreThanAnAdviceNames(t *testing.T) {
	var many []message
	for i := range 10_002 {
		many = append(many, message{number: fmt.Sprintf("R-%d", i+1)})
	}
	discarded := func(t *testing.T, fail func(number string) bool, want gateway.Answer) *rig {
		r := advised(t, false)
		r.policy(func(p *partners.Policy) { p.Acceptance = "message" })
		r.fail = fail
		r.must("", interchange("REF1", many...), gateway.First, want, "I1b")
		if _, err := r.Discard(t.Context(), r.dead()[0], "our_fault", "", anna, false); err != nil {
			t.Fatal(err)
		}
		return r
	}
	t.Run("a message at the end is told by its reference, and nothing of those before it, which stand", func(t *testing.T) {
		r := discarded(t, func(n string) bool { return n == "R-10002" }, gateway.ToldDead)
		r.isAdvised("APERAK rejected GIVENUP 10002")
		if n := r.posted(); n != 10_001 {
			t.Errorf("%d stand", n)
		}
	})
	t.Run("of more than it names the others are counted", func(t *testing.T) {
		r := discarded(t, func(string) bool { return true }, gateway.ToldDead)
		if n := r.count(`select regexp_count(body->>'content', 'ERC\+GIVENUP') from outbox where kind = 'acknowledgement'`); n != 10_000 {
			t.Errorf("%d are named", n)
		}
		if n := r.count(`select count(*) from outbox where kind = 'acknowledgement' and replace(body->>'content', ':', ' ') like '%RFF+AGO 9999''ERC+GIVENUP%FTX+AAO+++And 2 more, which are not named here.%RFF+AGO 10000''%'`); n != 1 {
			t.Error("nothing is said of the others")
		}
	})
}
