package partners

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/jsontext"
)

// ErrMoved is wrapped where a change was made on what is not the present
// configuration any more.
var ErrMoved = errors.New("the configuration has changed since")

// PatchTx changes what a JSON merge patch (RFC 7396) names of a partner's
// configuration, if the partner is still at the revision it was made on; a key
// that it sets to null has its default again. The error wraps ErrUnknown or
// ErrMoved, and is Faults where the result cannot be.
func (s *Store) PatchTx(ctx context.Context, tx pgx.Tx, partner string, revision int32, patch []byte) (Changes, error) {
	if _, err := tx.Exec(ctx, `select counter from configuration for update`); err != nil {
		return nil, fmt.Errorf("lock configuration: %w", err)
	}
	now, err := read(ctx, tx)
	if err != nil {
		return nil, fmt.Errorf("patch %s: %w", partner, err)
	}
	p := now.partners[partner]
	switch {
	case p == nil:
		return nil, fmt.Errorf("partner %s: %w", partner, ErrUnknown)
	case p.revision != revision:
		return nil, fmt.Errorf("partner %s is at revision %d, not %d: %w", partner, p.revision, revision, ErrMoved)
	}
	spec, err := p.spec.patched(patch)
	if err != nil {
		return nil, err
	}
	return s.Apply(ctx, tx, []Spec{{Partner: spec}})
}

// patched gives the spec with a merge patch applied, judged as if it had been
// written in full.
func (s PartnerSpec) patched(patch []byte) (*PartnerSpec, error) {
	changes, err := objectOf(patch)
	if err != nil {
		return nil, err
	}
	if id, ok := changes["id"]; ok && id != any(s.ID) {
		return nil, Faults{{Key: "id", Text: "a partner keeps its id, which stands in every key"}}
	}
	text, err := json.Marshal(s.lists())
	if err != nil {
		return nil, err
	}
	whole, err := objectOf(text)
	if err != nil {
		return nil, err
	}
	if len(s.Processing) == 0 {
		whole["processing"] = Inline // as YAML writes it
	}
	if len(s.Checks) == 0 {
		whole["checks"] = s.Checks.String() // as YAML writes it
	}
	merge(whole, changes)
	whole["kind"] = "Partner"
	merged, err := json.Marshal(whole)
	if err != nil {
		return nil, err
	}
	// JSON is YAML, so that the one reader finds every fault there can be.
	specs, err := Reader{}.Read("", merged)
	var faults Faults
	if errors.As(err, &faults) {
		for i := range faults {
			faults[i].Line, faults[i].Column = 0, 0 // of a text that nobody has seen
		}
		return nil, faults
	}
	if err != nil {
		return nil, err
	}
	return specs[0].Partner, nil
}

// objectOf reads a JSON object. Its numbers stay as they are written, since an
// identifier without quotes is one that a float64 would round; a key that stands
// twice is a fault, as it is in YAML.
func objectOf(text []byte) (map[string]any, error) {
	if at, twice := jsontext.Twice(text); twice {
		return nil, Faults{{Key: at, Text: "stands twice"}}
	}
	object := map[string]any(nil)
	if json.Valid(text) {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&object); err == nil && object != nil {
			return object, nil
		}
	}
	return nil, Faults{{Text: "the change must be a JSON object with the keys to change"}}
}

// merge is MergePatch of RFC 7396 §2 for objects.
func merge(into, patch map[string]any) {
	for key, value := range patch {
		inner, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(into, key)
		case isObject:
			below, ok := into[key].(map[string]any)
			if !ok {
				below = map[string]any{}
			}
			merge(below, inner)
			into[key] = below
		default:
			into[key] = value
		}
	}
}
