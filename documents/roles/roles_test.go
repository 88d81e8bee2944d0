package roles_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/edigw/edigw/documents/roles"
	"github.com/edigw/edigw/edi"
)

// tables are all there are, by name.
func tables() map[string]roles.Entries {
	all := map[string]roles.Entries{"EDIFACT": roles.BaseEDIFACT, "X12": roles.BaseX12}
	for _, p := range roles.Profiles {
		all[p.Name+" in EDIFACT"], all[p.Name+" in X12"] = p.EDIFACT, p.X12
	}
	return all
}

func TestTables(t *testing.T) {
	for name, entries := range tables() {
		t.Run("each qualifier of "+name+" stands once, with a word that is listed", func(t *testing.T) {
			for i, list := range roles.Lists {
				if int(list.Kind) != i {
					t.Fatalf("%s stands at %d", list.Name, i)
				}
				seen := map[string]bool{}
				for _, e := range entries[list.Kind] {
					if seen[e.Qualifier] || len(e.Qualifier) < 1 || len(e.Qualifier) > 3 || strings.ToUpper(e.Qualifier) != e.Qualifier {
						t.Errorf("%s: %q", list.Name, e.Qualifier)
					}
					seen[e.Qualifier] = true
					if !list.Has(e.Role) || e.Role == roles.None {
						t.Errorf("%s: %s has the role %q, which is no word", list.Name, e.Qualifier, e.Role)
					}
					if e.Rank == 0 || e.Rank == roles.RankOfSettings {
						t.Errorf("%s: %s has rank %d", list.Name, e.Qualifier, e.Rank)
					}
				}
			}
		})
	}
	t.Run("a profile has only what differs from the base", func(t *testing.T) {
		for _, p := range roles.Profiles {
			for i, entries := range [2]roles.Entries{p.EDIFACT, p.X12} {
				base := [2]roles.Entries{roles.BaseEDIFACT, roles.BaseX12}[i]
				for k := range entries {
					for _, e := range entries[k] {
						if slices.ContainsFunc(base[k], func(b roles.Entry) bool { return b.Qualifier == e.Qualifier && b.Role == e.Role }) {
							t.Errorf("%s: %s is %s in the base", p.Name, e.Qualifier, e.Role)
						}
					}
				}
			}
		}
	})
	t.Run("no list has a word twice", func(t *testing.T) {
		for _, list := range roles.Lists {
			seen := map[string]bool{roles.None: true}
			for _, w := range list.Words {
				if seen[w.Role] || w.Means == "" {
					t.Errorf("%s: %q means %q", list.Name, w.Role, w.Means)
				}
				seen[w.Role] = true
			}
		}
	})
}

func TestGuideOfAMessage(t *testing.T) {
	edifact := func(release, association string) *edi.MessageType {
		return &edi.MessageType{Type: "INVOIC", Version: "D", Release: release, Agency: "UN", AssociationCode: association}
	}
	for name, c := range map[string]struct {
		syntax string
		of     *edi.MessageType
		want   string
	}{
		"EAN008 is EANCOM":                    {"edifact", edifact("96A", "EAN008"), "eancom"},
		"EAN010 on D.01B is too":              {"edifact", edifact("01B", "EAN010"), "eancom"},
		"D.96A alone is plain":                {"edifact", edifact("96A", ""), "edifact-d96a"},
		"D.01B alone is the base":             {"edifact", edifact("01B", ""), ""},
		"D.14B alone is EN 16931":             {"edifact", edifact("14B", ""), "en16931"},
		"D.16B is too":                        {"edifact", edifact("16B", ""), "en16931"},
		"a guide of another is the base":      {"edifact", edifact("96A", "ODA001"), ""},
		"004010VICS is of retailers":          {"x12", &edi.MessageType{Type: "810", Release: "004010", AssociationCode: "VICS"}, "retail-x12"},
		"004010 alone is the base":            {"x12", &edi.MessageType{Type: "810", Release: "004010"}, ""},
		"VICS in EDIFACT is none of X12":      {"edifact", edifact("01B", "VICS"), ""},
		"a message that says nothing":         {"edifact", &edi.MessageType{Type: "INVOIC"}, ""},
		"a message of which nothing was read": {"edifact", nil, ""},
		"and in X12":                          {"x12", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var set *roles.Set
			g := set.For(c.syntax, c.of)
			if g.Profile != c.want {
				t.Errorf("got %q, want %q", g.Profile, c.want)
			}
			if role, _ := g.Role(roles.Parties, "SU"); role != "supplier" {
				t.Errorf("SU is %q", role)
			}
		})
	}
}

