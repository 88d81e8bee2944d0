package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/edigw/edigw/bench/peers"
	"github.com/edigw/edigw/edi"
)

// answer is one that was written by hand to a broken interchange, as the tests of
// edifact and x12 hold ours to it byte for byte; and what it answers. Or it is an advice
// on a sound one: APERAK or 824.
type answer struct {
	name, syntax   string
	broken, answer string // files; "" where nothing is broken, or to be answered
	segments       int    // of the answer
}

// answering has the peers read those answers, each of which is sound, and looks
// how many of the broken interchanges they refuse.
func (r *run) answering(ctx context.Context, dir string) error {
	needed := make([]bool, len(unread))
	list, err := r.writeAnswers(dir)
	if err != nil {
		return err
	}
	var files []string
	for _, a := range list {
		for _, f := range []string{a.broken, a.answer} {
			if f != "" {
				files = append(files, f)
			}
		}
	}
	said, err := r.ask(ctx, files)
	if err != nil {
		return err
	}
	fmt.Fprintf(r.out, "%-14s%-10s%26s%34s\n", "", "", "our answers that it reads", "broken ones it refuses, for any reason")
	for i := range peers.All {
		p := &peers.All[i]
		for _, syntax := range strings.Fields(p.Syntaxes) {
			var read, answers, refused, broken int
			for k := range list {
				a := &list[k]
				if a.syntax != syntax {
					continue
				}
				if a.broken != "" {
					broken++
					if !said[p.Name][a.broken].Read {
						refused++
					}
				}
				if a.answer == "" {
					continue
				}
				answers++
				if r.reads(p, a, said[p.Name][a.answer], needed) {
					read++
				}
			}
			fmt.Fprintf(r.out, "%-14s%-10s%19d of %3d%32d of %3d\n", p.Name, syntax, read, answers, refused, broken)
		}
	}
	for i, is := range needed {
		if !is {
			r.failed++
			r.departures = append(r.departures, fmt.Sprintf("failed: %s departs no more: %s", unread[i].peer, unread[i].why))
		}
	}
	return nil
}

// reads counts what a peer says of an answer, and reports whether it reads it.
// What of unread is needed for that is noted.
func (r *run) reads(p *peers.Peer, a *answer, got peers.Answer, needed []bool) bool {
	read := got.Read && got.Segments == a.segments
	if read {
		r.ok++
		return true
	}
	for i, d := range unread {
		if d.peer == p.Name && regexp.MustCompile(d.says).MatchString(says(got)) {
			needed[i] = true
			r.ok++
			if line := fmt.Sprintf("%s does not read some answers, the first %s: %s; %s", p.Name, a.name, says(got), d.why); !slices.ContainsFunc(r.departures, func(s string) bool { return strings.HasSuffix(s, d.why) && strings.HasPrefix(s, p.Name) }) {
				r.departures = append(r.departures, line)
			}
			return false
		}
	}
	r.failed++
	r.departures = append(r.departures, fmt.Sprintf("failed: %s does not read the answer %s: %s", p.Name, a.name, says(got)))
	return false
}

// writeAnswers writes what the files of testdata/broken hold, as they fold it: a
// segment a line without its terminator, \xNN a byte, and behind a line that ends
// with a backslash an object, up to the next such line.
func (r *run) writeAnswers(dir string) (list []answer, err error) {
	for _, in := range []struct{ syntax, terminator string }{{"edifact", "'"}, {"x12", "~"}} {
		files, err := filepath.Glob(filepath.Join(r.root, in.syntax, "testdata", "broken", "*.txt"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			sent, told, _ := strings.Cut(string(raw), "===\n")
			name := strings.TrimSuffix(filepath.Base(file), ".txt")
			a := answer{name: in.syntax + " " + name, syntax: in.syntax, broken: filepath.Join(dir, name+".broken."+in.syntax)}
			if err := os.WriteFile(a.broken, unfold(sent, in.terminator), 0o600); err != nil {
				return nil, err
			}
			if text := unfold(told, in.terminator); len(text) > 0 {
				if err := r.writeAnswer(&a, filepath.Join(dir, name+".answer."+in.syntax), text); err != nil {
					return nil, err
				}
			}
			list = append(list, a)
		}
	}
	advices, err := r.writeAdvices(dir)
	return append(list, advices...), err
}

// writeAdvices writes the answers in the files of testdata/aperak and testdata/824,
// which stand there a segment a line.
func (r *run) writeAdvices(dir string) (list []answer, err error) {
	for _, in := range []struct{ syntax, kind string }{{"edifact", "aperak"}, {"x12", "824"}} {
		files, err := filepath.Glob(filepath.Join(r.root, in.syntax, "testdata", in.kind, "*.txt"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			_, told, _ := strings.Cut(string(raw), "===\n")
			name := in.kind + " " + strings.TrimSuffix(filepath.Base(file), ".txt")
			a := answer{name: name, syntax: in.syntax}
			if err := r.writeAnswer(&a, filepath.Join(dir, name+"."+in.syntax), []byte(strings.ReplaceAll(told, "\n", ""))); err != nil {
				return nil, err
			}
			list = append(list, a)
		}
	}
	return list, nil
}

// writeAnswer writes text into a file, if we read it ourselves.
func (r *run) writeAnswer(a *answer, file string, text []byte) error {
	us, _, err := r.read(a.syntax, text, edi.StructureIgnored)
	if err != nil {
		return fmt.Errorf("%s: %w", a.name, err)
	}
	if !us.Read {
		return fmt.Errorf("%s: we do not read our own answer: %s", a.name, us.Reason)
	}
	a.answer, a.segments = file, us.Segments
	return os.WriteFile(file, text, 0o600)
}

var folded = regexp.MustCompile(`\\x[0-9A-Fa-f]{2}`)

func unfold(text, terminator string) []byte {
	var b strings.Builder
	object := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "! ") {
			continue
		}
		line, border := strings.CutSuffix(line, `\`)
		b.WriteString(line)
		if !object {
			b.WriteString(terminator)
		}
		object = object != border
	}
	return []byte(folded.ReplaceAllStringFunc(b.String(), func(s string) string {
		n, err := strconv.ParseUint(s[2:], 16, 8)
		if err != nil {
			return s // the pattern lets none through
		}
		return string([]byte{byte(n)})
	}))
}
