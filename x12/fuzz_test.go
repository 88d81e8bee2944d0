package x12

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

func seeds(f *testing.F) {
	f.Helper()
	for _, s := range []string{
		good(), short(), interchange(), wrap(good(), 80),
		strings.NewReplacer("*", "\x1d", ">", "\x1f", "~", "\x1c").Replace(good()),
		strings.ReplaceAll(good(), "~", "\r\n"), strings.ReplaceAll(good(), "~", "\x85"), strings.ReplaceAll(good(), "~", "…"),
		header00501 + "TA1*000000099*261128*0900*A*000~ISX*?~GS*PI*A*B*20261129*1015*1*X*005010X210~ST*275*0001*005010X210~BIN*5*~SE*~~BDS*ASC*3*~~~~NTE**a^b:c~SE*5*0001~GE*1*1~IEA*1*116~",
		"\xEF\xBB\xBFspool\n" + good() + cutIEA(good()) + good() + "UNB+UNOC:3+A",
	} {
		f.Add([]byte(s))
	}
}

// FuzzSplit: bounds lie in the payload and go forward, whatever it holds.
func FuzzSplit(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		p := edi.Bytes(raw)
		at := int64(0)
		for n := 0; ; n++ {
			ic, err := Reader{}.Split(p, at)
			if ic == nil {
				if err == nil || edi.AsError(err) != nil {
					t.Fatalf("no interchange and error %v", err)
				}
				return
			}
			if ic.Length <= 0 || ic.Offset < at || ic.Offset+ic.Length > p.Size() || n > len(raw) {
				t.Fatalf("bounds %d+%d after %d of %d", ic.Offset, ic.Length, at, p.Size())
			}
			at = ic.Offset + ic.Length
		}
	})
}

// FuzzScan: a text that is accepted and written again says the same, reading a set
// again gives what Scan gave, and whatever can be identified can be answered.
func FuzzScan(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		p := edi.Bytes(raw)
		ic, err := Reader{}.Split(p, 0)
		if err != nil {
			return
		}
		var bodies []string
		err = Reader{}.Scan(p, ic, func(i int, b *edi.Body) error {
			bodies = append(bodies, values(b))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		a := edi.Acknowledgement{Reference: "1", Prepared: time.Unix(1e9, 0).UTC(), Action: edi.ActionAcknowledged}
		if edi.Worst(ic.Errors) >= edi.SeverityError {
			a.Action, a.Errors = edi.ActionRejected, ic.Errors
		}
		for i := range ic.Messages {
			if ic.Refused(i) {
				a.Messages = append(a.Messages, edi.MessageAnswer{Index: i, Action: edi.ActionRejected, Errors: ic.MessageErrors[i]})
			}
		}
		_, answer, err := Acknowledge(ic, a)
		if err != nil {
			t.Fatalf("no answer: %v", err)
		}
		if answer != nil {
			own, err := Reader{}.Split(edi.Bytes(answer), 0)
			if err != nil || own.Length != int64(len(answer)) {
				t.Fatalf("our answer cannot be read: %v\n%q", err, answer)
			}
			if err := (Reader{}).Scan(edi.Bytes(answer), own, nil); err != nil || edi.Worst(own.Errors) >= edi.SeverityError {
				t.Fatalf("our answer is not sound: %v %v\n%q", err, own.Errors, answer)
			}
		}
		for i := range ic.Messages {
			if ic.Refused(i) {
				return
			}
		}
		again := Reader{}.Again(p, ic)
		for i := range bodies {
			b, err := again(i)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(bodies[i], values(b)); d != "" {
				t.Fatalf("set %d, read again:\n%s", i, d)
			}
		}
	})
}
