// Package checks lists what may be found in a document, and what a partner's policy
// makes of it.
//
// Findings of reading (a value that cannot be read, a segment that is missing) and
// those of comparing what a document says with itself stand in one list, All, by
// which the documentation is written and policies are judged. Package documents finds
// them; nothing is looked for here.
package checks

import "slices"

// What a policy makes of a finding.
const (
	Off    = "off"    // it is neither told nor kept nor counted
	Note   = "note"   // it is told and kept with the document, as serious as the list has it
	Refuse = "refuse" // it refuses the message
)

// Consequences are all of these, in their order.
var Consequences = []string{Off, Note, Refuse}

// Default is the key of a policy for every code that it does not name.
const Default = "default"

// Check is one thing that may be found.
type Check struct {
	Code     string
	Severity string // error, warning or note; "warning, note" where it depends
	EDIFACT  string // 0085, by which CONTRL tells that it refused
	Advice   string // 647 of X12, by which an 824 tells it; 9321 of APERAK has no list of its own
	Meaning  string
}

// Settable reports whether a policy may name the check: what is always an error
// refuses whatever a policy says.
func (c Check) Settable() bool { return c.Severity != "error" && c.Code != More }

// More is the note that others are not listed.
const More = "more-findings"

// Find gives the check of a code.
func Find(code string) (Check, bool) {
	i := slices.IndexFunc(All, func(c Check) bool { return c.Code == code })
	if i < 0 {
		return Check{}, false
	}
	return All[i], true
}

// Settable gives the codes that a policy may name, in the order of All.
func Settable() []string {
	var codes []string
	for _, c := range All {
		if c.Settable() {
			codes = append(codes, c.Code)
		}
	}
	return codes
}

// Of gives what policy makes of a code.
func Of(policy map[string]string, code string) string {
	if code == More {
		return Note
	}
	if consequence, ok := policy[code]; ok {
		return consequence
	}
	if consequence, ok := policy[Default]; ok {
		return consequence
	}
	return Note
}
