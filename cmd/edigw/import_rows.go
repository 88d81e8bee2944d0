package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// rowFile reads the rows of a CSV file (RFC 4180) one after the other.
type rowFile struct {
	name    string
	csv     *csv.Reader
	record  *recordReader
	line    int                    // that the row before ended in
	columns []gateway.ImportColumn // by the place in a line
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// readRows reads the header of a file.
//
// QUIRK: spreadsheets begin with a byte order mark, and separate by ; where the
// decimal point is a comma, or by tabs. Which of them a file uses is what its
// header has most of.
func readRows(name string, r io.Reader) (*rowFile, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	head, err := in.Peek(32 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return nil, fmt.Errorf("%s is UTF-16: save it as CSV in UTF-8", name)
	}
	if bytes.HasPrefix(head, byteOrderMark) {
		if _, err := in.Discard(len(byteOrderMark)); err != nil {
			return nil, err
		}
		head = head[len(byteOrderMark):]
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	f := &rowFile{name: name, record: &recordReader{in: in}}
	f.csv = csv.NewReader(f.record)
	f.csv.FieldsPerRecord, f.csv.ReuseRecord = -1, true
	most := 0
	for _, s := range []rune{',', ';', '\t'} {
		if n := bytes.Count(line, []byte(string(s))); n > most {
			most, f.csv.Comma = n, s
		}
	}
	if most == 0 {
		return nil, fmt.Errorf("%s:1: the first line names the columns, separated by comma, semicolon or tab; it is %q", name, short(string(line)))
	}
	names, err := f.read()
	if err != nil {
		return nil, err
	}
	return f, f.header(names)
}

func short(s string) string { return shorten(strings.ToValidUTF8(s, "�"), 60) }

// header finds each column.
func (f *rowFile) header(names []string) error {
	var known []string
	for _, c := range gateway.ImportColumns {
		known = append(known, c.Name)
	}
	for i, n := range names {
		n = strings.ToLower(strings.TrimSpace(n))
		at := slices.Index(known, n)
		switch {
		case at < 0 && partners.Nearest(n, known) != "":
			return fmt.Errorf("%s:1: column %d: there is no column %q; did you mean %s?", f.name, i+1, short(n), partners.Nearest(n, known))
		case at < 0:
			return fmt.Errorf("%s:1: column %d: there is no column %q; there are: %s", f.name, i+1, short(n), strings.Join(known, ", "))
		case slices.ContainsFunc(f.columns, func(c gateway.ImportColumn) bool { return c.Name == n }):
			return fmt.Errorf("%s:1: column %d: %s stands twice", f.name, i+1, n)
		}
		f.columns = append(f.columns, gateway.ImportColumns[at])
	}
	for _, needed := range []string{"partner", "kind"} {
		if !slices.ContainsFunc(f.columns, func(c gateway.ImportColumn) bool { return c.Name == needed }) {
			return fmt.Errorf("%s:1: the column %s is missing", f.name, needed)
		}
	}
	return nil
}

// read reads a record of at most maxRecord bytes; io.EOF behind the last.
func (f *rowFile) read() ([]string, error) {
	f.record.until = f.csv.InputOffset() + maxRecord
	values, err := f.csv.Read()
	switch {
	case errors.Is(err, errLongRecord):
		return nil, fmt.Errorf("%s:%d: %w A value with a quote in it is quoted, and its quotes doubled", f.name, f.line+1, err)
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	case err != nil:
		return nil, fmt.Errorf("%s: %w; a value with a quote in it is quoted, and its quotes doubled", f.name, err)
	}
	last := len(values) - 1
	f.line, _ = f.csv.FieldPos(last)
	f.line += strings.Count(values[last], "\n")
	return values, nil
}

// next gives a row and the line it begins in; io.EOF behind the last. A line
// with another number of values is a row that cannot be read; a quote that is not
// closed ends the file.
func (f *rowFile) next() (row gateway.ImportRow, line int, err error) {
	values, err := f.read()
	if err != nil {
		return row, 0, err
	}
	line, _ = f.csv.FieldPos(0)
	for i, v := range values {
		switch {
		case i >= len(f.columns) && strings.TrimSpace(v) != "":
			row = gateway.ImportRow{Unread: fmt.Sprintf("has %d values, the header %d columns: is a value with a separator in it not quoted?", len(values), len(f.columns))}
			return row, line, nil
		case i >= len(f.columns):
		case !utf8.ValidString(v):
			row = gateway.ImportRow{Unread: fmt.Sprintf("%s is no UTF-8: save the file as UTF-8", f.columns[i].Name)}
			return row, line, nil
		default:
			*f.columns[i].Value(&row) = v
		}
	}
	return row, line, nil
}

// countRows gives the digest of a file and the number of its rows. A file whose
// header or quotes are wrong is refused before anything is sent.
func countRows(name string, r io.Reader) (sum [32]byte, rows int64, err error) {
	digest := sha256.New()
	in := io.TeeReader(r, digest)
	f, err := readRows(name, in)
	if err != nil {
		return sum, 0, err
	}
	for ; ; rows++ {
		if _, _, err := f.next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return sum, 0, err
		}
	}
	if _, err := io.Copy(io.Discard, in); err != nil {
		return sum, 0, fmt.Errorf("read %s: %w", name, err)
	}
	if rows == 0 {
		return sum, 0, usage("there is no row in %s", name)
	}
	return [32]byte(digest.Sum(nil)), rows, nil
}
