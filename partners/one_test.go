package partners_test

import "testing"

func TestOnePartnerIsReadAlone(t *testing.T) {
	s, _ := newStore(t)
	apply(t, s, north+partner("acme")+partner("other"))
	if _, err := s.IssueToken(t.Context(), "acme", "a", s.Now().AddDate(1, 0, 0)); err != nil {
		t.Fatal(err)
	}
	// Whoever reads this one as well, fails.
	if _, err := s.Pool.Exec(t.Context(), `update partner set spec = '{"id": 5}' where partner_id = 'other'`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.List(t.Context()); err == nil {
		t.Fatal("the other one can be read")
	}
	if p := get(t, s, "acme"); p.ID != "acme" || p.Organisation != "north" {
		t.Errorf("%+v", p)
	}
	if list, err := s.Tokens(t.Context(), "acme"); err != nil || len(list) != 1 || list[0].Label != "a" {
		t.Errorf("tokens %v, %v", list, err)
	}
	if text, err := s.Export(t.Context(), "acme"); err != nil || len(specs(t, "", string(text))) != 2 {
		t.Errorf("export %s, %v", text, err)
	}
}
