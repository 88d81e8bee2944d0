package roles

import (
	"strings"

	"github.com/edigw/edigw/edi"
)

// edifactD96A is the plain directory of the nineties, as industry uses it without a
// guide that has a name: many say a line's amount as goods item total, since the later
// code was not there. Total amount (128) is left to a partner's settings: some say the
// goods with it, before allowances, and some all that is to be paid.
var edifactD96A = Profile{
	Name: "edifact-d96a",
	For:  "UN/EDIFACT D.96A and its neighbours, plain",
	By:   "a directory D.93A to D.99B, without an association code",
	says: func(syntax string, t *edi.MessageType) bool {
		return syntax != "x12" && t.AssociationCode == "" && strings.HasPrefix(t.Release, "9")
	},
	EDIFACT: Entries{
		Amounts: {
			{"66", "line_net", RankUnlessAdjusted}, // quantity × price, where there is no 203
		},
	},
}
