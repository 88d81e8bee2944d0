package main

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// endless gives a line over and over, and counts what was read.
type endless struct {
	line string
	read int
}

func (e *endless) Read(b []byte) (n int, err error) {
	for n < len(b) {
		n += copy(b[n:], e.line[(e.read+n)%len(e.line):])
	}
	e.read += n
	return n, nil
}

func TestImportRowsAreBounded(t *testing.T) {
	for name, begin := range map[string]string{
		"in a row": "partner,kind,id\nacme,interchange,\"a\nb\"\nacme,interchange,1\nacme,interchange,\"", "in the first value": "partner,kind\na,b\n\nc,d\n\"",
	} {
		t.Run("a quote that is not closed "+name+" is told of by its line, and the file is not read into memory", func(t *testing.T) {
			rest := &endless{line: "acme,interchange,unb:1\n"}
			_, _, err := countRows("keys.csv", io.MultiReader(strings.NewReader(begin), rest))
			if !errors.Is(err, errLongRecord) || !strings.HasPrefix(err.Error(), "keys.csv:5: the row is longer than 1 MiB; is a quote in it not closed?") {
				t.Errorf("%v", err)
			}
			if rest.read > maxRecord+128<<10 {
				t.Errorf("%d bytes were read", rest.read)
			}
		})
	}
	t.Run("nor a header without an end", func(t *testing.T) {
		rest := &endless{line: "partner,"}
		if _, _, err := countRows("keys.csv", rest); !errors.Is(err, errLongRecord) || !strings.HasPrefix(err.Error(), "keys.csv:1: ") || rest.read > maxRecord+128<<10 {
			t.Errorf("%v, %d bytes", err, rest.read)
		}
	})
	t.Run("rows that are not too long are read, however many bytes they are together", func(t *testing.T) {
		row := "acme,interchange," + strings.Repeat("x", maxRecord/2) + "\n"
		if _, rows, err := countRows("keys.csv", strings.NewReader("partner,kind,id\n"+strings.Repeat(row, 5))); err != nil || rows != 5 {
			t.Errorf("%d, %v", rows, err)
		}
	})
}
