package main

import (
	"fmt"
	"strings"

	"github.com/edigw/edigw/edi"
)

// answer tells a person what an acknowledgement says of what.
func (t *inspectTable) answer(a edi.Answer) error {
	var b strings.Builder
	b.WriteString("  " + a.Kind)
	if a.Number != "" {
		b.WriteString(" " + printable(a.Number))
	}
	if len(a.Judgements) > 0 {
		ic := a.Judgements[0].Interchange
		fmt.Fprintf(&b, " answers what %s sent to %s", partyText(ic.Sender), partyText(ic.Recipient))
		if ic.Date != "" {
			fmt.Fprintf(&b, " on %s", momentText(&edi.Interchange{Date: ic.Date, Time: ic.Time}))
		}
	}
	b.WriteByte('\n')
	left := maxTold
	for i := range a.Judgements {
		if left <= 0 {
			fmt.Fprintf(&b, "    … and %s more; -o json lists all\n", plural(len(a.Judgements)-i, "verdict"))
			break
		}
		left -= 1 + judgementLines(&b, &a.Judgements[i], left-1)
	}
	_, err := t.w.Write([]byte(b.String()))
	return err
}

// judgementLines writes a judgement with up to limit of its errors, and gives the number
// of those.
func judgementLines(b *strings.Builder, j *edi.Judgement, limit int) (n int) {
	fmt.Fprintf(b, "    %s: %s", printable(j.Subject()), j.Acceptance)
	if j.Action != "" {
		fmt.Fprintf(b, " (%s)", printable(j.Action))
	}
	if g := j.Group; g != nil && j.Level == edi.LevelGroup && g.Accepted >= 0 {
		fmt.Fprintf(b, ", %d of %s", g.Accepted, plural(max(g.Received, 0), "set"))
	}
	b.WriteByte('\n')
	if j.Text != "" {
		fmt.Fprintf(b, "      “%s”\n", printable(j.Text))
	}
	for i := range j.Objections {
		if n >= max(limit, 1) {
			fmt.Fprintf(b, "      … and %s more\n", plural(len(j.Objections)-n, "error"))
			break
		}
		n++
		fmt.Fprintf(b, "      %s\n", printable(objectionText(&j.Objections[i])))
	}
	return n
}

// objectionText gives "segment 7 IT1, element 4: invalid character (723 6), which was
// "1,50" — in their words".
func objectionText(o *edi.Objection) string {
	var b strings.Builder
	if where := o.Where(); where != "" {
		b.WriteString(where + ": ")
	}
	if o.Meaning != "" {
		fmt.Fprintf(&b, "%s (%s %s)", o.Meaning, o.List, o.Code)
	} else {
		fmt.Fprintf(&b, "%s %s", o.List, o.Code)
	}
	if o.Agency != "" {
		fmt.Fprintf(&b, " of %s", o.Agency)
	}
	if o.Value != "" {
		fmt.Fprintf(&b, ", which was %q", o.Value)
	}
	if o.NewValue != "" {
		fmt.Fprintf(&b, ", read as %q", o.NewValue)
	}
	if o.Text != "" {
		b.WriteString(" — " + o.Text)
	}
	return b.String()
}
