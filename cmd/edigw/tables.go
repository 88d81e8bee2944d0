package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/edigw/edigw/structure"
)

// builtInTables are read once: they are the same in every command.
var builtInTables = sync.OnceValues(structure.BuiltIn)

// tables gives what messages are judged by: the built-in tables, and on top of
// them what --tables names.
func (a *app) tables() (*structure.Tables, error) {
	t, err := builtInTables()
	if err != nil || a.grammar.Tables == "" {
		return t, err
	}
	files := []string{a.grammar.Tables}
	st, err := os.Stat(a.grammar.Tables)
	if err != nil {
		return nil, fmt.Errorf("--tables: %w", err)
	}
	if st.IsDir() {
		// The pattern is constant, so that Glob cannot fail; it sorts by name.
		if files, err = filepath.Glob(filepath.Join(filepath.Clean(a.grammar.Tables), "*.txt")); err != nil {
			return nil, fmt.Errorf("--tables: %w", err)
		}
		if len(files) == 0 {
			return nil, usage("--tables: there is no file *.txt in %s", a.grammar.Tables)
		}
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("--tables: %w", err)
		}
		t, err = t.With(name, f)
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("--tables: %w", err)
		}
	}
	return t, nil
}
