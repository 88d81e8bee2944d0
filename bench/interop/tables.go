package main

import (
	"embed"
	"errors"

	"github.com/edigw/edigw/structure"
)

//go:embed tables
var guideTables embed.FS

// withGuides are tables that have those of the guides too, which pyx12 brings
// along as maps of its own.
func withGuides(t *structure.Tables) (*structure.Tables, error) {
	list, err := guideTables.ReadDir("tables")
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		f, err := guideTables.Open("tables/" + e.Name())
		if err != nil {
			return nil, err
		}
		if t, err = t.With(e.Name(), f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	return t, nil
}
