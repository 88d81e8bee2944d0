package partners

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/edigw/edigw/documents/roles"
)

// DocumentsSpec says how the partner's documents are read: by whose guide, and where
// they depart from it.
type DocumentsSpec struct {
	Profile string    `yaml:"profile" json:"profile"`
	Roles   RolesSpec `yaml:"roles" json:"roles"`
}

// RolesSpec are qualifiers with another role than the profile gives them.
type RolesSpec struct {
	Parties    Roles `yaml:"parties" json:"parties"`
	References Roles `yaml:"references" json:"references"`
	Dates      Roles `yaml:"dates" json:"dates"`
	Amounts    Roles `yaml:"amounts" json:"amounts"`
	Totals     Roles `yaml:"totals" json:"totals"`
	Quantities Roles `yaml:"quantities" json:"quantities"`
	Prices     Roles `yaml:"prices" json:"prices"`
	Texts      Roles `yaml:"texts" json:"texts"`
}

// Roles are words of package roles by qualifier.
type Roles map[string]string

// of gives the map of a kind.
func (s *RolesSpec) of(k roles.Kind) *Roles {
	return [...]*Roles{
		roles.Parties: &s.Parties, roles.References: &s.References, roles.Dates: &s.Dates, roles.Amounts: &s.Amounts,
		roles.Totals: &s.Totals, roles.Quantities: &s.Quantities, roles.Prices: &s.Prices, roles.Texts: &s.Texts,
	}[k]
}

// String gives the mapping as YAML writes it.
func (r Roles) String() string {
	var list []string
	for _, q := range slices.Sorted(maps.Keys(r)) {
		list = append(list, q+": "+r[q])
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// MarshalYAML writes qualifiers in order.
func (r Roles) MarshalYAML() (any, error) {
	m := yaml.MapSlice{}
	for _, q := range slices.Sorted(maps.Keys(r)) {
		m = append(m, yaml.MapItem{Key: q, Value: r[q]})
	}
	return m, nil
}

// MarshalJSON writes an object, also where there is nothing in it.
func (r Roles) MarshalJSON() ([]byte, error) {
	if len(r) == 0 {
		return []byte("{}"), nil
	}
	return json.Marshal(map[string]string(r))
}

// normalise makes specs that mean the same equal.
func (s *DocumentsSpec) normalise() {
	for _, list := range roles.Lists {
		if r := s.Roles.of(list.Kind); len(*r) == 0 {
			*r = nil
		}
	}
}

// set gives what the mappers ask. A profile that a later version stored is not known
// here: messages are then read by what they say of themselves.
func (s DocumentsSpec) set() *roles.Set {
	settings := roles.Settings{}
	for _, list := range roles.Lists {
		settings[list.Kind] = *s.Roles.of(list.Kind)
	}
	set, ok := roles.New(s.Profile, settings)
	if !ok {
		set, _ = roles.New(roles.Automatic, settings) // which there always is
	}
	return set
}

// documents reads how documents are read.
func (d *document) documents(into *DocumentsSpec) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		d.mapping(n, path,
			field{"profile", d.documentProfile(&into.Profile)},
			field{"roles", d.roles(&into.Roles)},
		)
	}
}

func (d *document) documentProfile(into *string) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		names := append([]string{roles.Automatic}, roles.Names()...)
		s, ok := d.scalar(n, path)
		if ok && !slices.Contains(names, s) {
			if near := nearest(s, names); near != "" {
				d.fault(n.GetToken(), path, "there is no profile %q; did you mean %s?", s, near)
			} else {
				d.fault(n.GetToken(), path, "must be %s, not %q", or(names), s)
			}
		}
		*into = s
	}
}

func (d *document) roles(into *RolesSpec) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		var fields []field
		for i := range roles.Lists {
			list := &roles.Lists[i]
			fields = append(fields, field{list.Name, d.rolesOf(into.of(list.Kind), list)})
		}
		d.mapping(n, path, fields...)
	}
}

// qualifier is what stands in the elements that roles.List names: each is an..3.
var qualifier = regexp.MustCompile(`^[A-Z0-9]{1,3}$`)

// rolesOf reads a mapping of qualifiers to words.
func (d *document) rolesOf(into *Roles, list *roles.List) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		*into = Roles{}
		if !d.plain(n, path) {
			return
		}
		switch n.(type) {
		case *ast.MappingNode, *ast.MappingValueNode:
		default:
			d.fault(n.GetToken(), path, "must be a mapping of qualifiers to roles, like {%s: %s}", "XX", list.Words[0].Role)
			return
		}
		entries := entriesOf(n)
		if len(entries) > maxItems {
			d.fault(n.GetToken(), path, "has %d items, of which there may be at most %d", len(entries), maxItems)
			return
		}
		at := map[string]*token.Token{}
		for _, e := range entries {
			key, tok := keyOf(e), e.Key.GetToken()
			full := join(path, key)
			switch {
			case at[key] != nil:
				d.fault(tok, full, "stands twice; the first is in line %d", d.before+at[key].Position.Line)
			case !qualifier.MatchString(key):
				d.fault(tok, full, "must be a qualifier of %s or %s: 1 to 3 capitals and digits", list.EDIFACT, list.X12)
			default:
				at[key] = tok
				if word, ok := d.role(e.Value, full, list); ok {
					(*into)[key] = word
				}
			}
		}
	}
}

// role reads a word of the list.
func (d *document) role(n ast.Node, path string, list *roles.List) (string, bool) {
	s, ok := d.scalar(n, path)
	if !ok || list.Has(s) {
		return s, ok
	}
	words := []string{roles.None}
	for _, w := range list.Words {
		words = append(words, w.Role)
	}
	if near := nearest(s, words); near != "" {
		d.fault(n.GetToken(), path, "there is no role %q in %s; did you mean %s?", s, list.Name, near)
	} else {
		d.fault(n.GetToken(), path, "must be %s, not %q", or(words), s)
	}
	return "", false
}
