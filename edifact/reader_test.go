package edifact

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/edigw/edigw/edi"
)

// readAll splits and scans every interchange of text, and checks what must hold
// for any text.
func readAll(t failer, r Reader, p *edi.Payload, visit func(*edi.Interchange, int, *edi.Body)) (all []*edi.Interchange, faults []*edi.Error) {
	t.Helper()
	for at := int64(0); ; {
		ic, err := r.Split(p, at)
		if err == io.EOF {
			return all, faults
		}
		var fault *edi.Error
		if err != nil && !errors.As(err, &fault) {
			t.Fatal(err)
		}
		if ic.Length <= 0 || ic.Offset < at || ic.Offset+ic.Length > p.Size() {
			t.Fatalf("bounds %d+%d after %d of %d", ic.Offset, ic.Length, at, p.Size())
		}
		at = ic.Offset + ic.Length
		if fault != nil {
			faults = append(faults, fault)
			continue
		}
		if err := r.Scan(p, ic, func(i int, b *edi.Body) error {
			if i != len(ic.Messages)-1 || b.Len() != int(ic.Messages[i].Segments) {
				t.Fatalf("message %d of %d with %d segments", i, len(ic.Messages), b.Len())
			}
			if visit != nil {
				visit(ic, i, b)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		all = append(all, ic)
	}
}

// one reads a text of one interchange.
func one(t failer, r Reader, text string) *edi.Interchange {
	t.Helper()
	all, faults := readAll(t, r, edi.Bytes([]byte(text)), nil)
	if len(all) != 1 || len(faults) != 0 {
		t.Fatalf("%d interchanges, faults %v", len(all), faults)
	}
	return all[0]
}

// told is what was found: "29 unt-count-mismatch @message 0 UNT 1.1", sorted.
func findings(ic *edi.Interchange) []string {
	list := []string{}
	add := func(where string, errs []*edi.Error) {
		for _, e := range errs {
			list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s%s %d %s %d.%d", e.Severity, e.Standard, e.Code, where, e.Segment, e.Tag, e.Element, e.Component)))
		}
	}
	add("", ic.Errors)
	for i, g := range ic.Groups {
		add(fmt.Sprintf(" #%d", i), g.Errors)
	}
	for i, errs := range ic.MessageErrors {
		add(fmt.Sprintf(" @%d", i), errs)
	}
	sort.Strings(list)
	return list
}

// shared gives the files that match below the folder of shared material.
func shared(t *testing.T, pattern string) []string {
	t.Helper()
	if _, err := os.Stat("../../shared"); err != nil {
		t.Skip("shared absent")
	}
	files, err := filepath.Glob("../../shared/" + pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	return files
}

// message is an interchange around body, UNT count n, under UNOC:3.
func message(body string, n int) string {
	return fmt.Sprintf("UNB+UNOC:3+S:14+R:14+261129:1015+REF'UNH+1+INVOIC:D:96A:UN'%sUNT+%d+1'UNZ+1+REF'", body, n)
}

// failer is what testing.T and rapid.T have in common.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}
