package partners

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Changes are what an apply changed, organisations first, each by id.
type Changes []Change

// Change is one organisation or partner that changed.
type Change struct {
	Kind     string        `json:"kind"` // Organisation or Partner
	ID       string        `json:"id"`
	Revision int32         `json:"revision,omitempty"` // the new one
	Cause    string        `json:"cause"`              // created, changed, or what else moved: what was refused may be judged again
	Fields   []FieldChange `json:"fields,omitempty"`   // empty if the partner's own configuration is as it was
}

// FieldChange is one key before and after, as JSON; empty where it was not.
type FieldChange struct {
	Key    string `json:"key"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// String gives "retention.payloads: 90d → 30d".
func (f FieldChange) String() string {
	show := func(s string) string { return strings.Trim(s, `"`) }
	switch {
	case f.Before == "":
		return f.Key + ": " + show(f.After)
	case f.After == "":
		return f.Key + ": " + show(f.Before) + " → nothing"
	}
	return f.Key + ": " + show(f.Before) + " → " + show(f.After)
}

// changesBetween compares two configurations. A partner has a new revision also
// where something moved that its deliveries are judged by: our own addresses,
// or the addresses and state of those it speaks for. Otherwise what was refused
// because of them would be answered from memory for ever.
func changesBetween(before, after *configuration) Changes {
	var changes Changes
	moved := map[string]string{} // "Organisation north" → why
	for id, o := range sorted(after.organisations) {
		old := before.organisations[id]
		if old != nil && same(old, o) {
			continue
		}
		ch := Change{Kind: "Organisation", ID: id, Revision: 1, Cause: "created", Fields: fieldsBetween(nil, o)}
		if old != nil {
			ch.Revision, ch.Cause, ch.Fields = before.revisions[id]+1, "changed", fieldsBetween(old, o)
			if !same(old.Identifiers, o.Identifiers) {
				moved["Organisation "+id] = "organisation " + id + " changed its identifiers"
			}
		}
		changes = append(changes, ch)
	}
	for id, p := range sorted(after.partners) {
		old := before.partners[id]
		if old != nil && (!same(old.spec.Identifiers, p.spec.Identifiers) || old.spec.State != p.spec.State) {
			moved["Partner "+id] = "partner " + id + ", for which it speaks, changed its identifiers or state"
		}
	}
	for id, p := range sorted(after.partners) {
		old := before.partners[id]
		ch := Change{Kind: "Partner", ID: id, Revision: 1, Cause: "created"}
		if old == nil {
			ch.Fields = fieldsBetween(nil, p.spec)
			changes = append(changes, ch)
			continue
		}
		ch.Revision, ch.Cause = old.revision+1, ""
		if !same(old.spec, p.spec) {
			ch.Cause, ch.Fields = "changed", fieldsBetween(old.spec, p.spec)
		} else if why := moved["Organisation "+p.spec.Organisation]; why != "" {
			ch.Cause = why
		} else {
			for _, other := range p.spec.SpeaksFor {
				if why := moved["Partner "+other]; why != "" {
					ch.Cause = why
					break
				}
			}
		}
		if ch.Cause != "" {
			changes = append(changes, ch)
		}
	}
	return changes
}

// fieldsBetween gives the keys whose values differ, nested ones with dots.
func fieldsBetween(before, after any) []FieldChange {
	a, b := map[string]string{}, map[string]string{}
	flatten(a, "", encode(before))
	flatten(b, "", encode(after))
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	var fields []FieldChange
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if a[key] != b[key] {
			fields = append(fields, FieldChange{key, a[key], b[key]})
		}
	}
	return fields
}

func flatten(into map[string]string, path string, text []byte) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		if s := string(text); s != "null" {
			into[path] = s
		}
		return
	}
	for key, value := range object {
		flatten(into, join(path, key), value)
	}
}

// encode is the one JSON form of a spec, by which two are compared.
func encode(spec any) []byte {
	b, err := json.Marshal(spec)
	if err != nil {
		return nil // equal to nothing that is stored, and write reports the error
	}
	return b
}

func same(a, b any) bool { return bytes.Equal(encode(a), encode(b)) }

// sorted walks a map by its keys.
func sorted[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

// String gives "partner acme: changed (revision 3)".
func (c Change) String() string {
	return fmt.Sprintf("%s %s: %s (revision %d)", strings.ToLower(c.Kind), c.ID, c.Cause, c.Revision)
}
