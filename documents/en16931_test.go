package documents

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// difference is where the two files of an example differ themselves. What stands in both
// is the same fact said in two ways; what stands in one is missing in the other. "line *"
// is any line.
type difference struct {
	example     int
	ubl, invoic string
	why         string
}

// TestTwins reads invoices of the official EN 16931 test set in INVOIC and in UBL, and
// compares all that either says.
func TestTwins(t *testing.T) {
	for n := 1; n <= 6; n++ {
		t.Run(fmt.Sprintf("EN 16931 example %d says in INVOIC what it says in UBL", n), func(t *testing.T) {
			text := shared(t, fmt.Sprintf("samples/edi/en16931/EDIFACT_EXAMPLE%d.TXT", n))
			other := shared(t, fmt.Sprintf("samples/edi/en16931/ubl-tc434-example%d.xml", n))
			if at := bytes.Index(text, []byte("UNO+")); at >= 0 { // an attachment, which is not the subject
				text = append(text[:at:at], text[bytes.LastIndex(text, []byte("UNZ+")):]...)
			}
			d, errs := single(t, text)
			for _, e := range errs {
				t.Log(e)
			}
			ubl, invoic := without(ublFacts(twin(t, other)).list, modelFacts(d).list)
			left := map[string]string{} // what the list knows, and why
			for _, x := range differences {
				if x.example == n {
					left["in UBL alone: "+x.ubl], left["in INVOIC alone: "+x.invoic] = x.why, x.why
				}
			}
			delete(left, "in UBL alone: ")
			delete(left, "in INVOIC alone: ")
			met := map[string]bool{}
			for where, list := range map[string][]string{"in UBL alone: ": ubl, "in INVOIC alone: ": invoic} {
				for _, fact := range list {
					fact = where + fact
					if left[fact] == "" {
						fact = anyLine(fact)
					}
					met[fact] = true
					if left[fact] == "" {
						t.Error(fact)
					}
				}
			}
			for fact := range left {
				if !met[fact] {
					t.Errorf("differs no more, take it from the list: %s", fact)
				}
			}
		})
	}
}

// anyLine puts * in the place of the number of a line.
func anyLine(fact string) string {
	head, rest, is := strings.Cut(fact, ": line ")
	_, rest, more := strings.Cut(rest, " ")
	if !is || !more {
		return fact
	}
	return head + ": line * " + rest
}

// without gives what each of two lists has and the other has not, sorted.
func without(a, b []string) (onlyA, onlyB []string) {
	left := map[string]int{}
	for _, f := range b {
		left[f]++
	}
	for _, f := range a {
		if left[f] > 0 {
			left[f]--
		} else {
			onlyA = append(onlyA, f)
		}
	}
	for _, f := range b {
		if left[f] > 0 {
			left[f]--
			onlyB = append(onlyB, f)
		}
	}
	slices.Sort(onlyA)
	slices.Sort(onlyB)
	return onlyA, onlyB
}
