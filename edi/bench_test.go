package edi

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// benchText is n bytes or a little more of INVOIC as partners send it: values
// and segments vary, a line feed stands behind each segment, elements have four
// bytes on average, about one value in 125 has a release character.
func benchText(n int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	words := strings.Fields("Schraube Mutter Scheibe Werk Hafen Blech verzinkt M8 40 DIN912 A2 schwarz Palette Karton lang und mit Kopf 12,5 x St Satz 4?+2 Dichtung Ring 10er")
	text := func() string {
		var t []string
		for range 1 + random.IntN(4) {
			t = append(t, words[random.IntN(len(words))])
		}
		return strings.Join(t, " ")
	}
	amount := func() string { return fmt.Sprintf("%d.%02d", random.IntN(1<<random.IntN(14)), random.IntN(100)) }
	b.WriteString("UNB+UNOC:3+4000001000005:14+4000002000004:14+261129:1015+REF0001'\n")
	messages := 0
	for b.Len() < n {
		messages++
		fmt.Fprintf(&b, "UNH+%d+INVOIC:D:96A:UN:EAN008'\nBGM+380+%d+9'\nDTM+137:202611%02d:102'\n", messages, random.IntN(1e9), 1+random.IntN(30))
		for range random.IntN(3) {
			fmt.Fprintf(&b, "RFF+ON:%d'\n", random.IntN(1e7))
		}
		fmt.Fprintf(&b, "NAD+SU+4000001000005::9++%s+%s 1+Hamburg++20457+DE'\nNAD+BY+4000002000004::9'\nCUX+2:EUR:4'\n", text(), text())
		for line := range 5 + random.IntN(30) {
			fmt.Fprintf(&b, "LIN+%d++40000%08d:EN'\n", line+1, random.IntN(1e8))
			if random.IntN(3) > 0 {
				fmt.Fprintf(&b, "PIA+1+%d:SA'\n", random.IntN(1<<random.IntN(20)))
			}
			fmt.Fprintf(&b, "IMD+F++:::%s'\nQTY+47:%d:PCE'\nMOA+203:%s'\nPRI+AAA:%s'\n", text(), random.IntN(1<<random.IntN(10)), amount(), amount())
			if random.IntN(4) == 0 {
				fmt.Fprintf(&b, "FTX+AAI+++%s'\n", text())
			}
			b.WriteString("TAX+7+VAT+++:::19+S'\n")
		}
		fmt.Fprintf(&b, "UNS+S'\nMOA+79:%s'\nMOA+125:%s'\nMOA+77:%s'\nUNT+137+%d'\n", amount(), amount(), amount(), messages)
	}
	fmt.Fprintf(&b, "UNZ+%d+REF0001'\n", messages)
	return b.Bytes()
}

// lexAll is the lexer alone: all segments and their delimiters, block by block.
func lexAll(text []byte) {
	l := NewLexer(defaults, nil)
	l.Window(text, 0)
	for l.Lex(blockSize) {
		l.Drop(len(l.Segments))
	}
}

// contentAll is the lexer with the content digest.
func contentAll(text []byte) {
	l := NewLexer(defaults, nil)
	c := NewContentDigest("edifact", nil)
	l.Window(text, 0)
	for more := true; more; {
		more = l.Lex(blockSize)
		for i := range l.Segments {
			c.Add(&l.Segments[i], false)
		}
		l.Drop(len(l.Segments))
	}
	c.Sum()
}

// offsetLoop is what the lexer is measured by: it records where each delimiter
// stands, in the plainest way, in reused blocks of 32 KB.
func offsetLoop(text []byte) {
	marks := make([]uint32, 0, blockSize)
	for at := 0; at < len(text); at += blockSize {
		marks = marks[:0]
		for i, c := range text[at:min(at+blockSize, len(text))] {
			switch c {
			case '+', ':', '\'', '?':
				marks = append(marks, uint32(i))
			}
		}
	}
}

func benchmark(b *testing.B, f func([]byte)) {
	text := benchText(8 << 20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		f(text)
	}
}

func BenchmarkLex(b *testing.B)        { benchmark(b, lexAll) }
func BenchmarkContent(b *testing.B)    { benchmark(b, contentAll) }
func BenchmarkOffsetLoop(b *testing.B) { benchmark(b, offsetLoop) }

// BenchmarkRatios runs the lexer, the lexer with digest and the offset loop in
// turns and reports how many times as fast as the loop the first two are, by
// the median of the pairs and by the best round of each: other load on the
// machine hits all alike.
func BenchmarkRatios(b *testing.B) {
	text := benchText(4 << 20)
	took := func(f func([]byte)) float64 {
		start := time.Now()
		f(text)
		return float64(time.Since(start))
	}
	var lex, content, loop, lexRatio, contentRatio []float64
	for b.Loop() {
		a, c, o := took(lexAll), took(contentAll), took(offsetLoop)
		lex, content, loop = append(lex, a), append(content, c), append(loop, o)
		lexRatio, contentRatio = append(lexRatio, o/a), append(contentRatio, o/c)
	}
	median := func(v []float64) float64 { slices.Sort(v); return v[len(v)/2] }
	b.ReportMetric(median(lexRatio), "lex/loop")
	b.ReportMetric(median(contentRatio), "content/loop")
	b.ReportMetric(slices.Min(loop)/slices.Min(lex), "best-lex/loop")
	b.ReportMetric(slices.Min(loop)/slices.Min(content), "best-content/loop")
	b.ReportMetric(float64(len(text))*1e3/slices.Min(loop), "loop-MB/s")
	b.ReportMetric(float64(len(text))*1e3/slices.Min(lex), "lex-MB/s")
}

// BenchmarkBody reads five values of every segment, as a mapping does.
func BenchmarkBody(b *testing.B) {
	text := benchText(1 << 20)
	b.SetBytes(int64(len(text)))
	body := NewBody(text, 0, 1, defaults, nil)
	for b.Loop() {
		n := 0
		for _, s := range body.Segments {
			n += len(s.RawValue(1, 1, 1)) + len(s.RawValue(1, 1, 2)) + len(s.RawValue(2, 1, 1)) + len(s.RawValue(3, 1, 1)) + len(s.RawValue(3, 1, 4))
		}
		if n == 0 {
			b.Fatal("no values")
		}
	}
}