func TestEveryEntryIsFound(t *testing.T) {
	for _, p := range roles.Profiles {
		set, ok := roles.New(p.Name, roles.Settings{})
		if !ok {
			t.Fatal(p.Name)
		}
		for i, syntax := range []string{"edifact", "x12"} {
			g := set.For(syntax, nil)
			base, own := [2]roles.Entries{roles.BaseEDIFACT, roles.BaseX12}[i], [2]roles.Entries{p.EDIFACT, p.X12}[i]
			for _, list := range roles.Lists {
				want := map[string]roles.Entry{}
				for _, e := range slices.Concat(base[list.Kind], own[list.Kind]) {
					want[e.Qualifier] = e
				}
				for q, e := range want {
					if role, rank := g.Role(list.Kind, q); role != e.Role || rank != e.Rank {
						t.Errorf("%s %s: %s is %s of rank %d, want %s of %d", p.Name, syntax, q, role, rank, e.Role, e.Rank)
					}
				}
				for _, q := range []string{"", "?", "QQQ", "QQQQ", "a qualifier that is none", "\x00", "\x00\x00"} {
					if role, rank := g.Role(list.Kind, q); role != "" || rank != 0 {
						t.Errorf("%q is %s", q, role)
					}
				}
			}
		}
	}
}

func TestSettings(t *testing.T) {
	t.Run("what a partner says is over its profile", func(t *testing.T) {
		set, _ := roles.New("eancom", roles.Settings{roles.Parties: {"SU": "issuer", "BY": roles.None, "X1": "payer"}})
		g := set.For("edifact", nil)
		for q, want := range map[string]string{"SU": "issuer", "BY": "", "X1": "payer", "SE": "supplier"} {
			if role, _ := g.Role(roles.Parties, q); role != want {
				t.Errorf("%s is %q, want %q", q, role, want)
			}
		}
		if !g.Is(roles.References, "YC1", "additional_id") {
			t.Error("the profile is gone")
		}
		if _, rank := g.Role(roles.Parties, "SU"); rank != roles.RankOfSettings {
			t.Errorf("its rank is %d", rank)
		}
	})
	t.Run("a name that is none is told", func(t *testing.T) {
		if set, ok := roles.New("eancon", roles.Settings{}); ok || set != nil {
			t.Error(set)
		}
	})
	t.Run("sets are equal where they read alike", func(t *testing.T) {
		of := func(profile, word string) *roles.Set {
			s := roles.Settings{}
			if word != "" {
				s[roles.Dates] = map[string]string{"50": word, "51": "due"}
			}
			set, _ := roles.New(profile, s)
			return set
		}
		sets := []*roles.Set{of("automatic", ""), of("eancom", ""), of("en16931", ""), of("automatic", "issue"), of("automatic", "invoice"), of("eancom", "issue")}
		again := []*roles.Set{of("automatic", ""), of("eancom", ""), of("en16931", ""), of("automatic", "issue"), of("automatic", "invoice"), of("eancom", "issue")}
		for i := range sets {
			for j := range again {
				if sets[i].Equal(again[j]) != (i == j) {
					t.Errorf("set %d and %d: %v", i, j, i != j)
				}
			}
		}
	})
}
