package partners

import (
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// otherKeys stands in a byKey for every key that has no word.
const otherKeys = "default"

// byKey is a setting that is one word, or a word for each key; none is what holds
// where nothing is said.
type byKey map[string]string

// text gives the one word, or the mapping as YAML writes it.
func (b byKey) text(none string) string {
	if len(b) == 0 {
		return none
	}
	if len(b) == 1 && b[otherKeys] != "" {
		return b[otherKeys]
	}
	var s []string
	for _, key := range b.keys() {
		s = append(s, key+": "+b[key])
	}
	return "{" + strings.Join(s, ", ") + "}"
}

// yaml gives the one word where all keys are alike, else the mapping.
func (b byKey) yaml(none string) any {
	if len(b) == 0 || len(b) == 1 && b[otherKeys] != "" {
		return b.text(none)
	}
	var m yaml.MapSlice
	for _, key := range b.keys() {
		m = append(m, yaml.MapItem{Key: key, Value: b[key]})
	}
	return m
}

// keys gives the default first, then the others in order.
func (b byKey) keys() []string {
	keys := slices.Sorted(maps.Keys(b))
	if i := slices.Index(keys, otherKeys); i > 0 {
		keys = slices.Insert(slices.Delete(keys, i, i+1), 0, otherKeys)
	}
	return keys
}

// short leaves out what says what is so anyway; nil if that is all.
func (b byKey) short(none string) byKey {
	other := none
	if word, ok := b[otherKeys]; ok {
		other = word
	}
	var rest byKey
	for key, word := range b {
		if key == otherKeys && word != none || key != otherKeys && word != other {
			if rest == nil {
				rest = byKey{}
			}
			rest[key] = word
		}
	}
	return rest
}
