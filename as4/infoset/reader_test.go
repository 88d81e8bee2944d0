package infoset_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/as4/infoset"
)

// told is a document as the items of a reader, one a line; text that comes in
// several items is told as one.
func told(in io.Reader, limits infoset.Limits) (string, error) {
	var b strings.Builder
	r := infoset.NewReader(in, limits)
	text := ""
	for {
		item, err := r.Next()
		if item.Kind == infoset.Characters {
			text += string(item.Text)
			continue
		}
		if text != "" {
			fmt.Fprintf(&b, "text %q\n", text)
			text = ""
		}
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return b.String(), err
		}
		switch item.Kind {
		case infoset.Start:
			fmt.Fprintf(&b, "start %s:%s", item.Prefix, item.Local)
			for _, a := range item.Attributes {
				fmt.Fprintf(&b, " {%s}%s:%s=%q", a.Space, a.Prefix, a.Local, a.Value)
			}
			b.WriteString("\n")
		case infoset.End:
			fmt.Fprintf(&b, "end %s:%s\n", item.Prefix, item.Local)
		case infoset.Comment:
			fmt.Fprintf(&b, "comment %q\n", item.Text)
		case infoset.Instruction:
			fmt.Fprintf(&b, "instruction %s %q\n", item.Local, item.Text)
		}
	}
}

