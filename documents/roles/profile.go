package roles

import (
	"slices"

	"github.com/edigw/edigw/edi"
)

// Profile is a guide, or a family of guides, by what it reads differently from the base
// tables.
type Profile struct {
	Name string
	For  string // whose guide it is
	By   string // what a message says of itself to be read by it, where its partner names no profile

	EDIFACT, X12 Entries // what differs from the base

	says         func(syntax string, t *edi.MessageType) bool // By
	edifact, x12 *[kinds]index
}

// Profiles are those there are. The first that a message names is its own.
var Profiles = []*Profile{
	made(&eancom),
	made(&en16931),
	made(&retailX12),
	made(&edifactD96A),
}

// made indexes a profile over the base tables.
func made(p *Profile) *Profile {
	p.edifact, p.x12 = indexAll(&BaseEDIFACT, &p.EDIFACT), indexAll(&BaseX12, &p.X12)
	return p
}

var baseEDIFACT, baseX12 = indexAll(&BaseEDIFACT), indexAll(&BaseX12)

// Names are those of the profiles.
func Names() []string {
	names := make([]string, len(Profiles))
	for i, p := range Profiles {
		names[i] = p.Name
	}
	return names
}

func find(name string) *Profile {
	if i := slices.IndexFunc(Profiles, func(p *Profile) bool { return p.Name == name }); i >= 0 {
		return Profiles[i]
	}
	return nil
}

// named gives the profile that a message names, nil if it names none.
func named(syntax string, t *edi.MessageType) *Profile {
	if t == nil {
		return nil
	}
	for _, p := range Profiles {
		if p.says(syntax, t) {
			return p
		}
	}
	return nil
}
