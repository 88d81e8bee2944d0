package x12

// The lists that say what is wrong: 716 of a group (AK905), 718 of a set (AK502), 720
// of a segment (AK304), 723 of an element (AK403). Those of a 999 hold at least what
// these hold in 005010.
const (
	groupCode   = "716"
	setCode     = "718"
	segmentCode = "720"
	elementCode = "723"
)

// since says in which version a code came in or got its meaning, and what is said
// before that. The lists of 004050 have 12 and 13 in 723, that of 004010 has neither; those
// between are not known. Number 19 of a group named a missing security trailer up to 004010. A
// version that is not known to have a code is taken not to have it.
var since = map[string]map[string]struct{ version, before string }{
	groupCode:   {"6": {"003020", ""}, "19": {"004050", "6"}},
	setCode:     {"23": {"003030", "7"}},
	segmentCode: {"8": {"003040", ""}},
	elementCode: {"10": {"003050", "3"}, "12": {"004050", "3"}, "13": {"004050", "3"}},
}

// said is a code of list as a 997 of a version has it, "" if there is none.
func said(list, code, version string) string {
	if s, changed := since[list][code]; changed && version < s.version {
		return s.before
	}
	return code
}
