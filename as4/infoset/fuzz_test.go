package infoset_test

import (
	"bytes"
	"testing"
	"testing/iotest"

	"github.com/edigw/edigw/as4/infoset"
)

// FuzzReader: no input panics, and what is read depends on the bytes alone, not on
// how they come; the tree reads what the stream reads.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		`<?xml version="1.0" encoding="UTF-8"?><!-- c --><p:a xmlns:p="urn:p" xmlns="urn:d" p:b="&#10;x" b='"'>t&amp;]]<![CDATA[<]]]>]]><?q r?><c/></p:a>`,
		"\ufeff<a>\r\n\r</a>\n", `<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>`, `<a><b></a></b>`, "<a b='1' b='2'/>", "<a>\xff</a>",
		`<a xmlns:p="urn:1" xmlns:q="urn:1" p:x="" q:x=""/>`, "<a><![CDATA[", "<a>&#x110000;</a>", "<größe/>",
		"\xff\xfe<\x00a\x00>\x00\x3d\xd8\x00\xde<\x00/\x00a\x00>\x00", "\x00<\x00a\x00/\x00>", "<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe4</a>",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, limits := range []infoset.Limits{{}, {Encodings: true}, {Instructions: true, Depth: 3, Items: 10, Attributes: 2, Names: 5, Values: 10, Notes: 10}} {
			whole, err := told(bytes.NewReader(text), limits)
			pieces, errs := told(iotest.OneByteReader(bytes.NewReader(text)), limits)
			if whole != pieces || (err == nil) != (errs == nil) {
				t.Errorf("%q: as a whole %q, %v; in bytes %q, %v", text, whole, err, pieces, errs)
			}
			if err != nil && errs != nil && err.Error() != errs.Error() {
				t.Errorf("%q: as a whole %v, in bytes %v", text, err, errs)
			}
			doc, treeErr := infoset.Parse(text, limits)
			if (treeErr == nil) != (err == nil) || treeErr == nil && doc.Root() == nil {
				t.Errorf("%q: as a tree %v, as a stream %v", text, treeErr, err)
			}
		}
	})
}
