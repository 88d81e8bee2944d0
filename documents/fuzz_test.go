package documents

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/edigw/edigw/edi"
)

var ours = edi.Delimiters{Component: ':', Element: '+', Decimal: '.', Release: '?', Repetition: '*', Terminator: '\''}

// messages are the segments of the messages in testdata, envelopes cut off.
func messages(t testing.TB) [][]string {
	var all [][]string
	for _, name := range []string{"invoic-d96a.edi", "invoic-credit-d01b.edi", "desadv-d96a.edi"} {
		text := latin1(string(testdata(t, name)))
		var segments []string
		for _, s := range bytes.SplitAfter([]byte(text[bytes.Index([]byte(text), []byte("UNH")):]), []byte("'")) {
			if s = bytes.TrimLeft(s, "\n"); len(s) > 0 && !bytes.HasPrefix(s, []byte("UNZ")) {
				segments = append(segments, string(s))
			}
		}
		all = append(all, segments)
	}
	return all
}

// mapAll maps a body of EDIFACT by every mapper of its syntax.
func mapAll(t interface{ Fatalf(string, ...any) }, text []byte) {
	ic := &edi.Interchange{Syntax: "edifact", Delimiters: ours, Sender: edi.Party{ID: "S"}, Messages: []edi.Message{{Type: &edi.MessageType{Type: "X"}, Group: -1}}}
	held(t, ic, text, "BGM", plainly(mapInvoic), plainly(mapDesadv), Generic)
	held(t, ic, text, "BGM", by("en16931", mapInvoic), by("edifact-d96a", mapInvoic), by("eancom", mapDesadv))
}

// mapAllX12 maps a body of X12.
func mapAllX12(t interface{ Fatalf(string, ...any) }, text []byte) {
	d := edi.Delimiters{Component: '>', Element: '*', Repetition: '^', Terminator: '~'}
	ic := &edi.Interchange{Syntax: "x12", Delimiters: d, Sender: edi.Party{ID: "S"}, Groups: []edi.Group{{FunctionalID: "IN", Version: "004010"}},
		Messages: []edi.Message{{Type: &edi.MessageType{Type: "X", Release: "004010"}}}}
	held(t, ic, text, "BIG", plainly(mapX810), by("retail-x12", mapX810))
	held(t, ic, text, "BSN", plainly(mapX856), by("retail-x12", mapX856))
	held(t, ic, text, "", Generic)
}

// held maps a body and holds what must hold for any text: no panic, a document
// exactly where nothing refuses it, the number that the first segment tag with one
// gives it, a tree, and rows that can be encoded.
func held(t interface{ Fatalf(string, ...any) }, ic *edi.Interchange, text []byte, tag string, mappers ...plainMapper) {
	b := edi.NewBody(text, 0, 1, ic.Delimiters, nil)
	var numbers []string
	for _, s := range b.Segments {
		if s.Is(tag) {
			numbers = append(numbers, trimBlanks(s.Get(2, 1)))
		}
	}
	for _, m := range mappers {
		d, errs := m(ic, 0, b)
		if (d == nil) != (edi.Worst(errs) >= edi.SeverityError) {
			t.Fatalf("document %v with findings %v", d != nil, errs)
		}
		if len(errs) > 2*maxFindings+1 {
			t.Fatalf("%d findings", len(errs))
		}
		if d == nil {
			continue
		}
		if d.Class != ClassGeneric && d.Number == "" || d.GuardContent() == [32]byte{} || d.GuardKey() == [32]byte{} {
			t.Fatalf("a document without identity: %+v", d)
		}
		if d.Class != ClassGeneric && (len(numbers) == 0 || d.Number != numbers[0]) {
			t.Fatalf("document %q was sent as %q, the first of which counts", d.Number, numbers)
		}
		parents := make([]int, len(d.Packages))
		for at, pack := range d.Packages {
			if parents[at] = pack.Parent; pack.Parent < 0 || pack.Parent > len(parents) {
				t.Fatalf("package %d stands in %d of %d", at+1, pack.Parent, len(parents))
			}
		}
		if circles := cutCircles(parents); circles != nil {
			t.Fatalf("packages stand in each other: %v", circles)
		}
		for at, l := range d.Lines {
			if l.Package > len(d.Packages) {
				t.Fatalf("line %d lies in package %d of %d", at+1, l.Package, len(d.Packages))
			}
		}
		d.ID = uuid.UUID{1}
		var batch pgx.Batch
		if err := Queue(&batch, "acme", []Row{{Document: d, State: StateLive}}); err != nil {
			t.Fatalf("rows: %v", err)
		}
	}
}

