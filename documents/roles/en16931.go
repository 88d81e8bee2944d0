package roles

import "github.com/edigw/edigw/edi"

// en16931 is the binding of the core invoice of EN 16931-1 to INVOIC (CEN/TS 16931-3-4,
// ISO 20625). It gives codes of the directory to business terms that have none of their
// own there.
var en16931 = Profile{
	Name: "en16931",
	For:  "the core invoice of EN 16931, bound to INVOIC",
	By:   "a directory from D.14A on, without an association code",
	says: func(syntax string, t *edi.MessageType) bool {
		return syntax != "x12" && t.AssociationCode == "" && t.Version == "D" && len(t.Release) == 3 && t.Release >= "14A" && t.Release < "90A"
	},
	EDIFACT: Entries{
		References: {
			{"GC", "tender", 1},               // BT-17
			{"ATS", "invoiced_object", 1},     // BT-18
			{"AVE", "invoiced_object", 1},     // BT-128
			{"AOU", "buyer_accounting", 1},    // BT-19
			{"GN", "company_registration", 1}, // BT-30, BT-47, BT-61
			{"AVS", "mandate", 1},             // BT-89
			{"AII", "creditor", 1},            // BT-90
		},
		Texts: {
			{"DOC", "specification", 1}, // BT-23, BT-24
			{"ACB", "note", 1},          // BT-127
		},
	},
}
