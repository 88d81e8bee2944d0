package main

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// x12Partner sends X12 to a gateway that runs in this process.
type x12Partner struct {
	*gatewayUnderTest
	token string
}

// x12Answer is what it is told. acknowledgement has no envelope, whose numbers
// and times are ours.
type x12Answer struct {
	Status          int
	Verdict         string
	Acknowledgement []string
}

func newX12Partner(t *testing.T) *x12Partner {
	t.Helper()
	p := &x12Partner{gatewayUnderTest: serveGateway(t)}
	p.set("")
	p.token = strings.TrimSpace(p.must(nil, "partners", "token", "cedar-mill", "--label", "test", "--expires", "1h").out)
	return p
}

// set applies the partners of the demonstration, of which cedar-mill is the last,
// with settings of its own.
func (p *x12Partner) set(settings string) {
	p.t.Helper()
	yaml := read(p.t, "demo/partners.yaml") + settings
	if r := edigw(p.t, yaml, []string{"EDIGW_DATA_DIR=" + p.dir}, "partners", "apply", "-f", "-"); r.code != 0 {
		p.t.Fatalf("exit %d: %s", r.code, r.stderr)
	}
}

func (p *x12Partner) post(text string) (answer x12Answer, body []byte) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.at.Ingress+"/in/cedar-mill", strings.NewReader(text))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	if body, err = io.ReadAll(resp.Body); err != nil {
		p.t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		p.t.Fatal(err)
	}
	told, err := acknowledgement(body)
	if err != nil {
		p.t.Fatalf("%v: %s", err, body)
	}
	told = slices.DeleteFunc(told, func(s string) bool {
		tag, _, _ := strings.Cut(s, "*")
		return slices.Contains([]string{"ISA", "GS", "GE", "IEA"}, tag)
	})
	return x12Answer{resp.StatusCode, resp.Header.Get("Edigw-Verdict"), told}, body
}

// tells holds an answer against what it has to be, and gives its body.
func (p *x12Partner) tells(t *testing.T, text string, status int, verdict string, told ...string) []byte {
	t.Helper()
	got, body := p.post(text)
	if d := cmp.Diff(x12Answer{status, verdict, told}, got); d != "" {
		t.Errorf("(-want +got)\n%s%s", d, body)
	}
	return body
}

// posted lists the documents of the partner: class, number, lines and amount.
func (p *x12Partner) posted(t *testing.T) (list []string) {
	t.Helper()
	var page struct{ Items []document }
	p.must(&page, "documents", "list", "--partner", "cedar-mill", "-o", "json")
	for _, d := range page.Items {
		list = append(list, strings.TrimSpace(strings.Join([]string{d.Class, d.Number, plural(d.Lines, "line"), d.Amount, d.Currency}, " ")))
	}
	slices.Sort(list)
	return list
}

func TestX12OverHTTP(t *testing.T) {
	p := newX12Partner(t)
	invoice, despatch, faulty := read(t, "../../docs/examples/invoice.x12"), read(t, "../../docs/examples/despatch.x12"), read(t, "../../docs/examples/invoice-faulty.x12")
	changed := strings.Replace(invoice, "IT1*1*120", "IT1*1*130", 1)
	const (
		ta1      = "TA1*000000041*261128*0914*A*000"
		accepted = "AK9*A*1*1*1"
	)
	sound := []string{"ST*997*0001", "AK1*IN*41", "AK2*810*0001", "AK5*A", accepted, "SE*6*0001"}
	var first []byte
	t.Run("an 810 whose ISA14 is 1 is answered by TA1 and 997", func(t *testing.T) {
		first = p.tells(t, invoice, 201, "first", append([]string{ta1}, sound...)...)
	})
	t.Run("an 856 whose ISA14 is 0 is answered by a 997 alone, of its version", func(t *testing.T) {
		p.tells(t, despatch, 201, "first", "ST*997*0001", "AK1*SH*42*005010", "AK2*856*0001", "AK5*A", accepted, "SE*6*0001")
	})
	t.Run("a repeat gets the first answer byte for byte", func(t *testing.T) {
		if again := p.tells(t, invoice, 200, "duplicate", append([]string{ta1}, sound...)...); !bytes.Equal(again, first) {
			t.Errorf("got\n%s\nwant\n%s", again, first)
		}
	})
	t.Run("other content under a known ISA13 is a drift, and no 997 speaks of it", func(t *testing.T) {
		body := p.tells(t, changed, 422, "drift")
		if !bytes.Contains(body, []byte("/payload-drift")) {
			t.Errorf("%s", body)
		}
		p.tells(t, changed, 422, "drift")
	})
	t.Run("other line ends are other bytes, with the same content", func(t *testing.T) {
		p.tells(t, strings.ReplaceAll(despatch, "~\n", "~"), 422, "drift")
	})
	t.Run("a set with a wrong count refuses the interchange, and the 997 says which it was", func(t *testing.T) {
		p.tells(t, faulty, 422, "first",
			"ST*997*0001", "AK1*IN*43", "AK2*810*0001", "AK5*R", "AK2*810*0002", "AK5*R*4", "AK9*R*2*2*0", "SE*8*0001")
	})
	t.Run("mended, it may come under the same ISA13", func(t *testing.T) {
		p.tells(t, strings.Replace(faulty, "SE*20*0002", "SE*19*0002", 1), 201, "correction",
			"ST*997*0001", "AK1*IN*43", "AK2*810*0001", "AK5*A", "AK2*810*0002", "AK5*A", "AK9*A*2*2*2", "SE*8*0001")
	})
	t.Run("each stands in the tables once", func(t *testing.T) {
		want := []string{"despatch SH-41 2 lines", "invoice INV-41 2 lines 1981.60 USD", "invoice INV-43 2 lines 1981.60 USD", "invoice INV-44 2 lines 1981.60 USD"}
		if d := cmp.Diff(want, p.posted(t)); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	})
	t.Run("an interchange whose trailer names another is told by a TA1 alone", func(t *testing.T) {
		p.tells(t, strings.NewReplacer("000000041*1*P", "000000044*0*P", "INV-41", "INV-45").Replace(invoice), 422, "first", "TA1*000000044*261128*0914*R*001")
	})
	t.Run("a 997 and a TA1 of theirs are never answered", func(t *testing.T) {
		theirs := strings.Replace(invoice[:strings.Index(invoice, "GS*")], "000000041*1*P", "000000045*1*P", 1) + "TA1*000000001*261128*0914*A*000~IEA*0*000000045~"
		p.tells(t, theirs, 201, "first")
	})
}