func TestReader(t *testing.T) {
	for _, c := range []struct{ what, in, want string }{
		{"an empty element begins and ends", `<a/>`, "start :a\nend :a\n"},
		{"a byte order mark and a declaration are no items", "\ufeff<?xml version='1.0' encoding=\"utf-8\" standalone = 'no' ?>\n<a/>\n", "start :a\nend :a\n"},
		{"line ends are LF in text", "<a>1\r\n2\r3\n4\r\r\n</a>", "start :a\ntext \"1\\n2\\n3\\n4\\n\\n\"\nend :a\n"},
		{"a CR by number stays", "<a>&#13;&#xD;\n</a>", "start :a\ntext \"\\r\\r\\n\"\nend :a\n"},
		{"white space in a value is a space", "<a b='1\r\n2\t3\n4\r5'/>", "start :a {}:b=\"1 2 3 4 5\"\nend :a\n"},
		{"white space by number stays in a value", `<a b="&#10;&#9;&#x0D; "/>`, "start :a {}:b=\"\\n\\t\\r \"\nend :a\n"},
		{"the five entities", `<a b="&lt;&quot;">&amp;&gt;&apos;</a>`, "start :a {}:b=\"<\\\"\"\ntext \"&>'\"\nend :a\n"},
		{"characters by number, with zeros in front", `<a>&#x0001F600;&#0065;</a>`, "start :a\ntext \"😀A\"\nend :a\n"},
		{"CDATA is text", "<a>x<![CDATA[<b>&amp;]]]]><![CDATA[>\r\n]]>y<![CDATA[]]></a>", "start :a\ntext \"x<b>&amp;]]>\\ny\"\nend :a\n"},
		{"a comment within text and beside the root", "<!--\r\n--><a>x<!-- - y<&]] -->z</a><!---->", "comment \"\\n\"\nstart :a\ntext \"x\"\ncomment \" - y<&]] \"\ntext \"z\"\nend :a\ncomment \"\"\n"},
		{"instructions where they are allowed", "<?p  q ?r?><a><?s?></a>", "instruction p \"q ?r\"\nstart :a\ninstruction s \"\"\nend :a\n"},
		{"attributes know their namespace, declarations have none", `<p:a xmlns:p="urn:p" p:x="1" x="2" xml:lang="de" xmlns="urn:d"/>`,
			"start p:a {}xmlns:p=\"urn:p\" {urn:p}p:x=\"1\" {}:x=\"2\" {http://www.w3.org/XML/1998/namespace}xml:lang=\"de\" {}:xmlns=\"urn:d\"\nend p:a\n"},
		{"a prefix may be bound anew, and the default undone", `<a xmlns="urn:d" xmlns:p="urn:1"><b xmlns="" xmlns:p="urn:2" p:x=""/><c p:x=""/></a>`,
			"start :a {}:xmlns=\"urn:d\" {}xmlns:p=\"urn:1\"\nstart :b {}:xmlns=\"\" {}xmlns:p=\"urn:2\" {urn:2}p:x=\"\"\nend :b\nstart :c {urn:1}p:x=\"\"\nend :c\nend :a\n"},
		{"the prefix xml may be declared as what it is", `<a xmlns:xml="http://www.w3.org/XML/1998/namespace" xml:id="i"/>`,
			"start :a {}xmlns:xml=\"http://www.w3.org/XML/1998/namespace\" {http://www.w3.org/XML/1998/namespace}xml:id=\"i\"\nend :a\n"},
		{"names of other alphabets", "<größe ß='1' 名.-7=''/>", "start :größe {}:ß=\"1\" {}:名.-7=\"\"\nend :größe\n"},
		{"white space where it may be", "<a \n b = '1'\t></a\r\n>", "start :a {}:b=\"1\"\nend :a\n"},
		{"brackets that end nothing", "<a>]] ]> ]</a>", "start :a\ntext \"]] ]> ]\"\nend :a\n"},
		{"text longer than a window", "<a>" + strings.Repeat("äb\r\n", 20_000) + "</a>", "start :a\ntext " + fmt.Sprintf("%q", strings.Repeat("äb\n", 20_000)) + "\nend :a\n"},
		{"a section longer than a window", "<a><![CDATA[" + strings.Repeat("<]]", 30_000) + "]]></a>", "start :a\ntext " + fmt.Sprintf("%q", strings.Repeat("<]]", 30_000)) + "\nend :a\n"},
	} {
		t.Run(c.what, func(t *testing.T) {
			for name, in := range map[string]io.Reader{
				"as a whole":   strings.NewReader(c.in),
				"in halves":    iotest.HalfReader(strings.NewReader(c.in)),
				"in bytes":     iotest.OneByteReader(strings.NewReader(c.in)),
				"with the end": iotest.DataErrReader(strings.NewReader(c.in)),
			} {
				got, err := told(in, infoset.Limits{Instructions: true})
				if err != nil {
					t.Fatalf("read %s: %v", name, err)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("read %s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

func TestReaderRefuses(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{``, "line 1, byte 0: there is no element"},
		{" \n", "line 2, byte 2: there is no element"},
		{`<!DOCTYPE a><a/>`, "line 1, byte 0: a document type declaration is not allowed"},
		{`<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>`, "line 1, byte 0: a document type declaration is not allowed"},
		{"<?xml version='1.0'?>\n<!doctype a><a/>", "line 2, byte 22: a markup declaration is not allowed"},
		{`<a><!ENTITY x "y"></a>`, "line 1, byte 3: a markup declaration is not allowed"},
		{`<a>&x;</a>`, "line 1, byte 4: the reference &x; is not allowed: only &lt; &gt; &amp; &apos; &quot; and characters by number"},
		{`<a>&nbsp</a>`, "line 1, byte 4: a reference does not end with ;"},
		{`<a>&#0;</a>`, "line 1, byte 4: the reference &#0; is not allowed: only &lt; &gt; &amp; &apos; &quot; and characters by number"},
		{`<a>&#xD800;</a>`, "line 1, byte 4: the reference &#xD800; is not allowed: only &lt; &gt; &amp; &apos; &quot; and characters by number"},
		{`<a>&#x-1;</a>`, "line 1, byte 4: the reference &#x-1; is not allowed: only &lt; &gt; &amp; &apos; &quot; and characters by number"},
		{`<a>&#x110000;</a>`, "line 1, byte 4: the reference &#x110000; is not allowed: only &lt; &gt; &amp; &apos; &quot; and characters by number"},
		{`<a>&#4294967361;</a>`, "line 1, byte 4: the reference &#4294967361; is not allowed: only &lt; &gt; &amp; &apos; &quot; and characters by number"},
		{`&amp;<a/>`, "line 1, byte 0: text stands before the root element"},
		{`x<a/>`, "line 1, byte 1: text stands before the root element"},
		{"<a/>\n\nx", "line 3, byte 7: text follows the root element"},
		{`<a/><b/>`, "line 1, byte 4: a second root element follows the first"},
		{`<a/></a>`, "line 1, byte 4: an end tag stands outside the root element"},
		{`<a></b>`, "line 1, byte 6: b ends where a is open"},
		{`<p:a xmlns:p="urn:p" xmlns:q="urn:p"></q:a>`, "line 1, byte 42: q:a ends where p:a is open"},
		{`<a><b></a></b>`, "line 1, byte 9: a ends where b is open"},
		{`<a>`, "line 1, byte 3: the document ends within the element a"},
		{`<a>x`, "line 1, byte 4: the document ends within the element a"},
		{`<a b="1`, "line 1, byte 7: the document ends within the value of an attribute"},
		{`<a`, "line 1, byte 2: the document ends within an element"},
		{`<`, "line 1, byte 1: the document ends within an element"},
		{`<a><!--`, "line 1, byte 7: the document ends within a comment"},
		{`<a><![CDATA[x`, "line 1, byte 13: the document ends within a CDATA section"},
		{`<a>]]></a>`, "line 1, byte 3: ]]> is not allowed in text"},
		{`<a><!-- -- --></a>`, "line 1, byte 10: -- is not allowed within a comment"},
		{`<a><!-- ---></a>`, "line 1, byte 10: -- is not allowed within a comment"},
		{`<a b="1" b="1"/>`, "line 1, byte 16: an element has the attribute b twice"},
		{`<a xmlns:p="urn:1" xmlns:q="urn:1" p:x="" q:x=""/>`, "line 1, byte 50: an element has the attribute q:x twice"},
		{`<a xmlns:p="urn:1" xmlns:p="urn:1"/>`, "line 1, byte 36: an element has the attribute xmlns:p twice"},
		{`<a xmlns="urn:1" xmlns="urn:2"/>`, "line 1, byte 32: an element has the attribute xmlns twice"},
		{`<p:a/>`, "line 1, byte 6: the prefix p is not declared"},
		{`<a p:b=""/>`, "line 1, byte 11: the prefix p is not declared"},
		{`<a><b xmlns:p="urn:p"/><p:c/></a>`, "line 1, byte 29: the prefix p is not declared"},
		{`<a xmlns:p=""/>`, "line 1, byte 15: the prefix p is declared without a namespace"},
		{`<a xmlns:xmlns="urn:p"/>`, "line 1, byte 24: the prefix xmlns cannot be declared"},
		{`<xmlns:a/>`, "line 1, byte 10: the prefix xmlns is not for elements"},
		{`<a xmlns:p="http://www.w3.org/2000/xmlns/"/>`, "line 1, byte 44: the namespace of xmlns cannot be bound to a prefix"},
		{`<a xmlns:xml="urn:p"/>`, "line 1, byte 22: the prefix xml and its namespace belong to each other alone"},
		{`<a xmlns="http://www.w3.org/XML/1998/namespace"/>`, "line 1, byte 49: the prefix xml and its namespace belong to each other alone"},
		{`<a:b:c xmlns:a="urn:a"/>`, "line 1, byte 4: the name a:b goes on with a second colon"},
		{`<:a/>`, "line 1, byte 1: a name is expected for an element, not ':'"},
		{`<1/>`, "line 1, byte 1: a name is expected for an element, not '1'"},
		{`<a -b=""/>`, "line 1, byte 3: a name is expected for an attribute, not '-'"},
		{"<a ÷=''/>", "line 1, byte 3: a name is expected for an attribute, not '÷'"},
		{`<a b=1/>`, "line 1, byte 5: the value of an attribute is not quoted"},
		{`<a b/>`, "line 1, byte 4: = is expected after the name of an attribute"},
		{`<a b="<"/>`, "line 1, byte 6: < is not allowed in the value of an attribute"},
		{`<a b=""c=""/>`, "line 1, byte 7: white space is expected before an attribute"},
		{`<a / >`, "line 1, byte 3: / is not followed by > in a tag"},
		{`<a></a x>`, "line 1, byte 7: > is expected in the end tag of a"},
		{"<a>\x01</a>", "line 1, byte 3: the character U+0001 is not allowed in XML"},
		{"<a>\uffff</a>", "line 1, byte 3: the character U+FFFF is not allowed in XML"},
		{"<a>\xff</a>", "line 1, byte 3: the byte 0xff is not UTF-8"},
		{"<a>\xc0\x80</a>", "line 1, byte 3: the byte 0xc0 is not UTF-8"},
		{"<a>\xed\xa0\x80</a>", "line 1, byte 3: the byte 0xed is not UTF-8"},
		{"<a b='\x00'/>", "line 1, byte 6: the character U+0000 is not allowed in XML"},
		{"<a>\xe4", "line 1, byte 3: the byte 0xe4 is not UTF-8"},
		{"\xff\xfe<\x00a\x00/\x00>\x00", "line 1, byte 0: the document is not UTF-8"},
		{"\x00<\x00a\x00/\x00>", "line 1, byte 0: the document is not UTF-8"},
		{`<?xml version="1.0" encoding="ISO-8859-1"?><a/>`, `line 1, byte 43: the encoding "ISO-8859-1" is not read, only UTF-8`},
		{"\x00\x00\x00<", "line 1, byte 0: the document is neither UTF-8 nor UTF-16, nor does it extend ASCII"},
		{`<?xml version="1.1"?><a/>`, `line 1, byte 21: XML version "1.1" is not read, only 1.0`},
		{`<?xml encoding="UTF-8"?><a/>`, "line 1, byte 24: the XML declaration names no version"},
		{`<?xml version="1.0"encoding="UTF-8"?><a/>`, "line 1, byte 37: white space is missing before encoding in the XML declaration"},
		{`<?xml version="1.0" standalone="perhaps"?><a/>`, `line 1, byte 42: standalone is "perhaps" in the XML declaration, not yes or no`},
		{`<?xml version="1.0" more="x"?><a/>`, `line 1, byte 30: the XML declaration holds " more=\"x\""`},
		{` <?xml version="1.0"?><a/>`, "line 1, byte 1: a processing instruction is not allowed"},
		{`<a><?p?></a>`, "line 1, byte 3: a processing instruction is not allowed"},
		{`<![CDATA[x]]><a/>`, "line 1, byte 0: a CDATA section stands outside the root element"},
	} {
		t.Run(c.want+": "+c.in, func(t *testing.T) {
			for _, in := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
				_, err := told(in, infoset.Limits{})
				if err == nil || err.Error() != c.want {
					t.Errorf("got  %v\nwant %s", err, c.want)
				}
				if _, ok := errors.AsType[*infoset.SyntaxError](err); !ok {
					t.Errorf("%T is no *SyntaxError", err)
				}
			}
		})
	}
	t.Run("an XML declaration that is not at the start, where instructions may stand", func(t *testing.T) {
		_, err := told(strings.NewReader(`<a><?XML version="1.0"?></a>`), infoset.Limits{Instructions: true})
		if want := "line 1, byte 8: an XML declaration stands at the start of a document, nowhere else"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}

func TestReaderIsBounded(t *testing.T) {
	for _, c := range []struct {
		what   string
		in     io.Reader
		limits infoset.Limits
		want   string
	}{
		{"bytes", io.MultiReader(strings.NewReader("<a>"), endless('x')), infoset.Limits{Bytes: 1 << 20}, "the document is longer than 1048576 bytes"},
		{"depth", repeated("<a>"), infoset.Limits{}, "elements are nested more than 32 deep"},
		{"elements", io.MultiReader(strings.NewReader("<a>"), repeated("<a/>")), infoset.Limits{}, "the document has more than 50000 elements, attributes, comments and sections"},
		{"comments", repeated("<!---->"), infoset.Limits{}, "the document has more than 50000 elements, attributes, comments and sections"},
		{"sections", io.MultiReader(strings.NewReader("<a>"), repeated("<![CDATA[]]>")), infoset.Limits{}, "the document has more than 50000 elements, attributes, comments and sections"},
		{"attributes", io.MultiReader(strings.NewReader("<a"), repeated(" a='1'")), infoset.Limits{}, "an element has more than 64 attributes"},
		{"a name", io.MultiReader(strings.NewReader("<"), endless('x')), infoset.Limits{}, "a name is longer than 256 bytes"},
		{"a value", io.MultiReader(strings.NewReader("<a b='"), endless('x')), infoset.Limits{}, "the attributes of an element are longer than 65536 bytes"},
		{"values together", strings.NewReader("<a b='" + strings.Repeat("x", 40_000) + "' c='" + strings.Repeat("x", 40_000) + "'/>"), infoset.Limits{}, "the attributes of an element are longer than 65536 bytes"},
		{"a comment", io.MultiReader(strings.NewReader("<!--"), endless('x')), infoset.Limits{}, "a comment is longer than 16384 bytes"},
		{"a declaration", io.MultiReader(strings.NewReader("<?xml "), endless('x')), infoset.Limits{}, "the XML declaration is longer than 16384 bytes"},
		{"an instruction", io.MultiReader(strings.NewReader("<?p "), endless('x')), infoset.Limits{Instructions: true}, "a processing instruction is longer than 16384 bytes"},
		{"a reference", io.MultiReader(strings.NewReader("<a>&"), endless('x')), infoset.Limits{}, "a reference is longer than 16 bytes"},
		{"namespaces in scope", strings.NewReader(declarations(300)), infoset.Limits{Depth: 1_000}, "more than 256 namespace declarations are in scope"},
	} {
		t.Run(c.what, func(t *testing.T) {
			_, err := told(c.in, c.limits)
			if f, ok := errors.AsType[*infoset.SyntaxError](err); !ok || f.What != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	t.Run("an error of what is read is given as it is, and stays", func(t *testing.T) {
		broken := errors.New("the disk is gone")
		for _, begin := range []string{"", "<a", "<a>text", "<a><![CDATA[x", "<a><!-- ", "<a b='1"} {
			r := infoset.NewReader(io.MultiReader(strings.NewReader(begin), iotest.ErrReader(broken)), infoset.Limits{})
			var err error
			for err == nil {
				_, err = r.Next()
			}
			if !errors.Is(err, broken) {
				t.Errorf("after %q: %v", begin, err)
			}
			if _, again := r.Next(); !errors.Is(again, broken) {
				t.Errorf("after %q, asked again: %v", begin, again)
			}
		}
	})
}

type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

func repeated(s string) io.Reader { return strings.NewReader(strings.Repeat(s, 100_000)) }

func declarations(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<a xmlns:p%d='urn:p'>", i)
	}
	return b.String()
}
