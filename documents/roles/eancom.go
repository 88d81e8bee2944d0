package roles

import (
	"strings"

	"github.com/edigw/edigw/edi"
)

// eancom is GS1's subset of UN/EDIFACT, on D.96A and D.01B. It identifies a party
// beside its GLN by RFF, also with a code that the directory has not.
var eancom = Profile{
	Name: "eancom",
	For:  "GS1 EANCOM, on D.96A and D.01B",
	By:   "an association code (0057) EANnnn",
	says: func(syntax string, t *edi.MessageType) bool {
		return syntax != "x12" && strings.HasPrefix(t.AssociationCode, "EAN")
	},
	EDIFACT: Entries{
		References: {
			{"YC1", "additional_id", 1}, {"API", "additional_id", 1}, // of the party it stands beneath
			{"IA", "additional_id", 1}, // that the buyer knows a supplier by
		},
	},
}
