package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// guide is a transaction set that a peer judges by tables of its own, and what one
// that departs from nothing holds.
type guide struct {
	name, group, control, release, st03, repetition string
	segments                                        []string // between ST and SE
}

var guides = []guide{
	{"276", "HR", "00401", "004010X093A1", "", "U", []string{
		"BHT*0010*13**20261128",
		"HL*1**20*1", "NM1*PR*2*HARBOUR HEALTH*****PI*H1",
		"HL*2*1*21*1", "NM1*41*2*NORTH CLINIC*****46*C1",
		"HL*3*2*19*1", "NM1*1P*2*NORTH CLINIC*****FI*123456789",
		"HL*4*3*22*0", "DMG*D8*19700101*F", "NM1*QC*1*DOE*JANE****MI*M1",
		"TRN*1*T1", "REF*EA*R1", "AMT*T3*100", "DTP*232*RD8*20261101-20261102",
	}},
	{"834", "BE", "00501", "005010X220A1", "*005010X220A1", "^", []string{
		"BGN*00*B1*20261128*0914****2",
		"N1*P5*SPONSOR*FI*12", "N1*IN*INSURER*FI*34",
		"INS*Y*18*021**A***FT", "REF*0F*S1", "DTP*356*D8*20261101", "NM1*IL*1*DOE*JANE", "DMG*D8*19700101*F",
	}},
}

// flaw is what is wrong with the second of three sets, or with their group.
type flaw struct {
	name     string
	segments map[string][2]string // by guide: a segment and what stands in its place, "" for nothing
	pattern  string               // or what is replaced in the whole text
	with     string
	verdict  string // of the standard: AK501 of each set, AK901
	clause   string
}

var flaws = []flaw{
	{"nothing wrong", nil, "", "", "A A A A", "715, 717"},
	{"SE01 tells a wrong count", nil, `SE\*\d+\*0002`, "SE*99*0002", "A R A P", "718 4"},
	{"SE02 names another set", nil, `(SE\*\d+\*)0002`, "${1}0009", "A R A P", "718 3"},
	{"ST02 was used before", nil, `(ST\*\d+\*|SE\*\d+\*)0002`, "${1}0001", "A R A P", "718 23"},
	{"a mandatory segment is missing", map[string][2]string{"276": {"BHT*0010*13**20261128", ""}, "834": {"BGN*00*B1*20261128*0914****2", ""}}, "", "", "A R A P", "720 3"},
	{"a segment that there is not", map[string][2]string{"276": {"REF*EA*R1", "REF*EA*R1~ZZ9*1"}, "834": {"REF*0F*S1", "REF*0F*S1~ZZ9*1"}}, "", "", "A R A P", "720 1 or 6"},
	{"a segment too often", map[string][2]string{"276": {"AMT*T3*100", "AMT*T3*100~AMT*T3*100"}, "834": {"DMG*D8*19700101*F", "DMG*D8*19700101*F~DMG*D8*19700101*F"}}, "", "", "A R A P", "720 5"},
	{"segments in another order", map[string][2]string{"276": {"AMT*T3*100", "DTP*232*RD8*20261101-20261102~AMT*T3*100"}, "834": {"INS*Y*18*021**A***FT", "NM1*IL*1*DOE*JANE~INS*Y*18*021**A***FT"}}, "", "", "A R A P", "720 3 or 7"},
	{"a mandatory element is missing", map[string][2]string{"276": {"TRN*1*T1", "TRN*1"}, "834": {"REF*0F*S1", "REF*0F"}}, "", "", "A R A P", "723 1"},
	{"an element is too long", map[string][2]string{"276": {"REF*EA*R1", "REF*EA*" + strings.Repeat("9", 31)}, "834": {"REF*0F*S1", "REF*0F*" + strings.Repeat("9", 51)}}, "", "", "A R A P", "723 5"},
	{"an element is too short", map[string][2]string{"276": {"NM1*PR*2*HARBOUR HEALTH*****PI*H1", "NM1*PR*2*HARBOUR HEALTH*****PI*H"}, "834": {"N1*IN*INSURER*FI*34", "N1*IN*INSURER*FI*3"}}, "", "", "A R A P", "723 4"},
	{"elements that the segment has not", map[string][2]string{"276": {"DTP*232*RD8*20261101-20261102", "DTP*232*RD8*20261101-20261102*1"}, "834": {"DTP*356*D8*20261101", "DTP*356*D8*20261101*1"}}, "", "", "A R A P", "723 3"},
	{"a code that there is not", map[string][2]string{"276": {"DMG*D8*19700101*F", "DMG*D8*19700101*Q"}, "834": {"DMG*D8*19700101*F", "DMG*D8*19700101*Q"}}, "", "", "A R A P", "723 7"},
	{"a date that there is not", map[string][2]string{"276": {"BHT*0010*13**20261128", "BHT*0010*13**20261328"}, "834": {"BGN*00*B1*20261128*0914****2", "BGN*00*B1*20261328*0914****2"}}, "", "", "A R A P", "723 8"},
	{"a time that there is not", map[string][2]string{"834": {"BGN*00*B1*20261128*0914****2", "BGN*00*B1*20261128*2561****2"}}, "", "", "A R A P", "723 9"},
	{"letters in a number", map[string][2]string{"276": {"AMT*T3*100", "AMT*T3*1OO"}}, "", "", "A R A P", "723 6"},
	{"SE is missing", nil, `SE\*\d+\*0002~`, "", "A R A P", "718 2"},
	{"GE01 tells a wrong count", nil, `GE\*3`, "GE*4", "- - - R", "716 5"},
	{"GE02 names another group", nil, `(GE\*3\*)\d+`, "${1}99", "- - - R", "716 4"},
}

// with is an interchange with the flaw of that name.
func (g *guide) with(name string) string {
	for i := range flaws {
		if text, is := g.interchange(90+i, &flaws[i]); is && flaws[i].name == name {
			return text
		}
	}
	return ""
}

// interchange is three sets of g, the second of which, or their group, has f.
// It gives none where g cannot have it.
func (g *guide) interchange(number int, f *flaw) (string, bool) {
	change, is := f.segments[g.name]
	if f.segments != nil && !is {
		return "", false
	}
	var b strings.Builder
	fmt.Fprintf(&b, "ISA*00*          *00*          *ZZ*NORTHWIND      *ZZ*HARBOUR        *261128*0914*%s*%s*%09d*0*P*>~", g.repetition, g.control, number)
	fmt.Fprintf(&b, "GS*%s*NORTHWIND*HARBOUR*20261128*0914*%d*X*%s~", g.group, number, g.release)
	for i := 1; i <= 3; i++ {
		segments := slices.Clone(g.segments)
		if at := slices.Index(segments, change[0]); i == 2 && at >= 0 {
			segments = slices.DeleteFunc(slices.Replace(segments, at, at+1, strings.Split(change[1], "~")...), func(s string) bool { return s == "" })
		}
		fmt.Fprintf(&b, "ST*%s*%04d%s~%s~SE*%d*%04d~", g.name, i, g.st03, strings.Join(segments, "~"), len(segments)+2, i)
	}
	fmt.Fprintf(&b, "GE*3*%d~IEA*1*%09d~", number, number)
	if f.pattern == "" {
		return b.String(), true
	}
	return regexp.MustCompile(f.pattern).ReplaceAllString(b.String(), f.with), true
}
