package peers

import (
	"maps"
	"slices"
	"strings"
)

// Choice is a choice of combinations by their names. The zero Choice is of all.
type Choice struct{ run map[string]bool }

// Chosen is the choice of the names in lines.
func Chosen(lines string) Choice {
	c := Choice{map[string]bool{}}
	for line := range strings.Lines(strings.TrimSpace(lines)) {
		c.run[strings.TrimSpace(line)] = false
	}
	return c
}

// Wants tells whether a combination is chosen, and notes that it is run.
func (c Choice) Wants(name string) bool {
	if c.run == nil {
		return true
	}
	if _, is := c.run[name]; !is {
		return false
	}
	c.run[name] = true
	return true
}

// Missing are those that nobody has asked about: names that are written wrong, or that
// have changed.
func (c Choice) Missing() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(c.run)) {
		if !c.run[name] {
			names = append(names, name)
		}
	}
	return names
}
