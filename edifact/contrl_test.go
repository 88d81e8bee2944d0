package edifact

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

// answer writes the CONTRL for text as a receiver would that refuses what is
// refused, and gives it a segment a line.
func answer(t *testing.T, text string, change func(*edi.Interchange, *edi.Acknowledgement)) string {
	t.Helper()
	ic := one(t, Reader{}, text)
	a := edi.Acknowledgement{Reference: "77", Prepared: prepared, Action: edi.ActionAcknowledged, Errors: ic.Errors}
	if edi.Worst(ic.Errors) == edi.SeverityError {
		a.Action = edi.ActionRejected
	}
	for i := range ic.Messages {
		m := edi.MessageAnswer{Index: i, Action: edi.ActionAcknowledged, Errors: ic.MessageErrors[i]}
		if edi.Worst(m.Errors) == edi.SeverityError {
			m.Action = edi.ActionRejected
		}
		a.Messages = append(a.Messages, m)
	}
	if change != nil {
		change(ic, &a)
	}
	_, out, err := Acknowledge(ic, a)
	if err != nil {
		t.Fatal(err)
	}
	// What we write must be sound by our own reading.
	back := one(t, Reader{}, string(out))
	if edi.Worst(back.Errors) == edi.SeverityError || len(back.MessageErrors) > 0 || len(back.Messages) != 1 || back.Messages[0].Type.Type != "CONTRL" {
		t.Errorf("%s\n%v", out, findings(back))
	}
	return strings.ReplaceAll(strings.TrimSuffix(string(out), "'"), "'", "\n")
}

