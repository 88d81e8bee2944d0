package edifact

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

// TestEN16931 holds what we read of the INVOIC examples of EN 16931 against the
// same messages written as XML (ISO 20625) by their authors: every value in its
// element and component, and none beside them.
func TestEN16931(t *testing.T) {
	files := shared(t, "samples/edi/en16931/EDIFACT_EXAMPLE[1-6].TXT")
	if len(files) != 6 {
		t.Fatalf("%d examples", len(files))
	}
	for _, file := range files {
		t.Run(filepath.Base(file)+" has the values of its XML, each in its place", func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tree, err := os.ReadFile(strings.TrimSuffix(file, "TXT") + "xml")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			readAll(t, Reader{}, edi.Bytes(text), func(_ *edi.Interchange, _ int, b *edi.Body) {
				if b.Segment(0).Is("UNH") { // UNO of examples 2 and 5 is outside the message
					got = append(got, placed(b)...)
				}
			})
			want := placedXML(t, tree)
			// S009 has a sixth place in syntax version 4 (ISO 9735-10), which the XML
			// leaves out.
			want = slices.Insert(want, slices.Index(want, "1 UNH 2.4 UN")+1, "1 UNH 2.6 16B")
			for _, x := range otherwise[filepath.Base(file)] {
				i := slices.Index(want, x.tree)
				if i < 0 {
					t.Fatalf("the XML has no %q", x.tree)
				}
				want[i] = x.text
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Fatal(d)
			}
		})
	}
}

// otherwise are the values that the XML has otherwise than the text. A receiver
// keeps what was sent, so the text is right: the XML has lost a line break, and
// zeros behind the decimal point.
var otherwise = map[string][]struct{ tree, text string }{
	"EDIFACT_EXAMPLE2.TXT": {{"8 FTX 4.1 2 % discount if paid within 2 daysPenalty percentage 10% from due date",
		"8 FTX 4.1 2 % discount if paid within 2 days\nPenalty percentage 10% from due date"}},
	"EDIFACT_EXAMPLE5.TXT": {{"122 MOA 1.2 4000", "122 MOA 1.2 4000.00"}, {"126 MOA 1.2 675", "126 MOA 1.2 675.00"}},
}

// placed gives the segments of b and their values: "9 NAD", "9 NAD 1.1 BY".
// A second repetition of an element would be "9 NAD 1*2.1".
func placed(b *edi.Body) []string {
	list := []string{}
	for n := range b.Len() {
		s := b.Segment(n)
		name := fmt.Sprintf("%d %s", n+1, s.Tag())
		list = append(list, name)
		for v := range s.Values() {
			if v.Text == "" {
				continue
			}
			place := fmt.Sprintf("%d.%d", v.Element, v.Component)
			if v.Repetition > 1 {
				place = fmt.Sprintf("%d*%d.%d", v.Element, v.Repetition, v.Component)
			}
			list = append(list, fmt.Sprintf("%s %s %s", name, place, v.Text))
		}
	}
	return list
}

// element is one of ISO 20625: M_ a message, G_ a group, S_ a segment, C_ a
// composite and D_ a data element, each with its number in the directory.
type element struct {
	XMLName  xml.Name
	Text     string    `xml:",chardata"`
	Elements []element `xml:",any"`
}

// placedXML gives the same as placed of the message in text. XML has no empty
// elements: where a value stands follows from its number.
func placedXML(t *testing.T, text []byte) []string {
	var message element
	if err := xml.Unmarshal(text, &message); err != nil {
		t.Fatal(err)
	}
	list, n := []string{}, 0
	var walk func(element)
	walk = func(x element) {
		kind, tag, _ := strings.Cut(x.XMLName.Local, "_")
		if kind != "S" {
			for _, below := range x.Elements {
				walk(below)
			}
			return
		}
		n++
		name := fmt.Sprintf("%d %s", n, tag)
		list = append(list, name)
		at := 0
		for _, e := range x.Elements {
			at = behind(t, tag, at, e)
			if strings.HasPrefix(e.XMLName.Local, "D_") {
				list = append(list, fmt.Sprintf("%s %d.1 %s", name, at, e.Text))
				continue
			}
			c := 0
			for _, d := range e.Elements {
				c = behind(t, number(e), c, d)
				list = append(list, fmt.Sprintf("%s %d.%d %s", name, at, c, d.Text))
			}
		}
	}
	walk(message)
	return list
}

// number is e's in the directory. D_3042_2 is the second 3042 of its composite.
func number(e element) string { return strings.Split(e.XMLName.Local, "_")[1] }

// behind gives the first place of e in a segment or composite behind place at.
func behind(t *testing.T, in string, at int, e element) int {
	t.Helper()
	places := strings.Fields(places14B[in])
	i := slices.Index(places[min(at, len(places)):], number(e))
	if i < 0 {
		t.Fatalf("%s of %s has no place behind %d", e.XMLName.Local, in, at)
	}
	return at + i + 1
}

// places14B are the elements of segments and the components of composites by
// place, directory D.14B (EDSD, EDCD) and for service segments ISO 9735-10, as
// far as the examples reach.
var places14B = map[string]string{
	"UNH": "0062 S009", "S009": "0065 0052 0054 0051 0057 0110 0113",
	"UNS": "0081",
	"UNT": "0074 0062",
	"ALC": "5463 C552 4471 1227 C214", "C552": "1230 5189", "C214": "7161 1131 3055 7160 7160",
	"ALI": "3239 9213 4183",
	"BGM": "C002 C106 1225 4343", "C002": "1001 1131 3055 1000", "C106": "1004 1056 1060",
	"COM": "C076", "C076": "3148 3155",
	"CTA": "3139 C056", "C056": "3413 3412",
	"CUX": "C504 C504 5402 6341", "C504": "6347 6345 6343 6348",
	"DTM": "C507", "C507": "2005 2380 2379",
	"EFI": "C077 C099 1050 9450", "C077": "1508 7008",
	"FII": "3035 C078 C088 3207", "C078": "3194 3192 3192 6345", "C088": "3433 1131 3055 3434 1131 3055 3432 3436",
	"FTX": "4451 4453 C107 C108 3453 4447", "C107": "4441 1131 3055", "C108": "4440 4440 4440 4440 4440",
	"GIR": "7297 C206 C206 C206 C206 C206", "C206": "7402 7405 4405",
	"IMD": "7077 C272 C273 7383", "C273": "7009 1131 3055 7008 7008 3453",
	"LIN": "1082 1229 C212 C829 1222 7083", "C212": "7140 7143 1131 3055",
	"MOA": "C516", "C516": "5025 5004 6345 6343 4405",
	"NAD": "3035 C082 C058 C080 C059 3164 C819 3251 3207", "C082": "3039 1131 3055",
	"C080": "3036 3036 3036 3036 3036 3045", "C059": "3042 3042 3042 3042", "C819": "3229 1131 3055 3228",
	"PAI": "C534", "C534": "4439 4431 4461 1131 3055 4435",
	"PCD": "C501 4405", "C501": "5245 5482 5249 1131 3055",
	"PIA": "4347 C212 C212 C212 C212 C212",
	"PRI": "C509 5213", "C509": "5125 5118 5375 5387 5284 6411",
	"PYT": "4279 C019 2475 2009 2151 2152",
	"QTY": "C186", "C186": "6063 6060 6411",
	"RFF": "C506", "C506": "1153 1154 1156 1056 1060",
	"TAX": "5283 C241 C533 5286 C243 5305", "C241": "5153 1131 3055 5152", "C243": "5279 1131 3055 5278 5273 1131 3055",
}
