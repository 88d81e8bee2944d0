package partners

import "time"

// PartnerOf is the partner of a spec that was never applied.
func PartnerOf(s PartnerSpec) *Partner { return s.partner(0, time.Time{}, nil, time.Time{}) }

// Normalise does to specs what Read does.
func Normalise(specs []Spec) {
	for _, s := range specs {
		if s.Organisation != nil {
			s.Organisation.normalise()
		}
		if s.Partner != nil {
			s.Partner.normalise()
		}
	}
}
