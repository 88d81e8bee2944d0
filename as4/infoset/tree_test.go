package infoset_test

import (
	"strings"
	"testing"

	"github.com/beevik/etree"

	"github.com/edigw/edigw/as4/infoset"
)

func parse(t *testing.T, text string) *etree.Element {
	t.Helper()
	doc, err := infoset.Parse([]byte(text), infoset.Header)
	if err != nil {
		t.Fatal(err)
	}
	return doc.Root()
}

func TestTree(t *testing.T) {
	root := parse(t, `<p:a xmlns:p="urn:p" xmlns="urn:d" p:x="1" x="2"><b/><p:b/><b xmlns="urn:p">te<!-- hides nothing --><![CDATA[xt]]></b><c><d/></c><e/><b xmlns=""/></p:a>`)
	t.Run("names are told by their namespace, whatever the prefix", func(t *testing.T) {
		if got, want := len(infoset.Children(root, infoset.Name{Space: "urn:p", Local: "b"})), 2; got != want {
			t.Errorf("%d children {urn:p}b, want %d", got, want)
		}
		if got := infoset.NameOf(root.ChildElements()[5]).String(); got != "b" {
			t.Errorf("the default is undone: got %s", got)
		}
		if got := infoset.NameOf(root.ChildElements()[0]).String(); got != "{urn:d}b" {
			t.Errorf("the default: got %s", got)
		}
	})
	t.Run("an attribute without prefix has no namespace", func(t *testing.T) {
		if v, ok := infoset.Attr(root, infoset.Name{Local: "x"}); !ok || v != "2" {
			t.Errorf("x: %q, %v", v, ok)
		}
		if v, ok := infoset.Attr(root, infoset.Name{Space: "urn:p", Local: "x"}); !ok || v != "1" {
			t.Errorf("p:x: %q, %v", v, ok)
		}
		if v, ok := infoset.Attr(root, infoset.Name{Space: "urn:d", Local: "x"}); ok {
			t.Errorf("the default namespace gave x=%q", v)
		}
		if v, ok := infoset.Attr(root, infoset.Name{Local: "xmlns"}); ok {
			t.Errorf("a declaration is no attribute: %q", v)
		}
	})
	t.Run("a comment does not end the text", func(t *testing.T) {
		if got, err := infoset.Text(root.ChildElements()[2]); err != nil || got != "text" {
			t.Errorf("%q, %v", got, err)
		}
		if got, err := infoset.Text(root.ChildElements()[4]); err != nil || got != "" {
			t.Errorf("without text: %q, %v", got, err)
		}
		if _, err := infoset.Text(root.ChildElements()[3]); err == nil || err.Error() != "c holds an element d where text is expected" {
			t.Error(err)
		}
	})
	t.Run("one element where one is expected", func(t *testing.T) {
		if _, err := infoset.Only(root, infoset.Name{Space: "urn:p", Local: "b"}); err == nil || err.Error() != "p:a holds 2 elements {urn:p}b, one is allowed" {
			t.Error(err)
		}
		if _, err := infoset.Only(root, infoset.Name{Local: "z"}); err == nil || err.Error() != "p:a holds no element z" {
			t.Error(err)
		}
		if e, err := infoset.Child(root, infoset.Name{Local: "z"}); e != nil || err != nil {
			t.Error(e, err)
		}
	})
	t.Run("a refused document is no tree", func(t *testing.T) {
		if doc, err := infoset.Parse([]byte("<a><b></a>"), infoset.Header); doc != nil || err == nil {
			t.Error(doc, err)
		}
	})
	t.Run("what is written again reads the same", func(t *testing.T) {
		doc, err := infoset.Parse([]byte("<a b='&#10;&#13;&quot;'>&#13;\n&lt;</a>"), infoset.Header)
		if err != nil {
			t.Fatal(err)
		}
		text, err := doc.WriteToString()
		if err != nil {
			t.Fatal(err)
		}
		if want, _ := told(strings.NewReader("<a b='&#10;&#13;&quot;'>&#13;\n&lt;</a>"), infoset.Limits{}); want == "" {
			t.Fatal("nothing is read")
		} else if got, err := told(strings.NewReader(text), infoset.Limits{}); err != nil || got != want {
			t.Errorf("%v: got %s, want %s", err, got, want)
		}
	})
}
