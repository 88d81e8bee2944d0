package edi

import "testing"

func TestLineInside(t *testing.T) {
	for _, c := range [...]struct {
		name, text string
		want       bool
	}{
		{"none", "AB+1'CD+2'", false},
		{"one between segments", "AB+1'\nCD+2'\nEF'", false},
		{"a carriage return with it", "AB+1'\r\nCD+2'\r\n", false},
		{"several between segments", "AB+1'\n\n \nCD+2'", false},
		{"one inside", "AB+\n1'CD+2'", true},
		{"one inside beside one between", "AB+1'\nCD+\n2'\nEF'", true},
		{"one inside the last, which has no terminator", "AB+1'\nCD+\n2", true},
		{"one at the end of a segment", "AB+1\n'CD'", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := NewBody([]byte(c.text), 0, 1, defaults, nil).LineInside(); got != c.want {
				t.Errorf("%q: %v", c.text, got)
			}
		})
	}
}
