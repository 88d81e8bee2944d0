// Package peers runs other people's EDI parsers beside ours: each as a process of
// its own, fetched when it is needed from Maven, PyPI and npm, with a few lines
// of our own around it in programs/. Nothing of theirs is linked or kept here.
package peers

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Peer is a parser of somebody else's.
type Peer struct {
	Name, Version string
	Syntaxes      string // "edifact x12"
	Licence       string
	Judges        bool // what stands in messages, by tables of its own
	command       func(dir string) []string
}

// All are the peers. dir, where they were fetched to, stands in their commands.
var All = []Peer{
	{"staedi", "1.26.0", "edifact x12", "Apache-2.0", false, java("staedi-1.26.0.jar", "Staedi.java")},
	{"edireader", "4.7.3.1", "edifact x12", "GPL-3.0", false, java("edireader-4.7.3.1.jar", "EdiReader.java")},
	{"pydifact", "0.2.3", "edifact", "MIT", false, python("pydifact_reader.py")},
	{"node-edifact", "1.2.12", "edifact", "Apache-2.0", false, node("edifact_reader.js")},
	{"pyx12", "4.0.0", "x12", "BSD", false, python("pyx12_reader.py")},
	{"bots", "1.1.1", "edifact x12", "GPL-3.0", true, python("bots_reader.py")},
	{"node-x12", "1.7.1", "x12", "MIT", false, node("x12_reader.js")},
}

const programs = "bench/peers/programs"

func java(jar, program string) func(string) []string {
	return func(dir string) []string {
		return []string{"java", "-Xmx512m", "-cp", filepath.Join(dir, "jars", jar), filepath.Join(programs, program)}
	}
}

func python(program string) func(string) []string {
	return func(dir string) []string {
		return []string{filepath.Join(dir, "python", "bin", "python"), filepath.Join(programs, program)}
	}
}

func node(program string) func(string) []string {
	return func(dir string) []string {
		return []string{"env", "NODE_PATH=" + filepath.Join(dir, "node", "node_modules"), "node", filepath.Join(programs, program)}
	}
}

// Reads reports whether p reads a syntax.
func (p *Peer) Reads(syntax string) bool { return strings.Contains(p.Syntaxes, syntax) }

// Fetch brings the peers into dir. It needs the repository's root as the working
// folder, as Run does.
func Fetch(ctx context.Context, dir string) error {
	c := exec.CommandContext(ctx, "bench/peers/fetch", dir)
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("fetch the peers into %s: %w", dir, err)
	}
	return nil
}

// Answer is what a peer says of one file.
type Answer struct {
	Read     bool
	Segments int    // where it was read
	Reason   string // where it was refused
}

// Run has p read files in one process and gives its answers by file, with the
// CPU seconds of the process.
func (p *Peer) Run(ctx context.Context, dir string, files ...string) (map[string]Answer, float64, error) {
	lines, cpu, err := run(ctx, p.Name, append(p.command(dir), files...))
	if err != nil {
		return nil, 0, err
	}
	answers := map[string]Answer{}
	for file, line := range lines {
		word, rest, _ := strings.Cut(line, "\t")
		a := Answer{Reason: rest}
		if word == "read" {
			n, err := strconv.Atoi(rest)
			if err != nil {
				return nil, 0, fmt.Errorf("%s: %q tells no number of segments", p.Name, line)
			}
			a = Answer{Read: true, Segments: n}
		}
		answers[file] = a
	}
	return answers, cpu, nil
}

// Lines has a further Python program of ours, around the peer of that name, look
// at files, and gives by file what it says: one line with tabs in it.
func Lines(ctx context.Context, dir, peer, program string, files ...string) (map[string]string, error) {
	lines, _, err := run(ctx, peer, append(python(program)(dir), files...))
	return lines, err
}

// run gives the lines that a program prints by what stands before their first
// tab, and its CPU seconds.
func run(ctx context.Context, name string, argv []string) (map[string]string, float64, error) {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var out, stderr bytes.Buffer
	c.Stdout, c.Stderr = &out, &stderr
	if err := c.Run(); err != nil {
		return nil, 0, fmt.Errorf("%s: %w: %s", name, err, stderr.String())
	}
	lines := map[string]string{}
	for line := range strings.Lines(out.String()) {
		// What a library prints on its own has no tab.
		if file, rest, is := strings.Cut(strings.TrimRight(line, "\r\n"), "\t"); is {
			lines[file] = rest
		}
	}
	cpu := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	return lines, cpu.Seconds(), nil
}
