package x12

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/edigw/edigw/edi"
)

// An ISA of the tests, 106 bytes with its terminator; version 00401 unless changed.
const header00401 = "ISA*00*          *00*          *ZZ*TALQUIST       *ZZ*NORDHAFEN      *261129*1015*U*00401*000000116*0*P*>~"

// The same in 00501, with a repetition separator.
const header00501 = "ISA*00*          *00*          *ZZ*TALQUIST       *ZZ*NORDHAFEN      *261129*1015*^*00501*000000116*0*P*:~"

// set is a transaction set with right count and control number.
func set(kind, number string, segments ...string) string {
	return fmt.Sprintf("ST*%s*%s~%sSE*%d*%s~", kind, number, lines(segments), len(segments)+2, number)
}

func lines(segments []string) string {
	if len(segments) == 0 {
		return ""
	}
	return strings.Join(segments, "~") + "~"
}

// invoice is the shortest 810.
func invoice(number string) string { return set("810", number, "BIG*20261127*INV-1", "TDS*10000") }

// group puts sets into a group of 004010.
func group(number string, sets ...string) string {
	return fmt.Sprintf("GS*IN*TALQUIST*NORDHAFEN*20261129*1015*%s*X*004010~%sGE*%d*%s~", number, strings.Join(sets, ""), len(sets), number)
}

// interchange puts groups behind header00401.
func interchange(groups ...string) string {
	return header00401 + strings.Join(groups, "") + fmt.Sprintf("IEA*%d*000000116~", len(groups))
}

// good is a sound interchange.
func good() string { return interchange(group("116", invoice("0001"))) }

// splitAll splits a payload; faults stand beside the interchanges they belong to.
func splitAll(t testing.TB, r Reader, text string) (list []*edi.Interchange, faults []*edi.Error) {
	t.Helper()
	p := edi.Bytes([]byte(text))
	for from := int64(0); ; {
		ic, err := r.Split(p, from)
		if err == io.EOF {
			return list, faults
		}
		fault := edi.AsError(err)
		if err != nil && fault == nil {
			t.Fatal(err)
		}
		if ic.Length <= 0 || ic.Offset < from || ic.Offset+ic.Length > p.Size() {
			t.Fatalf("split at %d gives %d+%d of %d bytes", from, ic.Offset, ic.Length, p.Size())
		}
		from = ic.Offset + ic.Length
		list, faults = append(list, ic), append(faults, fault)
	}
}

// read splits and scans a payload of one interchange.
func read(t testing.TB, r Reader, text string) *edi.Interchange {
	t.Helper()
	list, faults := splitAll(t, r, text)
	if len(list) != 1 || faults[0] != nil {
		t.Fatalf("%d interchanges, %v", len(list), faults)
	}
	if err := r.Scan(edi.Bytes([]byte(text)), list[0], nil); err != nil {
		t.Fatal(err)
	}
	return list[0]
}

// findings are all findings of an interchange, as "where severity standard code @
// segment TAG element": I the interchange, G1 its first group, M1 its first set.
func findings(ic *edi.Interchange) []string {
	var out []string
	add := func(where string, errs []*edi.Error) {
		for _, e := range errs {
			line := fmt.Sprintf("%s %s %s %s @ %d %s", where, e.Severity, e.Standard, e.Code, e.Segment, e.Tag)
			if e.Element > 0 {
				line += fmt.Sprintf(" %d", e.Element)
			}
			out = append(out, strings.Join(strings.Fields(line), " "))
		}
	}
	add("I", ic.Errors)
	for i := range ic.Groups {
		add(fmt.Sprintf("G%d", i+1), ic.Groups[i].Errors)
	}
	for i := range ic.Messages {
		add(fmt.Sprintf("M%d", i+1), ic.MessageErrors[i])
	}
	return out
}
