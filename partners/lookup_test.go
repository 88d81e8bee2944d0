package partners_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestByAS2(t *testing.T) {
	s, _ := newStore(t)
	apply(t, s, north+"as2: {names: [NORTH, \"North \\\"Port\\\"\"]}\n---\nkind: Organisation\nid: south\nas2: {names: [SOUTH]}\n"+
		partner("acme", "as2: {names: [ACME, Acme Works], send: {url: 'https://acme.example', to: ACME, from: NORTH}}")+
		"---\nkind: Partner\nid: acme-south\norganisation: south\nas2: {names: [ACME], send: {url: 'https://acme.example'}}\n")
	d := load(t, s)
	for _, c := range [][3]string{
		{"ACME", "NORTH", "acme"}, {"Acme Works", `North "Port"`, "acme"}, {"ACME", "SOUTH", "acme-south"},
		{"acme", "NORTH", ""}, {"ACME", "north", ""}, {"Acme Works", "SOUTH", ""}, {"", "", ""}, {"NORTH", "ACME", ""},
	} {
		t.Run("who sends as "+c[0]+" to "+c[1], func(t *testing.T) {
			got := ""
			if p := d.ByAS2(c[0], c[1]); p != nil {
				got = p.ID
			}
			if got != c[2] {
				t.Errorf("got %q, want %q", got, c[2])
			}
		})
	}
	t.Run("the only name is the one we send under", func(t *testing.T) {
		send := d.ByAS2("ACME", "SOUTH").AS2.Send
		if diff := cmp.Diff([]string{"SOUTH", "ACME", "https://acme.example"}, []string{send.From, send.To, send.URL}); diff != "" {
			t.Error(diff)
		}
		if send = d.ByAS2("ACME", "NORTH").AS2.Send; send.From != "NORTH" || send.To != "ACME" {
			t.Errorf("got %+v", send)
		}
	})
}

func TestByAS4(t *testing.T) {
	s, _ := newStore(t)
	const ours = ", to: {id: north-ap, type: urn:t}}"
	apply(t, s, north+partner("acme", "as4: {profile: edelivery-1.15, from: {id: acme-ap, type: urn:t}"+ours)+partner("bolt", "as4: {profile: edelivery-2.0, from: {id: bolt-ap, type: urn:t}"+ours)+partner("mute"))
	d := load(t, s)
	t.Run("who sends to whom, ids with their types, says whose message it is", func(t *testing.T) {
		for _, c := range []struct{ from, fromType, to, toType, want string }{
			{"acme-ap", "urn:t", "north-ap", "urn:t", "acme"},
			{"bolt-ap", "urn:t", "north-ap", "urn:t", "bolt"},
			{"acme-ap", "", "north-ap", "urn:t", ""},
			{"acme-ap", "urn:t", "north-ap", "", ""},
			{"north-ap", "urn:t", "acme-ap", "urn:t", ""},
			{"ACME-AP", "urn:t", "north-ap", "urn:t", ""},
			{"none", "none", "none", "none", ""},
		} {
			got := ""
			if p := d.ByAS4(c.from, c.fromType, c.to, c.toType); p != nil {
				got = p.ID
			}
			if got != c.want {
				t.Errorf("%+v: got %q", c, got)
			}
		}
	})
	t.Run("two partners with the same names are refused", func(t *testing.T) {
		_, err := tryApply(t, s, partner("copy", "as4: {profile: peppol, from: {id: acme-ap, type: urn:t}"+ours))
		if err == nil || !strings.Contains(err.Error(), "as4.from: acme-ap to north-ap is how partner acme sends") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("one that leaves AS4 is not found by it any more", func(t *testing.T) {
		apply(t, s, partner("acme"))
		if p := load(t, s).ByAS4("acme-ap", "urn:t", "north-ap", "urn:t"); p != nil {
			t.Errorf("found %s", p.ID)
		}
	})
}
