package edifact

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

func TestUndigested(t *testing.T) {
	read := func(r Reader, p *edi.Payload) *edi.Interchange {
		ic, err := r.Split(p, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Scan(p, ic, nil); err != nil {
			t.Fatal(err)
		}
		return ic
	}
	p := edi.Bytes([]byte(message("BGM+380+RG1+9'", 3) + "\r\n"))
	want, got := read(Reader{}, p), read(Reader{Undigested: true}, p)
	none := [32]byte{}
	t.Run("no digest is made", func(t *testing.T) {
		if got.PayloadSHA256 != none || got.ContentSHA256 != none || got.Messages[0].SHA256 != none {
			t.Error(got)
		}
	})
	t.Run("all else is read as ever", func(t *testing.T) {
		if want.PayloadSHA256 == none || want.ContentSHA256 == none || want.Messages[0].SHA256 == none {
			t.Error("a digest is missing")
		}
		want.PayloadSHA256, want.ContentSHA256, want.Messages[0].SHA256 = none, none, none
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
	t.Run("the next reading digests again", func(t *testing.T) {
		if ic := read(Reader{}, p); ic.ContentSHA256 == none {
			t.Error("no content digest")
		}
	})
}
