package partners

import "slices"

// AS4 is what is agreed with a partner for AS4, as the gateway works with it: an
// AS4Spec in which "" stands for what is not there.
type AS4 struct {
	AS4Spec
}

// as4 makes the value; nil where the partner does not use AS4.
func (s AS4Spec) value() *AS4 {
	if s.Profile == AS4None {
		return nil
	}
	v := &AS4{s}
	for _, word := range []*string{&v.From.ID, &v.From.Type, &v.From.Role, &v.To.ID, &v.To.Type, &v.To.Role, &v.Agreement, &v.AgreementType, &v.URL, &v.Compression, &v.Reply.Service, &v.Reply.Type, &v.Reply.Action} {
		*word = unless(*word, AS4None)
	}
	v.MPC = unless(v.MPC, defaultMPC)
	v.Services = slices.Clone(s.Services)
	for i := range v.Services {
		v.Services[i].Type, v.Services[i].Action = unless(v.Services[i].Type, AS4None), unless(v.Services[i].Action, AS4None)
	}
	return v
}

// as4Pair is what a message is known to be for: who sends it to which of our names.
type as4Pair struct{ from, fromType, to, toType string }

func (s *AS4Spec) pair() as4Pair {
	return as4Pair{unless(s.From.ID, AS4None), unless(s.From.Type, AS4None), unless(s.To.ID, AS4None), unless(s.To.Type, AS4None)}
}

// ByAS4 finds whose messages have these eb:From and eb:To, each the id with its
// type ("" where it has none); nil if they are nobody's.
func (d *Directory) ByAS4(from, fromType, to, toType string) *Partner {
	if v := d.current.Load(); v != nil {
		return v.byAS4[as4Pair{from, fromType, to, toType}]
	}
	return nil
}