func TestX12SettingsOverHTTP(t *testing.T) {
	invoice, faulty := read(t, "../../docs/examples/invoice.x12"), read(t, "../../docs/examples/invoice-faulty.x12")
	t.Run("acceptance: message posts the sound set, and AK9 says P", func(t *testing.T) {
		p := newX12Partner(t)
		p.set("acceptance: message\nta1: always\n")
		p.tells(t, faulty, 201, "first", "TA1*000000043*261128*0914*A*000",
			"ST*997*0001", "AK1*IN*43", "AK2*810*0001", "AK5*A", "AK2*810*0002", "AK5*R*4", "AK9*P*2*2*1", "SE*8*0001")
		if d := cmp.Diff([]string{"invoice INV-43 2 lines 1981.60 USD"}, p.posted(t)); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	})
	t.Run("functional_acknowledgement: 999, and no TA1 though it is asked for", func(t *testing.T) {
		p := newX12Partner(t)
		p.set("functional_acknowledgement: 999\nta1: never\n")
		p.tells(t, invoice, 201, "first", "ST*999*0001*005010X231A1", "AK1*IN*41*004010", "AK2*810*0001", "IK5*A", "AK9*A*1*1*1", "SE*6*0001")
	})
	t.Run("drift_acknowledgement: reject tells a drift by TA1 R 025", func(t *testing.T) {
		p := newX12Partner(t)
		p.set("drift_acknowledgement: reject\n")
		p.post(invoice)
		p.tells(t, strings.Replace(invoice, "IT1*1*120", "IT1*1*130", 1), 422, "drift", "TA1*000000041*261128*0914*R*025")
	})
	t.Run("on_drift: hold takes a drift with 202", func(t *testing.T) {
		p := newX12Partner(t)
		p.set("on_drift: hold\n")
		p.post(invoice)
		p.tells(t, strings.Replace(invoice, "IT1*1*120", "IT1*1*130", 1), 202, "drift")
	})
	t.Run("reading.structure: refuse names the segment and element by AK3 and AK4", func(t *testing.T) {
		p := newX12Partner(t)
		p.set("reading: {structure: refuse}\n")
		p.tells(t, strings.NewReplacer("*1*P*>", "*0*P*>", "BIG*20261127*INV-41*", "BIG*20261127**").Replace(invoice), 422, "first",
			"ST*997*0001", "AK1*IN*41", "AK2*810*0001", "AK3*BIG*2**8", "AK4*2*76*1", "AK5*R*5", "AK9*R*1*1*0", "SE*8*0001")
	})
	t.Run("a set of a type that is not in types is refused", func(t *testing.T) {
		p := newX12Partner(t)
		p.tells(t, strings.NewReplacer("ST*810", "ST*850", "GS*IN", "GS*PO", "*1*P*>", "*0*P*>").Replace(invoice), 422, "first",
			"ST*997*0001", "AK1*PO*41", "AK2*850*0001", "AK5*R*1", "AK9*R*1*1*0", "SE*6*0001")
	})
}
