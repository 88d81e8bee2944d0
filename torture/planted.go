package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/edigw/edigw/bench/site"
)

// A planted bug is a text of torture/planted: a first line that says what is
// wrong, then edits of the form
//
//	=== file
//	<<<
//	the old text
//	>>>
//	the new text
//
// each of which has to match exactly once. The program is built with `go build
// -overlay`, so that the sources hold no switch.
//
//go:embed planted
var planted embed.FS

// bug is one of them.
type bug struct {
	name, what string
	edits      []edit
}

type edit struct{ file, old, new string }

// bugs gives all of them, in order.
func bugs() ([]bug, error) {
	names, err := fs.Glob(planted, "planted/*.txt")
	if err != nil {
		return nil, err
	}
	var all []bug
	for _, name := range names {
		text, err := planted.ReadFile(name)
		if err != nil {
			return nil, err
		}
		b, err := readBug(strings.TrimSuffix(path.Base(name), ".txt"), string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

func readBug(name, text string) (bug, error) {
	b := bug{name: name}
	head, rest, found := strings.Cut(text, "\n=== ")
	b.what = strings.TrimSpace(head)
	if !found || b.what == "" {
		return b, fmt.Errorf("planted bug %s: it has no edit, or does not say what is wrong", name)
	}
	for part := range strings.SplitSeq(rest, "\n=== ") {
		file, body, _ := strings.Cut(part, "\n<<<\n")
		old, new, found := strings.Cut(body, "\n>>>\n")
		if !found {
			return b, fmt.Errorf("planted bug %s: an edit of %q has no old or no new text", name, file)
		}
		b.edits = append(b.edits, edit{strings.TrimSpace(file), old, strings.TrimSuffix(new, "\n")})
	}
	return b, nil
}

// apply gives the edited text of each file, by its path below root.
func (b *bug) apply(root string) (map[string]string, error) {
	files := map[string]string{}
	for _, e := range b.edits {
		text, read := files[e.file]
		if !read {
			raw, err := os.ReadFile(filepath.Join(root, e.file))
			if err != nil {
				return nil, fmt.Errorf("planted bug %s: %w", b.name, err)
			}
			text = string(raw)
		}
		if n := strings.Count(text, e.old); n != 1 {
			return nil, fmt.Errorf("planted bug %s: its old text stands %d times in %s, not once:\n%s", b.name, n, e.file, e.old)
		}
		files[e.file] = strings.Replace(text, e.old, e.new, 1)
	}
	return files, nil
}

// build builds the program with the bug into dir.
func (b *bug) build(ctx context.Context, dir string) (string, error) {
	root, err := moduleRoot(ctx)
	if err != nil {
		return "", err
	}
	files, err := b.apply(root)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for file, text := range files {
		at := filepath.Join(dir, b.name+"-"+strings.ReplaceAll(file, "/", "-"))
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, file)] = at
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	at, out := filepath.Join(dir, b.name+".json"), filepath.Join(dir, "edigw-"+b.name)
	if err := os.WriteFile(at, overlay, 0o600); err != nil {
		return "", err
	}
	if err := site.Build(ctx, out, "-tags", "faults", "-overlay", at); err != nil {
		return "", fmt.Errorf("planted bug %s: %w", b.name, err)
	}
	return out, nil
}

// moduleRoot is the folder of go.mod.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

var errNotFound = errors.New("a planted bug was not found")

// findPlanted plants one bug, or each in turn, and gives the checker three seeds
// to find it.
func findPlanted(ctx context.Context, dir, name string, z size, from uint64, reports string, out io.Writer) error {
	all, err := bugs()
	if err != nil {
		return err
	}
	found, planted := 0, 0
	for _, b := range all {
		if name != "all" && name != b.name {
			continue
		}
		planted++
		program, err := b.build(ctx, dir)
		if err != nil {
			return err
		}
		for seed := from; seed < from+3; seed++ {
			r, err := torture(ctx, program, seed, z)
			if err != nil {
				return fmt.Errorf("planted bug %s: %w", b.name, err)
			}
			fmt.Fprintf(out, "%s (%s): %s\n", b.name, b.what, r)
			if r.violations > 0 {
				found++
				at, err := r.keep(reports, "-"+b.name)
				if err != nil {
					return err
				}
				fmt.Fprintf(out, "  found, as told in %s: %s\n", at, firstFinding(r.report))
				break
			}
		}
	}
	fmt.Fprintf(out, "%d planted bugs, %d found\n", planted, found)
	if planted == 0 {
		return fmt.Errorf("there is no planted bug %q", name)
	}
	if found < planted {
		return errNotFound
	}
	return nil
}

func firstFinding(report string) string {
	_, rest, _ := strings.Cut(report, "\n[")
	line, _, _ := strings.Cut(rest, "\n")
	return "[" + cutText(line)
}
