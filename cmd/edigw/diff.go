package main

import (
	"fmt"
	"io"
	"os"

	"github.com/edigw/edigw/compare"
)

type diffCommand struct {
	A          string `arg:"" help:"The original, or - for standard input."`
	B          string `arg:"" help:"What came later, or - for standard input."`
	Output     string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	SideBySide bool   `short:"y" help:"Show both in two columns."`
	Color      string `enum:"auto,always,never" default:"auto" help:"auto, always or never; NO_COLOR turns auto off."`
}

// Run compares; a difference is a finding.
func (c *diffCommand) Run(a *app) (err error) {
	if c.A == "-" && c.B == "-" {
		return usage("only one of the two can be standard input")
	}
	before, closeA, err := a.source(c.A)
	if err != nil {
		return err
	}
	defer func() {
		if e := closeA(); err == nil {
			err = e
		}
	}()
	after, closeB, err := a.source(c.B)
	if err != nil {
		return err
	}
	defer func() {
		if e := closeB(); err == nil {
			err = e
		}
	}()
	pairs, err := comparePayloads(before, after)
	if err != nil {
		return fmt.Errorf("compare %s with %s: %w", c.A, c.B, err)
	}
	if c.Output == "json" {
		err = a.json(struct {
			Interchanges []comparedPair `json:"interchanges"`
		}{pairs})
	} else {
		err = c.table(a, pairs)
	}
	if err != nil {
		return err
	}
	for _, p := range pairs {
		if !p.Result.Identical {
			return findings()
		}
	}
	return nil
}

func (c *diffCommand) table(a *app, pairs []comparedPair) error {
	layout := compare.Unified
	if c.SideBySide {
		layout = compare.SideBySide
	}
	for i, p := range pairs {
		if i > 0 {
			if _, err := fmt.Fprintln(a.stdout); err != nil {
				return err
			}
		}
		if len(pairs) > 1 {
			if _, err := fmt.Fprintf(a.stdout, "interchange %d: %s\n", i+1, printable(p.After)); err != nil {
				return err
			}
		}
		if err := p.Result.Text(a.stdout, layout, a.color(c.Color)); err != nil {
			return err
		}
	}
	return nil
}

// color reports whether to write in colour: when told to, or to a terminal.
func (a *app) color(when string) bool {
	if when != "auto" {
		return when == "always"
	}
	if v, ok := a.env("NO_COLOR"); ok && v != "" { // https://no-color.org
		return false
	}
	return terminal(a.stdout)
}

func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}
