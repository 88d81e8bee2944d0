package main

// known are departures of peers from the standard, by peer and situation, each
// with the reason why it is they who are wrong. One that no longer holds fails.
var known = map[string]map[string]string{
	"staedi": {
		"two messages of one reference":         "it compares a trailer with its header alone",
		"two sets of one number":                "it compares a trailer with its header alone",
		"two groups of one number":              "it compares a trailer with its header alone",
		"a set with BIN that holds terminators": "it goes by BIN01 only where a schema of the set is given to it",
	},
	"edireader": {
		"two messages of one reference": "it compares a trailer with its header alone",
		"two sets of one number":        "it compares a trailer with its header alone",
		"two groups of one number":      "it compares a trailer with its header alone",
	},
	"pyx12": {
		"a set with BIN that holds terminators": "it does not go by BIN01",
		"no GS":                                 "it asks for no group around a set",
	},
	"pydifact": {
		"UNZ tells a wrong count":       "its parser compares no counts",
		"UNE tells a wrong count":       "its parser compares no counts",
		"UNE names another group":       "its parser compares no references",
		"two messages of one reference": "its parser compares no references",
		"no UNT":                        "its parser asks for no trailer",
		"no UNH":                        "its parser takes any segments",
		"UNT tells a wrong count":       "its parser compares no counts",
		"UNT names another message":     "its parser compares no references",
		"UNZ names another interchange": "its parser compares no references",
		"no UNZ":                        "its parser asks for no trailer",
	},
	"node-edifact": {
		"UNZ tells a wrong count":       "its parser compares no counts",
		"UNE tells a wrong count":       "its parser compares no counts",
		"UNE names another group":       "its parser compares no references",
		"two messages of one reference": "its parser compares no references",
		"no UNT":                        "its parser asks for no trailer",
		"no UNH":                        "its parser takes any segments",
		"syntax version 4, its repetition separator released": "it knows UNA by the blank in its fifth place, where syntax version 4 has the separator",
		"UNT tells a wrong count":                             "its parser compares no counts",
		"UNT names another message":                           "its parser compares no references",
		"UNZ names another interchange":                       "its parser compares no references",
		"no UNZ":                                              "its parser asks for no trailer",
	},
	"bots": {
		"two messages of one reference":                 "it compares a trailer with its header alone",
		"two sets of one number":                        "it compares a trailer with its header alone",
		"two groups of one number":                      "it compares a trailer with its header alone",
		"a set with BIN that holds terminators":         "it does not go by BIN01",
		"a code that there is not in an 834 of a guide": "its grammars have no lists of codes",
		"our CONTRL": "no grammar of CONTRL comes with it, and what it has no grammar of it does not read",
	},
	"node-x12": {
		"two sets of one number":                "it compares a trailer with its header alone",
		"two groups of one number":              "it compares a trailer with its header alone",
		"a set with BIN that holds terminators": "it does not go by BIN01",
		"a TA1 before the group":                "it has TA1 in a group alone",
		"no SE":                                 "it closes a set at GE",
		"no GE":                                 "it closes a group at IEA",
		"no IEA":                                "it asks for no IEA where the text ends behind GE",
		"our TA1":                               "it has TA1 in a group alone; X12.5 has it between ISA and GS, and no group need be there",
		"our 997 for: a TA1 is asked for":       "a TA1 stands before the group, as above",
		"our 997 for: a TA1 is asked for, and SE tells a wrong count": "a TA1 stands before the group, as above",
	},
}

// departing tells, by reader and by sets, flaw or the verdict of the standard, where
// a 997 or 999 departs from the standard, or tells other errors than ours, and
// why. One that no longer holds fails.
var departing = map[string]map[string]string{
	"pyx12": {
		"A R A P":                    "AK901 R refuses a group of which AK904 then says that two sets are accepted; 715 has P for that",
		"276 an element is too long": "it has one length of element 127 for all versions, where that of 004010 is 1..30",
	},
	"errors": {
		"a segment that there is not":        "720 1 is a segment that no set has, 6 one that this set has not; tables of single sets cannot tell them apart, so either is right",
		"276 segments in another order":      "it knows only where it is in its map and calls AMT unrecognised, 720 1; the map has it, further up, which is 7",
		"834 segments in another order":      "it calls NM1 unrecognised, 720 1, though its map has it; before INS it is a loop without its beginning: INS and REF are missing, 3",
		"834 a mandatory segment is missing": "without BGN it finds no N1 either and calls both unrecognised; one fault is told as three",
		"276 an element is too long":         "it finds none, as told above",
		"elements that the segment has not":  "it names the segment alone; AK4 and IK4 with 723 or 621 code 3 say which element",
		"SE is missing":                      "718 and 618 have the code 2 for it; it counts on and names the third set 0002 as well",
	},
}

// unread tells why a peer does not read an answer of ours, by what it says. One
// that no answer needs any more fails.
var unread = []struct{ peer, says, why string }{
	{"staedi", `DATA_ELEMENT_TOO_LONG at in segment UNB`, "the answer goes to the sender by the name that it gave in S002, too long as that is"},
	{"staedi", `in segment TA1`, "TA101 to TA103 repeat ISA13, ISA09 and ISA10 as they were (X12.5), and what is wrong in them is what TA1 tells"},
	{"staedi", `DATA_ELEMENT_TOO_SHORT at in segment GS at position 2, element 3`, "GS04 has six digits before 004010"},
	{"edireader", `First segment must be UNA or UNB`, "it looks 128 characters ahead and misreads a text that is shorter"},
	{"edireader", `Unknown Syntax Identifier in UNB segment: UNOY`, "UNOY is in the code list of 0001"},
	{"pyx12", `Version Number is unknown: 00(704|302|304)`, "00704, 00302 and 00304 are versions of the interchange control structure (I11); it knows 00401 and 00501"},
	{"bots", `grammars/edifact/CONTRL|grammars.edifact.CONTRL`, "no grammar of CONTRL comes with it, and what it has no grammar of it does not read"},
	{"bots", `grammars.x12.997003020`, "no grammar of 003020 comes with it, and what it has no grammar of it does not read"},
	{"bots", `Record "ISA-TA1"`, "TA101 to TA103 repeat ISA13, ISA09 and ISA10 as they were (X12.5), and what is wrong in them is what TA1 tells"},
	{"bots", `Record "ST-AK[12]"`, "AK1 and AK2 repeat GS01, GS06, ST01 and ST02 as they were, and what is wrong in them is what the 997 tells"},
	{"node-x12", `TA1 segment cannot appear outside`, "it has TA1 in a group alone; X12.5 has it between ISA and GS, and no group need be there"},
}
