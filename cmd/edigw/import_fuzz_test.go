package main

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// FuzzRows reads CSV as spreadsheets and people write it: it never panics and comes
// to an end, and no value of a row is no UTF-8.
func FuzzRows(f *testing.F) {
	f.Add("partner,kind,message_id\nacme,interchange,unb:1\n")
	f.Add("\ufeffpartner;kind;number\r\nacme;document;\"R;1\"\r\n")
	f.Add("partner\tkind\nacme\ttransport\textra\n\n")
	f.Add("partner,kind\nacme,\"int\"\"er\nchange\"\n")
	f.Add("partner,kind,id\nacme,\"a\"b\n")
	f.Add("kind,partner\n\xff,\xfe")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := readRows("f.csv", strings.NewReader(text))
		if err != nil {
			return
		}
		for n := 0; ; n++ {
			row, line, err := rows.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				if !strings.HasPrefix(err.Error(), "f.csv: ") {
					t.Fatalf("%v", err)
				}
				return
			}
			if line < 1 || n > len(text) {
				t.Fatalf("row %d in line %d", n, line)
			}
			for _, c := range rows.columns {
				if v := *c.Value(&row); strings.ToValidUTF8(v, "") != v {
					t.Fatalf("%s of row %d is %q", c.Name, n, v)
				}
			}
		}
	})
}