func TestAcknowledge(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		change func(*edi.Interchange, *edi.Acknowledgement)
		want   string
	}{
		"all is well": {
			text: message("BGM+380'", 3),
			want: `UNB+UNOC:3+R:14+S:14+261129:1015+77
UNH+1+CONTRL:D:3:UN
UCI+REF+S:14+R:14+7
UCM+1+INVOIC:D:96A:UN+7
UNT+4+1
UNZ+1+77`},
		"received, no judgement": {
			text: message("", 2),
			change: func(_ *edi.Interchange, a *edi.Acknowledgement) {
				a.Action, a.Messages = edi.ActionReceived, nil
			},
			want: `UNB+UNOC:3+R:14+S:14+261129:1015+77
UNH+1+CONTRL:D:3:UN
UCI+REF+S:14+R:14+8
UNT+3+1
UNZ+1+77`},
		"syntax version 4, a test, values released": {
			text: strings.NewReplacer("UNOC:3", "UNOY:4", "S:14", "S?+?*ü:14", "REF'UNH", "REF?''UNH", "+REF'", "+REF?''", "261129", "20261129").Replace(
				strings.Replace(message("", 2), "+REF'UNH", "+REF'UNH", 1)),
			change: func(ic *edi.Interchange, a *edi.Acknowledgement) { ic.Test = true },
			want: `UNB+UNOY:4+R:14+S?+?*ü:14+20261129:1015+77++++++1
UNH+1+CONTRL:4:1:UN
UCI+REF?#+S?+?*ü:14+R:14+7
UCM+1+INVOIC:D:96A:UN+7
UNT+4+1
UNZ+1+77`},
		"syntax version 2, UNT count": {
			text: strings.Replace(message("BGM+380'", 9), "UNOC:3", "UNOA:2", 1),
			want: `UNB+UNOA:2+R:14+S:14+261129:1015+77
UNH+1+CONTRL:2:2:UN
UCI+REF+S:14+R:14+7
UCM+1+INVOIC:D:96A:UN+4+29+UNT+2
UNT+4+1
UNZ+1+77`},
		"an unsupported version and character set are answered in UNOC:3": {
			text: strings.Replace(message("", 2), "UNOC:3", "KECA:9", 1),
			want: `UNB+UNOC:3+R:14+S:14+261129:1015+77
UNH+1+CONTRL:D:3:UN
UCI+REF+S:14+R:14+4+2+UNB+2:2
UCM+1+INVOIC:D:96A:UN+7
UNT+4+1
UNZ+1+77`},
		"UNZ count": {
			text: strings.Replace(message("", 2), "UNZ+1", "UNZ+2", 1),
			want: `UNB+UNOC:3+R:14+S:14+261129:1015+77
UNH+1+CONTRL:D:3:UN
UCI+REF+S:14+R:14+4+29+UNZ+2
UCM+1+INVOIC:D:96A:UN+7
UNT+4+1
UNZ+1+77`},
		"a trailer that is missing, noticed at UNZ": {
			text: unb3 + unh1 + "UNZ+1+REF'",
			want: `UNB+UNOC:3+R:14+S:14+261129:1015+77
UNH+1+CONTRL:D:3:UN
UCI+REF+S:14+R:14+7
UCM+1+INVOIC:D:96A:UN+4+13+UNT
UNT+4+1
UNZ+1+77`},
		"a user segment that is missing behind UNH": {
			text: message("", 2),
			change: func(_ *edi.Interchange, a *edi.Acknowledgement) {
				a.Messages[0].Action = edi.ActionRejected
				a.Messages[0].Errors = []*edi.Error{{Code: "bgm-missing", Standard: "13", Severity: edi.SeverityError, Location: edi.Location{Segment: 1}}}
			},
			want: `UNB+UNOC:3+R:14+S:14+261129:1015+77
UNH+1+CONTRL:D:3:UN
UCI+REF+S:14+R:14+7
UCM+1+INVOIC:D:96A:UN+4
UCS+1+13
UNT+5+1
UNZ+1+77`},
		"errors inside a message, by segment": {
			text: message("BGM+380'NAD+SU+a:\x00'xx'", 5),
			change: func(_ *edi.Interchange, a *edi.Acknowledgement) {
				m := &a.Messages[0]
				m.Errors = append(m.Errors,
					&edi.Error{Standard: "13", Severity: edi.SeverityError, Location: edi.Location{Segment: 2, Tag: "BGM", Element: 2, Component: 1}},
					&edi.Error{Standard: "12", Severity: edi.SeverityError, Location: edi.Location{Segment: 3, Tag: "NAD", Element: 1, Component: 1}},
					&edi.Error{Standard: "39", Severity: edi.SeverityWarning, Location: edi.Location{Segment: 3, Tag: "NAD"}})
			},
			want: `UNB+UNOC:3+R:14+S:14+261129:1015+77
UNH+1+CONTRL:D:3:UN
UCI+REF+S:14+R:14+7
UCM+1+INVOIC:D:96A:UN+4
UCS+2
UCD+13+3
UCS+3
UCD+21+3:2
UCD+12+2
UCS+4+12
UNT+10+1
UNZ+1+77`},
		"groups": {
			text: unb3 + ung1 + unh1 + "UNT+2+1'UNH+2+INVOIC'UNT+3+2'UNE+2+G1'" + strings.Replace(ung1, "G1", "G2", 1) + "UNH+1+INVOIC'UNT+2+1'UNE+1+G2'UNZ+2+REF'",
			want: `UNB+UNOC:3+R:14+S:14+261129:1015+77
UNH+1+CONTRL:D:3:UN
UCI+REF+S:14+R:14+7
UCF+G1+S:14+R:14+7
UCM+1+INVOIC:D:96A:UN+7
UCM+2+INVOIC+4+29+UNT+2
UCF+G2+S:14+R:14+7
UCM+1+INVOIC+7
UNT+8+1
UNZ+1+77`},
		"a refusal for a reason of the receiver's": {
			text: message("", 2),
			change: func(_ *edi.Interchange, a *edi.Acknowledgement) {
				a.Action, a.Messages = edi.ActionRejected, nil
				a.Errors = []*edi.Error{{Code: "note", Severity: edi.SeverityNote, Standard: "12"}, {Code: "duplicate", Standard: "26", Severity: edi.SeverityError}}
			},
			want: `UNB+UNOC:3+R:14+S:14+261129:1015+77
UNH+1+CONTRL:D:3:UN
UCI+REF+S:14+R:14+4+26
UNT+3+1
UNZ+1+77`},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.ReplaceAll(answer(t, c.text, c.change), "?\n", "?#")
			if d := cmp.Diff(c.want, got); d != "" {
				t.Fatal(d)
			}
		})
	}
	t.Run("what cannot be answered is an error", func(t *testing.T) {
		ic := one(t, Reader{}, message("", 2))
		good := edi.Acknowledgement{Reference: "1", Prepared: prepared, Action: edi.ActionAcknowledged}
		if _, _, err := Acknowledge(ic, good); err != nil {
			t.Fatal(err)
		}
		for name, change := range map[string]func(*edi.Interchange, *edi.Acknowledgement){
			"no reference of ours":   func(_ *edi.Interchange, a *edi.Acknowledgement) { a.Reference = "" },
			"no reference of theirs": func(ic *edi.Interchange, _ *edi.Acknowledgement) { ic.ControlReference = "" },
			"a message that is none": func(_ *edi.Interchange, a *edi.Acknowledgement) { a.Messages = []edi.MessageAnswer{{Index: 1}} },
		} {
			other, a := *ic, good
			change(&other, &a)
			if _, out, err := Acknowledge(&other, a); err == nil {
				t.Errorf("%s: %s", name, out)
			}
		}
	})
}

func TestNames(t *testing.T) {
	got := []string{SegmentName("NAD"), SegmentName("XYZ"), ElementName("BGM", 2, 1), ElementName("BGM", 9, 1), ElementName("BGM", 9, 2),
		CodeText("BGM", 1, 1, "380"), CodeText("BGM", 1, 1, "999"), CodeText("DTM", 1, 1, "137"), CodeText("UCI", 4, 1, "4"), CodeText("XYZ", 1, 1, "1"), ErrorText("26")}
	want := []string{"party", "XYZ", "document number", "element 9", "element 9, component 2", "invoice", "", "document", "rejected, with all below", "", "duplicate"}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
}
