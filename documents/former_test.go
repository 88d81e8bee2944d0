package documents

import (
	"slices"
	"testing"
)

// TestIssuerForms: a number that is guarded without an issuer is found whatever
// form the mappers give the partner.
func TestIssuerForms(t *testing.T) {
	base := invoicText()
	for _, c := range []struct {
		name, qualifier, id string
		text                []byte
	}{
		{"a GLN in NAD", "14", "9520001000010", base},
		{"no supplier at all: the sender of UNB", "14", "9520001000010", change(t, base, "NAD+SU+9520001000010::9", "NAD+SU+++Talquist")},
		{"an identifier without its agency", "14", "9520001000010", change(t, base, "NAD+SU+9520001000010::9", "NAD+SU+9520001000010")},
		{"one that the buyer assigned", "14", "9520001000010", change(t, base, "NAD+SU+9520001000010::9", "NAD+SU+9520001000010::92")},
		{"D-U-N-S in NAD", "1", "123456789", change(t, base, "NAD+SU+9520001000010::9", "NAD+SU+123456789::16")},
		{"a GLN in N1", "14", "9520001000010", invoice810(t)},
		{"D-U-N-S in N1", "01", "123456789", invoice810(t, "UL*9520001000010", "1*123456789")},
		{"a code that is mutually defined", "ZZ", "TALQUIST", invoice810(t, "UL*9520001000010", "ZZ*TALQUIST")},
		{"no identifier in N1: the sender of ISA", "ZZ", "TALQUIST", invoice810(t, "*UL*9520001000010", "")},
		{"no party: the sender of ISA", "ZZ", "TALQUIST", notice856(t)},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, _ := single(t, c.text)
			var guards [][32]byte
			for _, issuer := range IssuerForms(c.qualifier, c.id) {
				guards = append(guards, Former{Class: d.Class, TypeCode: d.TypeCode, Number: d.Number, IssueDate: d.IssueDate, Issuer: issuer}.GuardKey())
			}
			if !slices.Contains(guards, d.GuardKey()) {
				t.Errorf("%+v is none of %+v", d.Issuer, IssuerForms(c.qualifier, c.id))
			}
			if n := len(guards); n != len(slices.Compact(slices.SortedFunc(slices.Values(guards), func(a, b [32]byte) int { return slices.Compare(a[:], b[:]) }))) {
				t.Error("a form stands twice")
			}
		})
	}
	t.Run("another's code is none of them", func(t *testing.T) {
		d, _ := single(t, change(t, base, "NAD+SU+9520001000010", "NAD+SU+9520001000027"))
		for _, issuer := range IssuerForms("14", "9520001000010") {
			if (Former{Class: d.Class, TypeCode: d.TypeCode, Number: d.Number, IssueDate: d.IssueDate, Issuer: issuer}).GuardKey() == d.GuardKey() {
				t.Errorf("%+v guards %+v", issuer, d.Issuer)
			}
		}
	})
}
