package peers

import (
	"fmt"
	"io"
)

// Tally is what became of combinations, one a line.
type Tally struct {
	Out        io.Writer
	Columns    int // of a name
	Choice     Choice
	ok, failed int
}

// Says counts a combination and prints what became of it.
func (t *Tally) Says(name string, err error) {
	word := "ok"
	if err != nil {
		t.failed++
		word = "FAILED: " + err.Error()
	} else {
		t.ok++
	}
	fmt.Fprintf(t.Out, "%-*s %s\n", t.Columns, name, word)
}

// End prints how many there were, with those that were chosen and are none, which have
// failed. It prints nothing where nothing was combined.
func (t *Tally) End() error {
	missing := t.Choice.Missing()
	if t.ok+t.failed+len(missing) == 0 {
		return nil
	}
	for _, name := range missing {
		if _, err := fmt.Fprintln(t.Out, "there is no combination", name); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(t.Out, "\n%d combinations, %d ok, %d failed, %d skipped\n", t.ok+t.failed+len(missing), t.ok, t.failed, len(missing)); err != nil {
		return err
	}
	t.failed += len(missing)
	return nil
}

// Failed reports whether one did.
func (t *Tally) Failed() bool { return t.failed > 0 }
