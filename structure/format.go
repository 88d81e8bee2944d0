package structure

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxLine bounds a line of a table, in bytes.
const maxLine = 64 << 10

// definitions is what a table file says, as it says it.
type definitions struct {
	syntax     string // edifact or x12
	name       string // of the directory: "D 96A", "004010", "D 96A EAN008"
	messages   map[string]*definition
	segments   map[string]*definition
	composites map[string]*definition
	elements   map[string]*definition
	codes      map[string]*definition
}

// definition is one line, or for a message the lines through its end.
type definition struct {
	line  int
	words []string     // behind the name
	items []definedRow // of a message
}

// definedRow is a segment or a group of a message.
type definedRow struct {
	line      int
	tag       string // "" for a group
	group     string // its name
	mandatory bool
	max       int // unbounded: 0
	items     []definedRow
}

// FormatError says what is wrong in a table, and where.
type FormatError struct {
	File string
	Line int
	Text string
}

// Error gives file, line and sentence.
func (e *FormatError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text) }

// parser reads one table file.
type parser struct {
	file string
	scan *bufio.Scanner
	line int
	d    definitions
}

// parse reads a table. Its error is a *FormatError, or what r gave.
func parse(file string, r io.Reader) (*definitions, error) {
	p := &parser{file: file, scan: bufio.NewScanner(r)}
	p.scan.Buffer(nil, maxLine)
	p.d = definitions{
		messages: map[string]*definition{}, segments: map[string]*definition{}, composites: map[string]*definition{},
		elements: map[string]*definition{}, codes: map[string]*definition{},
	}
	for {
		words, err := p.words()
		if err != nil {
			return nil, err
		}
		if words == nil {
			break
		}
		if err := p.statement(words); err != nil {
			return nil, err
		}
	}
	switch {
	case p.d.syntax == "":
		return nil, p.fault("there is no line \"syntax edifact\" or \"syntax x12\"")
	case p.d.name == "":
		return nil, p.fault("there is no line \"directory …\"")
	}
	return &p.d, nil
}

// words gives the words of the next line that has any, nil at the end. What
// stands behind # is a comment.
func (p *parser) words() ([]string, error) {
	for p.scan.Scan() {
		p.line++
		text, _, _ := strings.Cut(p.scan.Text(), "#")
		if words := strings.Fields(text); len(words) > 0 {
			return words, nil
		}
	}
	if err := p.scan.Err(); err == bufio.ErrTooLong {
		p.line++
		return nil, p.fault("the line is longer than %d bytes", maxLine)
	} else if err != nil {
		return nil, fmt.Errorf("read %s: %w", p.file, err)
	}
	return nil, nil
}

func (p *parser) fault(text string, args ...any) error {
	return &FormatError{File: p.file, Line: p.line, Text: fmt.Sprintf(text, args...)}
}

func (p *parser) statement(words []string) error {
	keyword, rest := words[0], words[1:]
	if len(rest) == 0 {
		return p.fault("%q needs something behind it", keyword)
	}
	if (p.d.syntax == "" || p.d.name == "") && keyword != "syntax" && keyword != "directory" {
		return p.fault("%q comes before the lines \"syntax\" and \"directory\"", keyword)
	}
	var into map[string]*definition
	switch keyword {
	case "syntax":
		if len(rest) != 1 || rest[0] != "edifact" && rest[0] != "x12" {
			return p.fault("syntax is edifact or x12, not %q", strings.Join(rest, " "))
		}
		if p.d.syntax != "" {
			return p.fault("a second line \"syntax\"")
		}
		p.d.syntax = rest[0]
		return nil
	case "directory":
		if p.d.name != "" {
			return p.fault("a second line \"directory\": a file describes one")
		}
		if p.d.syntax == "edifact" && len(rest) < 2 {
			return p.fault("an EDIFACT directory has version and release: directory D 96A")
		}
		p.d.name = strings.Join(rest, " ")
		return nil
	case "message":
		if len(rest) != 1 {
			return p.fault("a message has one name")
		}
		return p.message(rest[0])
	case "segment":
		into = p.d.segments
		if n := len(rest[0]); n < 2 || n > 3 {
			return p.fault("%q is no segment tag: two or three characters", rest[0])
		}
	case "composite":
		into = p.d.composites
	case "element":
		into = p.d.elements
	case "codes":
		into = p.d.codes
	default:
		return p.fault("%q is none of syntax, directory, message, segment, composite, element, codes", keyword)
	}
	if into[rest[0]] != nil {
		return p.fault("%s %s was described in line %d already", keyword, rest[0], into[rest[0]].line)
	}
	into[rest[0]] = &definition{line: p.line, words: rest[1:]}
	return nil
}

// message reads the rows of a message through its end.
func (p *parser) message(name string) error {
	if was := p.d.messages[name]; was != nil {
		return p.fault("message %s was described in line %d already", name, was.line)
	}
	m := &definition{line: p.line}
	p.d.messages[name] = m
	var err error
	m.items, err = p.rows(1)
	if err == nil && len(m.items) == 0 {
		return p.fault("message %s has no segments", name)
	}
	return err
}

// maxDepth bounds groups in groups. X12's deepest have six.
const maxDepth = 20

// rows reads up to the end of a message or group.
func (p *parser) rows(depth int) (list []definedRow, err error) {
	for {
		words, err := p.words()
		if err != nil {
			return nil, err
		}
		if words == nil {
			return nil, p.fault("the file ends before the \"end\" of a message")
		}
		if len(words) == 1 && words[0] == "end" {
			return list, nil
		}
		row := definedRow{line: p.line}
		if words[0] == "group" {
			words = words[1:]
			row.group = "?"
		}
		if len(words) != 3 {
			return nil, p.fault("a row is \"TAG M|C max\", \"group NAME M|C max\" or \"end\"")
		}
		switch words[1] {
		case "M":
			row.mandatory = true
		case "C", "O": // O is X12's word
		default:
			return nil, p.fault("%q is neither M nor C", words[1])
		}
		if words[2] != "*" {
			if row.max, err = strconv.Atoi(words[2]); err != nil || row.max < 1 || row.max > 1e9 {
				return nil, p.fault("%q is no maximum: a number from 1, or *", words[2])
			}
		}
		if row.group == "" {
			if row.tag = words[0]; len(row.tag) < 2 || len(row.tag) > 3 {
				return nil, p.fault("%q is no segment tag: two or three characters", row.tag)
			}
		} else {
			row.group = words[0]
			if depth == maxDepth {
				return nil, p.fault("groups stand deeper than %d", maxDepth)
			}
			if row.items, err = p.rows(depth + 1); err != nil {
				return nil, err
			}
			if len(row.items) == 0 || row.items[0].tag == "" || !row.items[0].mandatory || row.items[0].max != 1 {
				return nil, &FormatError{p.file, row.line, fmt.Sprintf("group %s must begin with its trigger, a segment M 1", row.group)}
			}
		}
		list = append(list, row)
	}
}
