package edi

import "testing"

func TestFindings(t *testing.T) {
	t.Run("a first error takes the place of the last warning kept", func(t *testing.T) {
		list := []*Error{{Severity: SeverityWarning}, {Severity: SeverityNote}}
		list, dropped := keep(list, &Error{Severity: SeverityError}, 2)
		if !dropped || Worst(list) != SeverityError {
			t.Fatal(list)
		}
	})
}
