package roles

import (
	"strings"

	"github.com/edigw/edigw/edi"
)

// edifactD96A is the plain directory of the nineties, as industry uses it without a
// guide that has a name: many say a line's amount as goods item total, and the total of
// the invoice as total amount, since the later codes were not there.
var edifactD96A = Profile{
	Name: "edifact-d96a",
	For:  "UN/EDIFACT D.96A and its neighbours, plain",
	By:   "a directory D.93A to D.99B, without an association code",
	says: func(syntax string, t *edi.MessageType) bool {
		return syntax != "x12" && t.AssociationCode == "" && strings.HasPrefix(t.Release, "9")
	},
	EDIFACT: Entries{
		Amounts: {
			{"66", "line_net", 1}, // quantity × price, where there is no 203
		},
		Totals: {
			{"128", "tax_inclusive", 10},
		},
	},
}
