package main

// known are departures of peers from the standard, by peer and situation, each
// with the reason why it is they who are wrong. One that no longer holds fails.
var known = map[string]map[string]string{
	"pydifact": {
		"UNT tells a wrong count":       "its parser compares no counts",
		"UNT names another message":     "its parser compares no references",
		"UNZ names another interchange": "its parser compares no references",
		"no UNZ":                        "its parser asks for no trailer",
	},
	"node-edifact": {
		"UNT tells a wrong count":       "its parser compares no counts",
		"UNT names another message":     "its parser compares no references",
		"UNZ names another interchange": "its parser compares no references",
		"no UNZ":                        "its parser asks for no trailer",
	},
	"bots": {
		"our CONTRL": "no grammar of CONTRL comes with it, and what it has no grammar of it does not read",
	},
	"node-x12": {
		"no IEA":  "it asks for no IEA where the text ends behind GE",
		"our TA1": "it has TA1 in a group alone; X12.5 has it between ISA and GS, and no group need be there",
	},
}
