package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
)

// decisionFacts is what a decision is made on. A proposal keeps them, and its
// approval meets them again or is refused.
type decisionFacts struct {
	Epoch    int32             `json:"epoch"`
	Current  string            `json:"current"`
	Variants map[string]string `json:"variants"` // digest: state and what became of the messages
	Digests  []string          `json:"digests"`  // of the alert
	Brought  string            `json:"brought"`  // documents of the key
	Touched  []string          `json:"touched"`  // documents known from elsewhere
}

// factsOf notes how the key stands, before the decision changes it.
func factsOf(k *dedup.Key, a *dedup.Alert, brought []*documents.Brought) *decisionFacts {
	f := &decisionFacts{Epoch: k.Epoch, Variants: map[string]string{}, Digests: []string{}, Touched: []string{}}
	for _, v := range k.Variants {
		fates := make([]byte, len(v.Messages))
		for i := range v.Messages {
			fates[i] = byte(v.Messages[i].Fate)
		}
		sum := sha256.Sum256(fates)
		f.Variants[hexOf(v.SHA256)] = fmt.Sprintf("%s in epoch %d, %x", v.State, v.Epoch, sum[:8])
	}
	if c := k.Current(); c != nil {
		f.Current = hexOf(c.SHA256)
	}
	for _, d := range a.Digests {
		f.Digests = append(f.Digests, hex.EncodeToString(d))
	}
	var ids []byte
	for _, d := range brought {
		ids = fmt.Append(ids, d.ID, d.Over)
	}
	f.Brought = hexOf(sha256.Sum256(ids))
	return f
}

func (f *decisionFacts) touch(guards []string) {
	f.Touched = append(f.Touched, guards...)
	slices.Sort(f.Touched)
	f.Touched = slices.Compact(f.Touched)
}

// changedSince says in words what differs from the facts of a proposal.
func (f *decisionFacts) changedSince(kept json.RawMessage) ([]string, error) {
	var then decisionFacts
	if err := json.Unmarshal(kept, &then); err != nil {
		return nil, fmt.Errorf("facts of the proposal: %w", err)
	}
	var why []string
	if then.Epoch != f.Epoch || then.Current != f.Current {
		why = append(why, "another payload is the current one of the key")
	}
	for _, d := range slices.Sorted(maps.Keys(f.Variants)) {
		switch before, known := then.Variants[d]; {
		case !known:
			why = append(why, "the payload "+d+" arrived")
		case before != f.Variants[d]:
			why = append(why, "the payload "+d+" stands otherwise")
		}
	}
	if !slices.Equal(then.Digests, f.Digests) {
		why = append(why, "the alert holds other payloads")
	}
	if then.Brought != f.Brought {
		why = append(why, "a document of this key was posted, replaced or cancelled")
	}
	if !slices.Equal(then.Touched, f.Touched) {
		why = append(why, "a document of the payload was posted or revised by another interchange")
	}
	return why, nil
}
