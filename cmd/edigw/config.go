package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/edigw/edigw/partners/keys"
)

type configCommand struct {
	Print configPrint `cmd:"" help:"Show every setting with its value and where it comes from; secrets are not shown."`
	Check configCheck `cmd:"" help:"Say what is wrong with the settings. Needs no server and no database."`
}

// configPrint takes the flags of serve, so that it can be asked with the same
// command line.
type configPrint struct {
	Output string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	serveCommand
}

// setting is one as it holds.
type setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"` // flag, $NAME, the file, or default
	Secret bool   `json:"secret,omitempty"`
	fault  error
}

// Run shows what the settings come to, whatever is wrong with them.
func (c *configPrint) Run(a *app) error {
	list := a.origins()
	if c.Output == "json" {
		return a.json(struct {
			Items []setting `json:"items"`
		}{list})
	}
	var rows [][]string
	for _, s := range list {
		rows = append(rows, []string{s.Key, s.Value, s.Origin})
	}
	return a.table([]string{"SETTING", "VALUE", "FROM"}, rows)
}

// hidden stands in the place of a secret.
const hidden = "(not shown)"

// origins gives every setting there is, by its key in the file.
func (a *app) origins() []setting {
	given := map[string]*kong.Flag{} // on the command line
	for _, p := range a.parsed.Path {
		if p.Flag != nil && !p.Resolved {
			given[p.Flag.Name] = p.Flag
		}
	}
	known := settingsOf(a.parsed.Model)
	var list []setting
	for _, key := range slices.Sorted(maps.Keys(known)) {
		f := known[key]
		s := setting{Key: key, Value: f.Default, Origin: "default", Secret: f.Tag.Has("secret")}
		if key == "data_dir" {
			s.Value = a.grammar.DataDir
		}
		if g := given[f.Name]; g != nil {
			s.Value, s.Origin = written(g.Target), "flag"
		} else if value, origin, err := a.known.find(f); err != nil {
			s.fault = err
		} else if origin != "" {
			s.Value, s.Origin = value, origin
			s.fault = parses(f, value)
		}
		if s.Secret && s.Value != "" {
			s.Value = hidden
		}
		list = append(list, s)
	}
	return list
}

// written is a flag's value as it is given.
func written(v reflect.Value) string {
	if list, ok := v.Interface().([]string); ok {
		return strings.Join(list, ",")
	}
	return fmt.Sprint(v.Interface())
}

// parses reports what is wrong with a value, which is not always a flag of the
// command that is running.
func parses(f *kong.Flag, value string) error {
	if allowed := f.EnumSlice(); f.Enum != "" && !slices.Contains(allowed, value) {
		return fmt.Errorf("must be one of %s, not %q", strings.Join(allowed, ", "), value)
	}
	target := reflect.New(f.Target.Type()).Elem()
	if err := f.Mapper.Decode(&kong.DecodeContext{Value: f.Value, Scan: kong.ScanFromTokens(kong.Token{Type: kong.FlagValueToken, Value: value})}, target); err != nil {
		return fmt.Errorf("%q cannot be read: %w", value, err)
	}
	return nil
}

type configCheck struct {
	Output string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	serveCommand
}

// Run looks at what can be seen without a database; `doctor` looks at the rest.
// What is wrong is a finding.
func (c *configCheck) Run(a *app) error {
	d := &doctor{app: a}
	if a.known.keys != nil {
		d.well("file", "%s", a.known.file)
	}
	for _, s := range a.origins() {
		if s.fault != nil {
			where := s.Origin
			if where == "default" {
				where = "environment"
			}
			d.ill(s.Key, "correct it there", "%s: %v", where, s.fault)
		}
	}
	a.strayVariables(d)
	if _, err := a.tables(); err != nil {
		d.ill("tables", "see docs/reference/structure.md", "%v", err)
	}
	d.tls(c.listenFlags)
	d.inTheClear(c.listenFlags)
	d.secrets()
	d.masterKey()
	if c.Listen == c.OpsListen && !strings.HasSuffix(c.Listen, ":0") {
		d.ill("ops_listen", "give each its own address", "%s is that of listen, too", c.OpsListen)
	}
	if len(d.list) == 0 || !slices.ContainsFunc(d.list, func(s symptom) bool { return !s.Well }) {
		d.well("settings", "nothing is wrong with them")
	}
	if err := (&doctorCommand{Output: c.Output}).tell(a, d.list); err != nil {
		return err
	}
	if slices.ContainsFunc(d.list, func(s symptom) bool { return !s.Well }) {
		return findings()
	}
	return nil
}

// strayVariables finds variables that look like settings and are none: a letter
// too few, and the default holds without a word.
func (a *app) strayVariables(d *doctor) {
	if a.environ == nil {
		return
	}
	names := map[string]bool{"EDIGW_CONFIG": true}
	for _, f := range settingsOf(a.parsed.Model) {
		names[environmentOf(f)] = true
		if f.Tag.Has("secret") {
			names[environmentOf(f)+"_FILE"] = true
		}
	}
	for _, line := range a.environ() {
		name, _, _ := strings.Cut(line, "=")
		if strings.HasPrefix(name, "EDIGW_") && !names[name] {
			d.ill(name, "`edigw config print` shows every setting; its variable is EDIGW_ and the key in capitals", "is set, and is no setting")
		}
	}
}

// masterKey reads the master keys without telling them.
func (d *doctor) masterKey() {
	values := map[string]string{}
	for _, f := range settingsOf(d.parsed.Model) {
		if value, _, err := d.known.find(f); err == nil {
			values[f.Name] = value
		}
	}
	var former []string
	if values["former-master-keys"] != "" {
		former = strings.Split(values["former-master-keys"], ",")
	}
	if _, err := keys.ParseMaster(values["master-key"], former...); err != nil {
		d.ill("master_key", "see docs/how-to/keys.md", "%v", err)
	}
}
