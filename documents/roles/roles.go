// Package roles says which qualifier of a business document plays which role: that
// NAD+DP, say, is the party that goods are delivered to, or MOA+77 the total with tax.
// The directories of UN/EDIFACT and X12 leave much of that to the guide that partners
// agree on, so there is a base table for each syntax, a Profile for each guide that
// holds only what it reads differently, and over both what a partner's settings say.
//
// A role is a word of ours, the same for both syntaxes; words.go lists them. Mappers
// ask a Guide, which answers without an allocation. The package knows nothing of
// documents: what a role does is theirs.
package roles

import "github.com/edigw/edigw/edi"

// Kind is a code list whose qualifiers guides read differently.
type Kind uint8

// The kinds.
const (
	Parties    Kind = iota // NAD 3035; N101
	References             // RFF 1153; REF01
	Dates                  // DTM 2005; DTM01
	Amounts                // MOA 5025 of lines, taxes, allowances and charges; AMT01, PAM04
	Totals                 // MOA 5025 of the summary, outside of taxes; X12 has TDS for that
	Quantities             // QTY 6063; QTY01
	Prices                 // PRI 5125; CTP02
	Texts                  // FTX 4451; NTE01
	kinds
)

// Entry gives a qualifier its role. Where several qualifiers of a document have one
// role and it takes one of them, the highest rank is taken; 0 counts as 1.
type Entry struct {
	Qualifier, Role string
	Rank            uint8
}

// Entries are those of each kind.
type Entries [kinds][]Entry

// RankUnlessAdjusted is that of an amount which is before the allowances and charges of a
// line (EDIFACT 5025), and so its net amount only where there are none.
const RankUnlessAdjusted = 1

// RankOfSettings is above the rank of every table: what a partner's settings name is
// meant.
const RankOfSettings = 255

// A Set says how the messages of a partner are read. It is not changed once it is
// made, and may be shared. A nil Set is Automatic without settings.
type Set struct {
	profile *Profile      // nil: by what each message says of itself
	own     *[kinds]index // of the settings; nil: there are none
}

// Automatic is the name of no profile: each message is read by the one that its
// association code or directory names, else by the base table.
const Automatic = "automatic"

// Settings are words for roles by qualifier, for each kind; None takes a role away.
type Settings [kinds]map[string]string

// New gives the set of a profile, with settings over it. ok is false where there
// is no profile of that name.
func New(profile string, settings Settings) (set *Set, ok bool) {
	s := &Set{}
	if profile != Automatic {
		if s.profile = find(profile); s.profile == nil {
			return nil, false
		}
	}
	var own Entries
	any := false
	for k := range settings {
		for qualifier, role := range settings[k] {
			if role == None {
				role = ""
			}
			own[k], any = append(own[k], Entry{qualifier, role, RankOfSettings}), true
		}
	}
	switch {
	case any:
		s.own = indexAll(&own)
	case s.profile == nil:
		return nil, true
	}
	return s, true
}

// Equal reports whether two sets read alike.
func (s *Set) Equal(o *Set) bool {
	if s == nil || o == nil {
		return s == o
	}
	if s.profile != o.profile || (s.own == nil) != (o.own == nil) {
		return false
	}
	for k := range kinds {
		if s.own != nil && !s.own[k].equal(&o.own[k]) {
			return false
		}
	}
	return true
}

// A Guide gives the roles of one message's qualifiers. The zero Guide has none.
type Guide struct {
	base, own *[kinds]index
	Profile   string // whose name it is; "" of the base table
}

// For gives the guide of a message. t may be nil.
func (s *Set) For(syntax string, t *edi.MessageType) Guide {
	var g Guide
	var p *Profile
	if s != nil {
		p, g.own = s.profile, s.own
	}
	if p == nil {
		p = named(syntax, t)
	}
	switch {
	case p == nil && syntax == "x12":
		g.base = baseX12
	case p == nil:
		g.base = baseEDIFACT
	case syntax == "x12":
		g.base, g.Profile = p.x12, p.Name
	default:
		g.base, g.Profile = p.edifact, p.Name
	}
	return g
}

// Role gives the role of a qualifier, "" if it has none, and its rank.
func (g *Guide) Role(k Kind, qualifier string) (role string, rank uint8) {
	if g.own != nil {
		if e := g.own[k].find(qualifier); e != nil {
			return e.Role, e.Rank
		}
	}
	if g.base != nil {
		if e := g.base[k].find(qualifier); e != nil {
			return e.Role, e.Rank
		}
	}
	return "", 0
}

// Is reports whether a qualifier has the role.
func (g *Guide) Is(k Kind, qualifier, role string) bool {
	r, _ := g.Role(k, qualifier)
	return r == role
}
