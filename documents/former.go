package documents

import "slices"

// Former is a document that a former gateway has processed, as its records know
// it: all that makes the guard key.
type Former struct {
	Class, TypeCode, Number, IssueDate string // IssueDate begins with the year
	Test                               bool
	Issuer                             Identifier
}

// GuardKey is the key the document has when it comes from a partner.
func (f Former) GuardKey() [32]byte {
	return (&Document{Class: f.Class, TypeCode: f.TypeCode, Number: f.Number, IssueDate: f.IssueDate, Test: f.Test, Issuer: f.Issuer}).GuardKey()
}

// IssuerForms gives every form in which a document may name the partner with this
// interchange address as its issuer: the address itself, where the message names
// no issuer, and the same code in NAD or N1 under the schemes that the
// qualifier's code list has there. Whoever knows no more of a document than who
// sent it guards it under all of them.
func IssuerForms(qualifier, id string) []Identifier {
	schemes := []string{"unb:" + qualifier, "", "91", "92"} // NAD without 3055; assigned by the seller, by the buyer
	if len(qualifier) == 2 {                                // I05 has two characters
		schemes = append(schemes, "isa:"+qualifier)
	}
	switch qualifier {
	case "14": // EAN (0007); D-U-N-S with suffix (I05)
		schemes = append(schemes, "0088", "9")
	case "1", "01": // D-U-N-S
		schemes = append(schemes, "0060")
	case "9": // D-U-N-S with suffix (0007)
		schemes = append(schemes, "9")
	case "ZZ", "ZZZ": // mutually defined
		schemes = append(schemes, "ZZ", "ZZZ")
	}
	slices.Sort(schemes)
	forms := make([]Identifier, len(schemes))
	for i, s := range schemes {
		forms[i] = Identifier{Value: id, Scheme: s}
	}
	return forms
}
