package gateway

import (
	"github.com/edigw/edigw/dedup"
)

// TransportArrival is a delivery as it stands before its transport id: what the
// table asks at transport level.
type TransportArrival struct {
	SHA256       [32]byte
	First        bool // an interchange in it would be First
	Interchanges int  // with a key
	Effect       bool // under the id something was posted, absorbed, held, pending or acknowledged positively
	Unreliable   bool // transport_id: unreliable
}

// TransportThen is what a row at transport level leads to.
type TransportThen int

// The consequences of rows at transport level.
const (
	ToInterchanges TransportThen = iota // the interchange level decides
	SameTransport                       // the interchange level decides; rows I1 and I1b do not apply
	Noted                               // the interchange level decides; the difference is noted
	JoinTransport                       // joins the alert, stored answer
	StoredAnswer                        // Duplicate, its stored answer
	AdoptTransport                      // D's digest becomes the imported one's; what the interchange level does not know counts as imported too
	TransportDrift                      // nothing of it is processed, no interchange key is made
)

// TransportRow is a row of the table at transport level.
type TransportRow struct {
	Name  string
	Found string
	Then  TransportThen
	Text  string
	fits  func(a *TransportArrival, k *dedup.Key, v *dedup.Variant) bool
}

// Transports is the table at transport level: id T arrives with digest D. T keeps
// every digest it carried.
var Transports = []TransportRow{
	{Name: "T1", Found: "T unknown", Then: ToInterchanges, Text: "interchange level",
		fits: func(_ *TransportArrival, k *dedup.Key, _ *dedup.Variant) bool { return k == nil }},
	{Name: "T2", Found: "T known, D is an open transport drift", Then: JoinTransport, Text: "joins the alert, stored answer",
		fits: func(_ *TransportArrival, _ *dedup.Key, v *dedup.Variant) bool {
			return v != nil && v.State == dedup.Quarantined
		}},
	{Name: "T2b", Found: "T known, D is a rejected transport drift", Then: StoredAnswer, Text: "Duplicate, its stored answer",
		fits: func(_ *TransportArrival, _ *dedup.Key, v *dedup.Variant) bool {
			return v != nil && v.State == dedup.Refused
		}},
	{Name: "T3", Found: "T known, D was processed or refused under it", Then: SameTransport,
		Text: "interchange level; its answers make up the answer. I1 and I1b never apply here: what that level does not know any more is a Duplicate with T's stored answer, or, if it only ever got 503, as I6; what was refused without a key is judged again under a new revision",
		fits: func(_ *TransportArrival, _ *dedup.Key, v *dedup.Variant) bool { return v != nil }},
	{Name: "T3b", Found: "T holds an imported variant without digest", Then: AdoptTransport,
		Text: "interchange level, where what is not known counts as imported with it (I8b); D's digest becomes that variant's",
		fits: func(_ *TransportArrival, k *dedup.Key, v *dedup.Variant) bool { return v == nil && k.Imported() != nil }},
	{Name: "T4", Found: "T known, other D, nothing was posted, absorbed, held, pending or acknowledged positively under T", Then: ToInterchanges,
		Text: "interchange level (a correction)",
		fits: func(a *TransportArrival, _ *dedup.Key, _ *dedup.Variant) bool { return !a.Effect }},
	{Name: "T5", Found: "T known, other D, none of its interchanges is First", Then: Noted,
		Text: "interchange level; the difference is noted (kind transport, closed)",
		fits: func(a *TransportArrival, _ *dedup.Key, _ *dedup.Variant) bool { return !a.First && a.Interchanges > 0 }},
	{Name: "T6", Found: "T known, other D, an interchange in it is First, or it holds none; with transport_id: unreliable", Then: Noted,
		Text: "noted and processed",
		fits: func(a *TransportArrival, _ *dedup.Key, _ *dedup.Variant) bool { return a.Unreliable }},
	{Name: "T6", Found: "T known, other D, an interchange in it is First, or it holds none", Then: TransportDrift,
		Text: "Drift of kind transport: nothing of it is processed, no interchange key is made",
		fits: func(_ *TransportArrival, _ *dedup.Key, _ *dedup.Variant) bool { return true }},
}

// JudgeTransport gives the row for a under k, which is nil for an unknown id.
func JudgeTransport(a *TransportArrival, k *dedup.Key) *TransportRow {
	var v *dedup.Variant
	if k != nil {
		v = k.Find(a.SHA256)
	}
	for i := range Transports {
		if Transports[i].fits(a, k, v) {
			return &Transports[i]
		}
	}
	panic("the transport table has a hole") // unreachable: the last row takes what is left
}

// effective reports whether anything came of what t carried: outcomes.md, T4.
func effective(t *dedup.Key, keys map[dedup.Ref]*dedup.Key) bool {
	for _, v := range t.Variants {
		if v.State == dedup.Accepted && Answer(v.Answer).positive() {
			return true
		}
	}
	for _, c := range t.Carried {
		k := keys[c.Ref]
		if k == nil {
			continue
		}
		v := k.Find(c.SHA256)
		if v == nil || v.State == dedup.Quarantined || v.State == dedup.Refused {
			continue
		}
		for i := range v.Messages {
			if f := v.Messages[i].Fate; f.Effective() || f == dedup.Pending {
				return true
			}
		}
	}
	return false
}
