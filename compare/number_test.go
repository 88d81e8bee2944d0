package compare

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestMoney(t *testing.T) {
	for _, c := range []struct {
		in      string
		implied int
		want    string
	}{
		{"1670.76", 0, "1 670.76"}, {"1670,76", 0, "1 670.76"}, {"-1234567", 0, "-1 234 567"}, {"100", 0, "100"}, {"12.50-", 0, "-12.50"},
		{".5", 0, "0.5"}, {"9588", 2, "95.88"}, {"95.88", 2, "95.88"}, {"5", 2, "0.05"}, {"-12050", 2, "-120.50"},
		{"", 0, ""}, {"1.2.3", 0, "1.2.3"}, {"12a\x1b", 0, `12a\x1b`}, {"-", 0, "-"},
	} {
		if got := money(c.in, c.implied); got != c.want {
			t.Errorf("money(%q, %d) = %q, want %q", c.in, c.implied, got, c.want)
		}
	}
}

func TestSameNumber(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"10", "10.00", true}, {"010", "10", true}, {"10,5", "10.50", true}, {"-0", "0.0", true}, {"5-", "-5", true}, {"+5", "5", true},
		{"10", "100", false}, {"-5", "5", false}, {"0.05", "0.5", false}, {"", "0", false}, {"x", "x", false}, {"1 0", "10", false},
	} {
		if got := sameNumber(c.a, c.b); got != c.want {
			t.Errorf("sameNumber(%q, %q) = %v", c.a, c.b, got)
		}
	}
}

func TestIBAN(t *testing.T) {
	for s, want := range map[string]bool{
		"DE89370400440532013000": true, "GB29 NWBK 6016 1331 9268 19": true, "NO9386011117947": true,
		"DE89370400440532013001": false, "DE89": false, "de89370400440532013000": false, "": false, "9520001000010": false,
		"DE89370400440532013000DE89370400440532013000": false,
	} {
		if got := iban(s); got != want {
			t.Errorf("iban(%q) = %v", s, got)
		}
	}
}

// Every alignment holds each index of both sides once, those of a pair rising.
func TestAlignmentsAreComplete(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(label string) []node {
			var out []node
			for _, c := range rapid.StringMatching(`[a-d]{0,12}`).Draw(rt, label) {
				out = append(out, node{sum: uint64(c), key: string('k' + c%2)})
			}
			return out
		}
		a, b := draw("a"), draw("b")
		exact := &aligner{a: a, b: b}
		exact.span(0, len(a), 0, len(b), 0)
		anchored := &aligner{a: a, b: b}
		anchored.anchored(0, len(a), 0, len(b), 0)
		greedy := &aligner{a: a, b: b}
		greedy.greedy(0, len(a), 0, len(b))
		for name, al := range map[string]*aligner{"exact": exact, "anchored": anchored, "greedy": greedy} {
			i, j := 0, 0
			for _, p := range al.pairs {
				if p.a >= 0 {
					if p.a != i {
						rt.Fatalf("%s: a[%d] where a[%d] is next", name, p.a, i)
					}
					i++
				}
				if p.b >= 0 {
					if p.b != j {
						rt.Fatalf("%s: b[%d] where b[%d] is next", name, p.b, j)
					}
					j++
				}
			}
			if i != len(a) || j != len(b) {
				rt.Fatalf("%s: %d of %d and %d of %d", name, i, len(a), j, len(b))
			}
		}
	})
}

func TestLongestRising(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		perm := rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6}).Draw(rt, "perm")
		pairs := make([]pair, len(perm))
		for j, a := range perm {
			pairs[j] = pair{a: a, b: j}
		}
		best := 0
		for set := range 1 << len(perm) { // all subsets
			last, n := -1, 0
			for j, a := range perm {
				if set>>j&1 == 1 {
					if a < last {
						n = -1
						break
					}
					last = a
					n++
				}
			}
			best = max(best, n)
		}
		run := longestRising(pairs)
		for k := 1; k < len(run); k++ {
			if run[k] <= run[k-1] || pairs[run[k]].a <= pairs[run[k-1]].a {
				rt.Fatalf("%v of %v does not rise", run, perm)
			}
		}
		if len(run) != best {
			rt.Fatalf("%d of %v, want %d", len(run), perm, best)
		}
	})
}

func TestWrite(t *testing.T) {
	s := Segment{Tag: "FTX", Values: []Value{{1, 1, 1, "AAI"}, {4, 1, 1, "a+b"}, {4, 1, 3, "c"}, {4, 3, 2, "d?"}}}
	got := []string{s.Write("edifact"), s.Write("x12")}
	if d := cmp.Diff([]string{"FTX+AAI+++a?+b::c**:d??", "FTX*AAI***a+b>>c^^>d?"}, got); d != "" {
		t.Fatal(d)
	}
	long := Segment{Tag: "FTX", Values: []Value{{60000, 1, 1, "x"}}}
	if got := long.Write("edifact"); len(got) > maxText+4 || !strings.HasSuffix(got, "…") {
		t.Fatalf("%d bytes", len(got))
	}
}