// TestMutations maps real messages with segments dropped, doubled, moved and taken
// from each other, and values swapped.
func TestMutations(t *testing.T) {
	t.Run("EDIFACT", func(t *testing.T) { mutations(t, messages(t), "+:*?0Z-., \x00\x1b\x1d\xfc", mapAll) })
	t.Run("X12", func(t *testing.T) {
		var all [][]string
		for _, text := range sets(t) {
			var segments []string
			for _, s := range bytes.SplitAfter(text, []byte("~")) {
				if s = bytes.TrimLeft(s, "\r\n"); len(s) > 0 {
					segments = append(segments, string(s))
				}
			}
			all = append(all, segments)
		}
		mutations(t, all, "*>^0Z-., \x00\x1b\x1d\xfc", mapAllX12)
	})
}

// mutations maps messages, given by their segments, with changes; values are swapped
// for others, one byte at a time.
func mutations(t *testing.T, all [][]string, values string, do func(t interface{ Fatalf(string, ...any) }, text []byte)) {
	var pool []string
	for _, m := range all {
		pool = append(pool, m...)
	}
	rapid.Check(t, func(t *rapid.T) {
		segments := slices.Clone(rapid.SampledFrom(all).Draw(t, "message"))
		for range rapid.IntRange(1, 8).Draw(t, "changes") {
			at := rapid.IntRange(1, len(segments)-1).Draw(t, "at")
			switch rapid.IntRange(0, 4).Draw(t, "change") {
			case 0:
				if len(segments) > 2 {
					segments = slices.Delete(segments, at, at+1)
				}
			case 1:
				segments = slices.Insert(segments, at, segments[at])
			case 2:
				to := rapid.IntRange(1, len(segments)-1).Draw(t, "to")
				segments[at], segments[to] = segments[to], segments[at]
			case 3:
				segments = slices.Insert(segments, at, rapid.SampledFrom(pool).Draw(t, "segment"))
			case 4:
				b := []byte(segments[at])
				b[rapid.IntRange(0, len(b)-1).Draw(t, "byte")] = rapid.SampledFrom([]byte(values)).Draw(t, "becomes")
				segments[at] = string(b)
			}
		}
		var text []byte
		for _, s := range segments {
			text = append(text, s...)
		}
		do(t, text)
	})
}

// FuzzMap maps whatever text there is.
func FuzzMap(f *testing.F) {
	for _, segments := range messages(f) {
		var text []byte
		for _, s := range segments {
			text = append(text, s...)
		}
		f.Add(text)
	}
	f.Add([]byte("UNH'BGM+380+\x1b\x1d+9'CPS+1'GIN+BJ+1+2+3'PCI+1'LIN'PCI'GIN+BX+1:2'QTY+12:1'MOA'UNT'"))
	f.Fuzz(func(t *testing.T, text []byte) { mapAll(t, text) })
}

// sets are transaction sets, envelopes cut off.
func sets(t testing.TB) (all [][]byte) {
	for _, text := range [][]byte{invoice810(t), notice856(t), testdata(t, "invoice-810-004010.edi"), testdata(t, "ship-notice-856-005010.edi")} {
		_, set, _ := bytes.Cut(text, []byte("ST*"))
		set, _, _ = bytes.Cut(append([]byte("ST*"), set...), []byte("GE*"))
		all = append(all, set)
	}
	return all
}

// FuzzMapX12 maps whatever text there is as a transaction set.
func FuzzMapX12(f *testing.F) {
	for _, text := range sets(f) {
		f.Add(text)
	}
	f.Add([]byte("ST*810*1~BIG*20261127*\x1b\x1d*~IT1**-1E9*EA*1E-9*HP*UP*1~SAC*A****5~TXI*ST*1*2~TDS*-1~CTT*9~SE*8*1~"))
	f.Add([]byte("ST*856*1~BSN*00*S*20261126*1430*0001~HL*1*1*S~HL*2*3*O~HL*3*2*T~MAN*GM*00012345678901234567~HL**9*I~LIN**UP*1~SN1*1*-1*EA~SE*9*1~"))
	f.Fuzz(func(t *testing.T, text []byte) { mapAllX12(t, text) })
}
