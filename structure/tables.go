package structure

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/edigw/edigw/edi"
)

// Tables are directories ready for use. They never change and may be used by
// many at once.
type Tables struct {
	sources     []source              // first those that win
	directories map[string]*directory // by syntax and name: "edifact D 96A"
}

//go:embed tables/*.txt
var builtIn embed.FS

// BuiltIn gives the tables that come with the program: INVOIC and DESADV of D.96A,
// D.01B and D.14B, 810 and 856 of 004010 and 005010, and of the acknowledgements
// CONTRL 2:2, D:3 and 4:1, 997 of 004010 and 005010, 999 of 005010.
func BuiltIn() (*Tables, error) {
	t := new(Tables)
	names, err := fs.Glob(builtIn, "tables/*.txt")
	if err != nil {
		return nil, fmt.Errorf("built-in tables: %w", err)
	}
	for _, name := range names {
		f, err := builtIn.Open(name)
		if err == nil {
			t, err = t.With(name, f)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return nil, fmt.Errorf("built-in tables: %w", err)
		}
	}
	return t, nil
}

// With gives tables that have those of one more file. What it describes takes
// the place of what was described before in the same directory: messages,
// segments, composites and elements one by one. file is the name for errors,
// which are *FormatError or what r gave; t stays as it was.
func (t *Tables) With(file string, r io.Reader) (*Tables, error) {
	d, err := parse(file, r)
	if err != nil {
		return nil, err
	}
	next := &Tables{sources: slices.Concat([]source{{file, d}}, t.sources), directories: maps.Clone(t.directories)}
	if next.directories == nil {
		next.directories = map[string]*directory{}
	}
	// Directories of an association take what they do not describe from their
	// base, so a change there is a change here.
	for i := range next.sources {
		s := &next.sources[i]
		if s.syntax != d.syntax || !within(s.name, d.name) {
			continue
		}
		key := s.syntax + " " + s.name
		next.directories[key], err = compile(s.name, s.syntax, next.of(s.syntax, s.name))
		if err != nil {
			return nil, err
		}
	}
	return next, nil
}

// within reports whether directory name is base or an association's within it.
func within(name, base string) bool { return name == base || strings.HasPrefix(name, base+" ") }

// of gives the sources of a directory: its own, then those of its bases.
func (t *Tables) of(syntax, name string) (list []source) {
	for {
		for _, s := range t.sources {
			if s.syntax == syntax && s.name == name {
				list = append(list, s)
			}
		}
		cut := strings.LastIndexByte(name, ' ')
		if cut < 0 {
			return list
		}
		name = name[:cut]
	}
}

// message finds what may stand in a message of type t: that of its association
// (EAN008, VICS) where there is one, or of guide in its place, else that of its
// directory; nil if there is no table.
func (t *Tables) message(syntax string, m *edi.MessageType, guide string) *message {
	name := strings.TrimLeft(m.Version+" "+m.Release, " ") // X12 has a release alone
	association := m.AssociationCode
	if guide != "" {
		association = guide
	}
	if association != "" {
		if d := t.directories[syntax+" "+name+" "+association]; d != nil && d.messages[m.Type] != nil {
			return d.messages[m.Type]
		}
	}
	if d := t.directories[syntax+" "+name]; d != nil {
		return d.messages[m.Type]
	}
	return nil
}

// Check finds what is wrong with the structure of message i of ic, whose text is
// b: at most MaxFindings, in the order of the text, all of the given severity.
// guide is an association to judge it by in place of its own. A type for which
// there is no table gives no finding.
func (t *Tables) Check(ic *edi.Interchange, i int, b *edi.Body, severity edi.Severity, guide string) []*edi.Error {
	return t.message(ic.Syntax, ic.Messages[i].Type, guide).check(b, severity)
}

// check is Check for a message of this type.
func (m *message) check(b *edi.Body, severity edi.Severity) []*edi.Error {
	if m == nil || b.Len() < 2 {
		return nil
	}
	c := checks.Get().(*check)
	defer checks.Put(c)
	c.m, c.severity, c.body = m, severity, b
	return c.run()
}

// Checker is Check as a partner's settings want it, for a reader's field of that
// name: nil where nothing is to be judged.
func (t *Tables) Checker(o edi.Tolerance) func(*edi.Interchange, int, *edi.Body) []*edi.Error {
	if t == nil || o.Structure == edi.StructureIgnored {
		return nil
	}
	severity := edi.SeverityWarning
	if o.Structure == edi.StructureRefused {
		severity = edi.SeverityError
	}
	type looked struct { // what was looked up last: messages come by kinds
		of    *edi.MessageType
		table *message
	}
	var last atomic.Pointer[looked]
	return func(ic *edi.Interchange, i int, b *edi.Body) []*edi.Error {
		m := ic.Messages[i].Type
		l := last.Load()
		if l == nil || l.of != m {
			l = &looked{m, t.message(ic.Syntax, m, o.Guide)}
			last.Store(l)
		}
		// Whoever wants departures refused must know where none can be seen.
		if severity == edi.SeverityError && l.table == nil {
			return []*edi.Error{{Code: "structure-unknown", Severity: edi.SeverityNote, Location: b.Segments[0].Location(0, 0),
				Text: fmt.Sprintf("there is no table for %s; what stands in it was not judged", strings.Join(strings.Fields(m.Type+" "+m.Version+" "+m.Release), " "))}}
		}
		return l.table.check(b, severity)
	}
}
