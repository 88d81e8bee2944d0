package partners

import (
	"slices"

	"github.com/goccy/go-yaml/ast"
)

// Standard is the preset that changes no default.
const Standard = "standard"

// Presets are sets of defaults by name, for kinds of partners there are many of.
// A key that a partner's YAML names wins over its preset.
var Presets = []Preset{
	{Standard, "what fits most partners", func(*PartnerSpec) {}},
	{"strict", "a partner whose texts are to be as the standards say: whatever departs from them is refused", func(s *PartnerSpec) {
		s.Reading.ByteOrderMark, s.Reading.BlankLines, s.Reading.Padding = "refuse", "refuse", "refuse"
		s.Reading.LeadingZeros, s.Reading.SurroundingText, s.Reading.Structure = "refuse", "refuse", "refuse"
	}},
	{"lenient", "an old system whose references and texts are worth little: what can be understood is taken", func(s *PartnerSpec) {
		s.ControlReference, s.MessageReference, s.TransportID = "unreliable", "unreliable", "unreliable"
		s.Acceptance, s.OnDrift = "message", "hold"
		s.Reading.LineWraps, s.Reading.Structure = "accept", "off"
	}},
	{"edelivery", "an access point of an eDelivery network, which tries again by itself when it is told to", func(s *PartnerSpec) {
		s.OnDead, s.AcknowledgeBy = "refuse", "none"
	}},
	{"van", "a value added network, which delivers for many and cannot mend what they send", func(s *PartnerSpec) {
		s.OnDrift, s.Acceptance, s.TransportID, s.Share = "hold", "message", "unreliable", 80
	}},
}

// Preset is one of Presets.
type Preset struct {
	Name  string
	For   string // whom it is for
	apply func(*PartnerSpec)
}

// DefaultsOf is a partner as it is where its YAML names this preset and says
// nothing else; Defaults for a name that is none.
func DefaultsOf(name string) PartnerSpec {
	s := Defaults()
	if i := slices.IndexFunc(Presets, func(p Preset) bool { return p.Name == name }); i >= 0 {
		Presets[i].apply(&s)
		s.Preset = name
	}
	return s
}

// preset reads which defaults the other keys stand over; it comes before them.
func (d *document) preset(body ast.Node) PartnerSpec {
	var names []string
	for _, p := range Presets {
		names = append(names, p.Name)
	}
	name := Standard
	for _, e := range entriesOf(body) {
		if keyOf(e) != "preset" {
			continue
		}
		if s, ok := d.scalar(e.Value, "preset"); ok && slices.Contains(names, s) {
			name = s
		} else if near := nearest(s, names); ok && near != "" {
			d.fault(e.Value.GetToken(), "preset", "there is no preset %q; did you mean %s?", s, near)
		} else if ok {
			d.fault(e.Value.GetToken(), "preset", "must be %s, not %q", or(names), s)
		}
	}
	return DefaultsOf(name)
}
