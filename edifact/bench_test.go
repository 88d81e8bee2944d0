package edifact

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/edigw/edigw/edi"
)

// benchInterchange is n bytes or a little more of INVOIC, a line feed behind each
// segment; values and segments vary as partners' do.
func benchInterchange(n int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("Schraube Mutter Scheibe Werk Hafen Blech verzinkt M8 40 DIN912 A2 schwarz Palette Karton lang und mit Kopf 12,5 x St Satz 4+2 Dichtung Ring 10er")
	text := func() string {
		var t []string
		for range 1 + random.IntN(4) {
			t = append(t, words[random.IntN(len(words))])
		}
		return strings.Join(t, " ")
	}
	number := func(max int) string { return strconv.Itoa(random.IntN(max)) }
	amount := func() string { return fmt.Sprintf("%d.%02d", random.IntN(1<<random.IntN(14)), random.IntN(100)) }
	w := newWriter(Envelope{Sender: edi.Party{ID: "4000001000005", Qualifier: "14"}, Recipient: edi.Party{ID: "4000002000004", Qualifier: "14"},
		Prepared: prepared, Reference: "REF0001"})
	w.LineEnd = "\n"
	w.unb()
	for i := 1; len(w.out) < n; i++ {
		w.Message(strconv.Itoa(i), invoic)
		w.Segment("BGM", E("380"), E(number(1e9)), E("9"))
		w.Segment("DTM", E("137", fmt.Sprintf("202611%02d", 1+random.IntN(30)), "102"))
		for range random.IntN(3) {
			w.Segment("RFF", E("ON", number(1e7)))
		}
		w.Segment("NAD", E("SU"), E("4000001000005", "", "9"), E(), E(text()), E(text()+" 1"), E("Hamburg"), E(), E("20457"), E("DE"))
		w.Segment("NAD", E("BY"), E("4000002000004", "", "9"))
		w.Segment("CUX", E("2", "EUR", "4"))
		for line := range 5 + random.IntN(30) {
			w.Segment("LIN", E(strconv.Itoa(line+1)), E(), E("40000"+number(1e8), "EN"))
			if random.IntN(3) > 0 {
				w.Segment("PIA", E("1"), E(number(1<<random.IntN(20)), "SA"))
			}
			w.Segment("IMD", E("F"), E(), E("", "", "", text()))
			w.Segment("QTY", E("47", number(1<<random.IntN(10)), "PCE"))
			w.Segment("MOA", E("203", amount()))
			w.Segment("PRI", E("AAA", amount()))
			if random.IntN(4) == 0 {
				w.Segment("FTX", E("AAI"), E(), E(), E(text()))
			}
			w.Segment("TAX", E("7"), E("VAT"), E(), E(), E("", "", "", "19"), E("S"))
		}
		w.Segment("UNS", E("S"))
		w.Segment("MOA", E("77", amount()))
		w.EndMessage()
	}
	whole, err := w.Close()
	if err != nil {
		panic(err)
	}
	return whole
}

func BenchmarkSplit(b *testing.B) {
	text := benchInterchange(8 << 20)
	p := edi.Bytes(text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (Reader{}).Split(p, 0); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkScan is the whole pass: segments, counts, references, characters, the
// digest of each message and that of the content.
func BenchmarkScan(b *testing.B) { benchmarkScan(b, nil) }

// BenchmarkScanVisit hands out the messages besides.
func BenchmarkScanVisit(b *testing.B) {
	benchmarkScan(b, func(int, *edi.Body) error { return nil })
}

func benchmarkScan(b *testing.B, visit func(int, *edi.Body) error) {
	text := benchInterchange(8 << 20)
	p := edi.Bytes(text)
	ic, err := Reader{}.Split(p, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if err := (Reader{}).Scan(p, ic, visit); err != nil {
			b.Fatal(err)
		}
	}
	if len(ic.Errors)+len(ic.MessageErrors) > 0 {
		b.Fatal(findings(ic))
	}
}

// BenchmarkRatios runs Scan, Split and the plain loop that records every
// delimiter's offset in reused blocks of 32 KB in turns, and reports how many
// times as fast as the loop the first two are: median of the rounds, and best.
func BenchmarkRatios(b *testing.B) {
	text := benchInterchange(4 << 20)
	p := edi.Bytes(text)
	ic, err := Reader{}.Split(p, 0)
	if err != nil {
		b.Fatal(err)
	}
	marks := make([]uint32, 0, 32<<10)
	round := []func() error{
		func() error { return Reader{}.Scan(p, ic, nil) },
		func() error { _, err := Reader{}.Split(p, 0); return err },
		func() error {
			for at := 0; at < len(text); at += 32 << 10 {
				marks = marks[:0]
				for i, c := range text[at:min(at+32<<10, len(text))] {
					switch c {
					case '+', ':', '\'', '?':
						marks = append(marks, uint32(i))
					}
				}
			}
			return nil
		},
	}
	took := make([][]float64, len(round))
	for b.Loop() {
		for i, f := range round {
			start := time.Now()
			if err := f(); err != nil {
				b.Fatal(err)
			}
			took[i] = append(took[i], float64(time.Since(start)))
		}
	}
	for i, name := range []string{"scan", "split"} {
		ratio := make([]float64, len(took[i]))
		for k := range ratio {
			ratio[k] = took[2][k] / took[i][k]
		}
		slices.Sort(ratio)
		b.ReportMetric(ratio[len(ratio)/2], name+"/loop")
		b.ReportMetric(slices.Min(took[2])/slices.Min(took[i]), "best-"+name+"/loop")
		b.ReportMetric(float64(len(text))*1e3/slices.Min(took[i]), name+"-MB/s")
	}
	b.ReportMetric(float64(len(text))*1e3/slices.Min(took[2]), "loop-MB/s")
}

// BenchmarkScanSmall is one INVOIC by itself.
func BenchmarkScanSmall(b *testing.B) {
	text := benchInterchange(100)
	p := edi.Bytes(text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		ic, err := Reader{}.Split(p, 0)
		if err != nil {
			b.Fatal(err)
		}
		if err := (Reader{}).Scan(p, ic, nil); err != nil {
			b.Fatal(err)
		}
	}
}
