package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/edigw/edigw/partners"
)

// defaultConfig is read where it exists and no other file is named.
const defaultConfig = "/etc/edigw/edigw.yaml"

// settings are the flags that may stand in the environment and in a file: those
// tagged `setting`. A flag of the command line wins over both, the environment
// over the file. A flag tagged `secret` may stand in a file of its own, which
// EDIGW_…_FILE names.
type settings struct {
	env  func(string) (string, bool)
	file string
	keys map[string]any // of the file
}

// settings reads the file that --config or EDIGW_CONFIG names. It must be known
// before kong resolves anything, so the arguments are looked through by hand.
func (a *app) settings(args []string) (*settings, error) {
	s := &settings{env: a.env}
	named := false
	s.file, named = a.env("EDIGW_CONFIG")
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if v, ok := strings.CutPrefix(arg, "--config="); ok {
			s.file, named = v, true
		} else if arg == "--config" && i+1 < len(args) {
			s.file, named = args[i+1], true
		}
	}
	if !named {
		s.file = defaultConfig
	}
	text, err := os.ReadFile(s.file)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w; name another file with --config", err)
	}
	switch documents := partners.Documents(text); len(documents) {
	case 0:
		return s, nil
	case 1:
		text = documents[0]
	default: // of which the others would be passed over without a word
		return nil, fmt.Errorf("%s: holds %d YAML documents; write all settings into one", s.file, len(documents))
	}
	if err := yaml.Unmarshal(text, &s.keys); err != nil {
		return nil, fmt.Errorf("%s: must be YAML with one setting a line, like `listen: 127.0.0.1:8080`: %w", s.file, err)
	}
	return s, s.asWritten(text)
}

// asWritten puts numbers as they stand in the file in the place of what YAML makes
// of them: a master key of digits is no number, nor a mode of 0600. What has no
// value, or keys of its own, is refused.
func (s *settings) asWritten(text []byte) error {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	for _, doc := range file.Docs {
		var entries []*ast.MappingValueNode
		switch m := doc.Body.(type) {
		case *ast.MappingNode:
			entries = m.Values
		case *ast.MappingValueNode:
			entries = []*ast.MappingValueNode{m}
		}
		for _, e := range entries {
			key := e.Key.GetToken()
			switch n := e.Value.(type) {
			case *ast.NullNode:
				return fmt.Errorf("%s:%d: %s has no value; leave the line out for the default", s.file, key.Position.Line, key.Value)
			case *ast.MappingNode, *ast.MappingValueNode:
				return fmt.Errorf("%s:%d: %s must be a value, or a list of them, and has keys of its own", s.file, key.Position.Line, key.Value)
			case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
				s.keys[key.Value] = n.GetToken().Value
			}
		}
	}
	return nil
}

// Validate refuses keys of the file that name no setting.
func (s *settings) Validate(model *kong.Application) error {
	known := settingsOf(model)
	for _, key := range slices.Sorted(maps.Keys(s.keys)) {
		if known[key] == nil {
			return fmt.Errorf("%s: there is no setting %q; there are: %s", s.file, key, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	return nil
}

// settingsOf gives the flags of all commands that are settings, by their key in
// the file.
func settingsOf(model *kong.Application) map[string]*kong.Flag {
	known := map[string]*kong.Flag{}
	var walk func(n *kong.Node)
	walk = func(n *kong.Node) {
		for _, f := range n.Flags {
			if f.Tag.Has("setting") {
				known[keyOf(f)] = f
			}
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(model.Node)
	return known
}

// Resolve gives a flag its value from the environment, else from the file.
func (s *settings) Resolve(_ *kong.Context, _ *kong.Path, f *kong.Flag) (any, error) {
	if !f.Tag.Has("setting") {
		return nil, nil
	}
	v, origin, err := s.find(f)
	if err != nil || origin == "" {
		return nil, err
	}
	return v, nil
}

// find gives what the environment, else the file, says of a setting, and where
// that stands; origin is "" where neither says anything.
func (s *settings) find(f *kong.Flag) (value, origin string, err error) {
	name := environmentOf(f)
	v, given := s.env(name)
	if f.Tag.Has("secret") {
		if file, ok := s.env(name + "_FILE"); ok {
			if given {
				return "", "", fmt.Errorf("both %s and %s_FILE are set; leave one out", name, name)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return "", "", fmt.Errorf("%s_FILE: %w", name, err)
			}
			if value, origin = strings.TrimRight(string(text), "\r\n"), "$"+name+"_FILE, "+file; hollow(f, value) {
				return "", "", fmt.Errorf("%s_FILE: %s is empty: write the value into it, or leave the variable out", name, file)
			}
			return value, origin, nil
		}
	}
	if given {
		if hollow(f, v) {
			return "", "", fmt.Errorf("%s is set, and empty: give it a value, or unset it", name)
		}
		return v, "$" + name, nil
	}
	if v, ok := s.keys[keyOf(f)]; ok {
		if list, ok := v.([]any); ok { // as flags take one
			words := make([]string, len(list))
			for i, w := range list {
				words[i] = fmt.Sprint(w)
			}
			return strings.Join(words, ","), s.file, nil
		}
		if value = fmt.Sprint(v); hollow(f, value) {
			return "", "", fmt.Errorf("%s: %s is empty: give it a value, or leave the line out", s.file, keyOf(f))
		}
		return value, s.file, nil
	}
	return "", "", nil
}

// hollow reports whether a secret is there and says nothing: its file was half
// written, or the variable it was to be made of is not set. Taken for one that is
// not given, a gateway without the URL of its database would begin an empty one of
// its own, to which every message is new. Of lists an empty one is well.
func hollow(f *kong.Flag, value string) bool {
	return f.Tag.Has("secret") && !f.IsSlice() && strings.TrimSpace(value) == ""
}

// hollowFlag refuses a secret that is empty on the command line.
func hollowFlag(parsed *kong.Context) error {
	for _, p := range parsed.Path {
		if p.Flag != nil && !p.Resolved && p.Flag.Target.Kind() == reflect.String && hollow(p.Flag, p.Flag.Target.String()) {
			return usage("--%s is empty: give it a value, or leave it out", p.Flag.Name)
		}
	}
	return nil
}

func keyOf(f *kong.Flag) string { return strings.ReplaceAll(f.Name, "-", "_") }

func environmentOf(f *kong.Flag) string { return "EDIGW_" + strings.ToUpper(keyOf(f)) }

// helpOf adds to a setting's help where else it may be given.
func helpOf(v *kong.Value) string {
	help := kong.DefaultHelpValueFormatter(v)
	if v.Flag == nil || !v.Tag.Has("setting") {
		return help
	}
	name := "$" + environmentOf(v.Flag)
	if v.Tag.Has("secret") {
		name += ", $" + environmentOf(v.Flag) + "_FILE"
	}
	return help + " (" + name + ")"
}

// defaultDataDir is where the gateway keeps its data if nothing is said.
func (a *app) defaultDataDir() string {
	if os.Geteuid() == 0 {
		return "/var/lib/edigw"
	}
	if dir, ok := a.env("XDG_DATA_HOME"); ok && filepath.IsAbs(dir) {
		return filepath.Join(dir, "edigw")
	}
	if home, ok := a.env("HOME"); ok && home != "" {
		return filepath.Join(home, ".local", "share", "edigw")
	}
	return "edigw-data"
}
