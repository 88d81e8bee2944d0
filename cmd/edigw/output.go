package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// json writes v, indented, to standard output.
func (a *app) json(v any) error {
	text, err := jsonLines(v)
	if err != nil {
		return err
	}
	_, err = a.stdout.Write(text)
	return err
}

func jsonLines(v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return append(text, '\n'), err
}

// rawJSON writes what the API answered.
func (a *app) rawJSON(body []byte) error {
	_, err := a.stdout.Write(append(bytes.TrimRight(body, "\n"), '\n'))
	return err
}

// table writes rows in columns under their titles. Values come from partners:
// what a terminal would obey is taken out.
func (a *app) table(titles []string, rows [][]string) error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	line := func(cells []string) error {
		clean := make([]string, len(cells))
		for i, c := range cells {
			clean[i] = printable(c)
		}
		_, err := fmt.Fprintln(w, strings.TrimRight(strings.Join(clean, "\t"), "\t"))
		return err
	}
	if err := line(titles); err != nil {
		return err
	}
	for _, r := range rows {
		if err := line(r); err != nil {
			return err
		}
	}
	return w.Flush()
}

// progress tells a person how far it is, on standard error.
func (a *app) progress(format string, args ...any) {
	fmt.Fprintf(a.stderr, format+"\n", args...)
}

// clock shows a time of the API: UTC, to the second.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

func day(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return t.UTC().Format(time.DateOnly)
}

// shorten keeps the two ends of a long id.
func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	head := (n - 1) / 2
	return string(r[:head]) + "…" + string(r[len(r)-(n-1-head):])
}
