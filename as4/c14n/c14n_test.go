package c14n_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/beevik/etree"
	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/as4/c14n"
	"github.com/edigw/edigw/as4/infoset"
)

func method(t *testing.T, identifier, prefixList string) c14n.Method {
	t.Helper()
	m, err := c14n.New(identifier, prefixList)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// stream canonicalises a document as it is read.
func stream(text []byte, m c14n.Method) ([]byte, error) {
	var out bytes.Buffer
	err := m.Stream(&out, infoset.NewReader(bytes.NewReader(text), infoset.Payload))
	return out.Bytes(), err
}

// xmllint canonicalises a document by libxml2.
func xmllint(t testing.TB, how string, text []byte) ([]byte, error) {
	t.Helper()
	path, err := exec.LookPath("xmllint")
	if err != nil {
		t.Fatal("xmllint, which ours is held against, is not here: run deploy/xmlsec (Debian's libxml2-utils)")
	}
	cmd := exec.Command(path, "--nonet", how, "-")
	cmd.Stdin = bytes.NewReader(text)
	return cmd.Output()
}

// documents are the tricky ones.
func documents(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/documents/*.xml")
	if err != nil || len(paths) < 60 {
		t.Fatalf("%d documents, %v", len(paths), err)
	}
	return paths
}

func TestAgreesWithXmllint(t *testing.T) {
	for _, path := range documents(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, how := range []struct{ flag, identifier string }{
			{"--exc-c14n", c14n.ExclusiveWithComments},
			{"--c14n", c14n.InclusiveWithComments},
		} {
			t.Run(strings.TrimSuffix(filepath.Base(path), ".xml")+" "+how.flag, func(t *testing.T) {
				want, err := xmllint(t, how.flag, text)
				if err != nil {
					t.Fatal(err)
				}
				got, err := stream(text, method(t, how.identifier, ""))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), string(got)); diff != "" {
					t.Errorf("streamed (-xmllint +ours):\n%s", diff)
				}
				// Comments and instructions beside the root are none of the element.
				doc, err := infoset.Parse(text, infoset.Limits{Depth: 64, Instructions: true, Encodings: true})
				if err != nil {
					t.Fatal(err)
				}
				var tree bytes.Buffer
				if err := method(t, how.identifier, "").Element(&tree, doc.Root()); err != nil {
					t.Fatal(err)
				}
				if !strings.Contains("\n"+string(want)+"\n", "\n"+tree.String()+"\n") {
					t.Errorf("as an element it is\n%s\nnot within\n%s", tree.String(), want)
				}
			})
		}
	}
}

func TestStreamIsFreeOfComments(t *testing.T) {
	got, err := stream([]byte("<!-- a --><?p?><r>te<!-- b -->xt</r><!-- c -->"), method(t, c14n.Exclusive, ""))
	if want := "<?p?>\n<r>text</r>"; err != nil || string(got) != want {
		t.Errorf("%v: got %q, want %q", err, got, want)
	}
}

func TestNamespacesAreEscaped(t *testing.T) {
	// Canonical XML 1.0 §2.3: a namespace node is written as an attribute would be.
	const text = `<a xmlns="urn:a&amp;b'c&quot;"><b xmlns:p="urn:x?y=1&amp;z=2" p:y=""></b></a>`
	if got, err := stream([]byte(text), method(t, c14n.Exclusive, "")); err != nil || string(got) != text {
		t.Errorf("%v: got %s, want %s", err, got, text)
	}
}

// find gives the element with an id attribute.
func find(e *etree.Element, id string) *etree.Element {
	if v, ok := infoset.Attr(e, infoset.Name{Local: "id"}); ok && v == id {
		return e
	}
	for _, c := range e.ChildElements() {
		if f := find(c, id); f != nil {
			return f
		}
	}
	return nil
}

// The situations are those of the examples in the specifications (Canonical XML 1.0
// §3.7, Exclusive XML Canonicalization 1.0 §2), in documents of our own.
func TestElementInItsContext(t *testing.T) {
	const letter = `<l:letter xmlns:l="urn:letter" xmlns:u="urn:unused" xmlns="urn:plain" xml:lang="de">` +
		`<l:envelope id="1"><note id="2" l:kind="x"><l:line xmlns="" id="3"><word id="4"/></l:line></note></l:envelope>` +
		`<other xmlns:l="urn:other" id="5" xml:lang="en" xml:space="preserve"><l:x id="6" l:y="1"/></other></l:letter>`
	for _, c := range []struct{ what, identifier, prefixes, id, want string }{
		{"exclusive writes what the element itself uses", c14n.Exclusive, "", "1",
			`<l:envelope xmlns:l="urn:letter" id="1"><note xmlns="urn:plain" id="2" l:kind="x"><l:line id="3"><word xmlns="" id="4"></word></l:line></note></l:envelope>`},
		{"inclusive writes all that is in scope, and xml: of the ancestors", c14n.Inclusive, "", "1",
			`<l:envelope xmlns="urn:plain" xmlns:l="urn:letter" xmlns:u="urn:unused" id="1" xml:lang="de"><note id="2" l:kind="x"><l:line xmlns="" id="3"><word id="4"></word></l:line></note></l:envelope>`},
		{"an inherited xml: attribute gives way to the element's own", c14n.Inclusive, "", "5",
			`<other xmlns="urn:plain" xmlns:l="urn:other" xmlns:u="urn:unused" id="5" xml:lang="en" xml:space="preserve"><l:x id="6" l:y="1"></l:x></other>`},
		{"the nearest ancestor's xml: attribute goes first", c14n.Inclusive, "", "6",
			`<l:x xmlns="urn:plain" xmlns:l="urn:other" xmlns:u="urn:unused" id="6" xml:lang="en" xml:space="preserve" l:y="1"></l:x>`},
		{"exclusive inherits no xml: attribute", c14n.Exclusive, "", "6", `<l:x xmlns:l="urn:other" id="6" l:y="1"></l:x>`},
		{"an element in no namespace begins without a declaration", c14n.Exclusive, "", "4", `<word id="4"></word>`},
		{"inclusive too", c14n.Inclusive, "", "4", `<word xmlns:l="urn:letter" xmlns:u="urn:unused" id="4" xml:lang="de"></word>`},
		{"a prefix of the list is written where it is in scope", c14n.Exclusive, "u nowhere", "1",
			`<l:envelope xmlns:l="urn:letter" xmlns:u="urn:unused" id="1"><note xmlns="urn:plain" id="2" l:kind="x"><l:line id="3"><word xmlns="" id="4"></word></l:line></note></l:envelope>`},
		{"#default of the list is the default namespace", c14n.Exclusive, "#default", "1",
			`<l:envelope xmlns="urn:plain" xmlns:l="urn:letter" id="1"><note id="2" l:kind="x"><l:line xmlns="" id="3"><word id="4"></word></l:line></note></l:envelope>`},
		{"#default that is undone is nothing at the top", c14n.Exclusive, " #default\tu\n", "3",
			`<l:line xmlns:l="urn:letter" xmlns:u="urn:unused" id="3"><word id="4"></word></l:line>`},
		{"a prefix of the list that an element binds anew", c14n.Exclusive, "l", "5",
			`<other xmlns="urn:plain" xmlns:l="urn:other" id="5" xml:lang="en" xml:space="preserve"><l:x id="6" l:y="1"></l:x></other>`},
	} {
		t.Run(c.what, func(t *testing.T) {
			doc, err := infoset.Parse([]byte(letter), infoset.Header)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := method(t, c.identifier, c.prefixes).Element(&got, find(doc.Root(), c.id)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefuses(t *testing.T) {
	t.Run("a relative namespace", func(t *testing.T) {
		for _, uri := range []string{"a", "../a", "/a", ":a", "1a:b", "a/b:c", "ä:b"} {
			_, err := stream([]byte(`<p:a xmlns:p="`+uri+`"/>`), method(t, c14n.Exclusive, ""))
			if want := "the namespace \"" + uri + "\" is relative, which canonical XML does not take"; err == nil || err.Error() != want {
				t.Errorf("%s: %v", uri, err)
			}
		}
	})
	t.Run("methods that are not known, and a list where none is", func(t *testing.T) {
		for _, identifier := range []string{"", "http://www.w3.org/2006/12/xml-c14n11", "http://www.w3.org/TR/1999/REC-xslt-19991116"} {
			if _, err := c14n.New(identifier, ""); err == nil {
				t.Errorf("%q is taken", identifier)
			}
		}
		if _, err := c14n.New(c14n.Inclusive, "a"); err == nil {
			t.Error("inclusive takes a PrefixList")
		}
		if _, err := c14n.New(c14n.Exclusive, strings.Repeat("a ", 33)); err == nil || err.Error() != "the PrefixList has more than 32 prefixes" {
			t.Errorf("33 prefixes: %v", err)
		}
		if _, err := c14n.New(c14n.Exclusive, strings.Repeat("a ", 32)); err != nil {
			t.Errorf("32 prefixes: %v", err)
		}
	})
	t.Run("a tree of our own whose prefixes are not declared", func(t *testing.T) {
		m := method(t, c14n.Exclusive, "")
		if err := m.Element(io.Discard, etree.NewElement("p:a")); err == nil || err.Error() != `the prefix "p" of the element a is not declared` {
			t.Error(err)
		}
		e := etree.NewElement("a")
		e.CreateAttr("p:b", "")
		if err := m.Element(io.Discard, e); err == nil || err.Error() != `the prefix "p" of an attribute is not declared` {
			t.Error(err)
		}
	})
	t.Run("an error of where it is written to, and of what is read", func(t *testing.T) {
		m := method(t, c14n.Exclusive, "")
		if err := m.Stream(io.Discard, infoset.NewReader(strings.NewReader("<a>"), infoset.Payload)); err == nil {
			t.Error("a cut document has no canonical form")
		}
		doc, err := infoset.Parse([]byte("<a/>"), infoset.Header)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Element(full{}, doc.Root()); err != errFull {
			t.Errorf("Element gave %v", err)
		}
	})
}

// FuzzCanonical: what is canonical stays as it is, whichever way it is written, and
// libxml2 takes it for the same document.
func FuzzCanonical(f *testing.F) {
	for _, path := range documents(f) {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if len(text) < 4<<10 {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, identifier := range []string{c14n.ExclusiveWithComments, c14n.InclusiveWithComments} {
			m := method(t, identifier, "")
			once, err := stream(text, m)
			if err != nil {
				continue
			}
			twice, err := stream(once, m)
			if err != nil || !bytes.Equal(once, twice) {
				t.Errorf("%s of %q is %q, and of that %q, %v", identifier, text, once, twice, err)
			}
			doc, err := infoset.Parse(once, infoset.Limits{Depth: 512, Names: 1024, Attributes: 1024, Instructions: true})
			if err != nil {
				continue // beyond what a tree may be
			}
			var tree bytes.Buffer
			if err := m.Element(&tree, doc.Root()); err != nil || !bytes.Contains(once, tree.Bytes()) {
				t.Errorf("%s of the tree of %q is %q, %v", identifier, once, tree.Bytes(), err)
			}
		}
		// A process each: a sample of what is read.
		if len(text) == 0 || text[len(text)-1]%16 != 0 {
			return
		}
		ours, err := stream(text, method(t, c14n.ExclusiveWithComments, ""))
		if err != nil {
			return
		}
		theirs, err := xmllint(t, "--exc-c14n", text)
		if err != nil || bytes.Equal(ours, theirs) {
			return
		}
		// QUIRK: libxml2 escapes nothing in a namespace, so that what it writes is another
		// document or none.
		if again, err := stream(theirs, method(t, c14n.ExclusiveWithComments, "")); err == nil && bytes.Equal(again, theirs) {
			t.Errorf("of %q ours is %q, xmllint's %q", text, ours, theirs)
		}
	})
}

var errFull = errors.New("the disk is full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
