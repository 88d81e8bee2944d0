package roles

import (
	"strings"

	"github.com/edigw/edigw/edi"
)

// retailX12 is 810 and 856 as North American retailers agree on them: goods go to the
// ship-to party, and orders are known by department, vendor number and promotion.
var retailX12 = Profile{
	Name: "retail-x12",
	For:  "810 and 856 of retailers, VICS",
	By:   "a GS08 or ST03 that ends in VICS",
	says: func(syntax string, t *edi.MessageType) bool {
		return syntax == "x12" && strings.HasPrefix(t.AssociationCode, "VICS")
	},
	X12: Entries{
		Parties: {
			{"ST", "delivery", 1},
			{"OB", "ordered_by", 1},
		},
		References: {
			{"IA", "additional_id", 1}, // the number that the buyer knows the vendor by
			{"VR", "additional_id", 1},
			{"MR", "merchandise_type", 1},
			{"PD", "promotion", 1},
			{"AN", "appointment", 1},
			{"LO", "load", 1},
		},
		Dates: {
			{"001", "cancel_after", 1},
		},
	},
}
