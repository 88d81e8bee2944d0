package gateway_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"
	"testing"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/edifact"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/x12"
)

// x12Format is the format as the program wires it.
func x12Format() gateway.Format {
	reader := func(o gateway.Reading) x12.Reader {
		return x12.Reader{Tolerance: o.Tolerance, UnreliableMessageReferences: o.UnreliableMessageReferences}
	}
	return gateway.Format{
		Name:  "x12",
		Leads: x12.Leads,
		Split: func(p *edi.Payload, from int64, o gateway.Reading) (*edi.Interchange, error) {
			return reader(o).Split(p, from)
		},
		Scan: func(p *edi.Payload, ic *edi.Interchange, o gateway.Reading, visit func(int, *edi.Body) error) error {
			return reader(o).Scan(p, ic, visit)
		},
		Again: func(p *edi.Payload, ic *edi.Interchange, o gateway.Reading) func(int) (*edi.Body, error) {
			return reader(o).Again(p, ic)
		},
		Answers: func(p *edi.Payload, ic *edi.Interchange, o gateway.Reading, visit func(edi.Answer) error) error {
			return reader(o).Answers(p, ic, visit)
		},
		Acknowledge: x12.Acknowledge,
		Advise:      x12.Advise,
	}
}

// inX12 makes r one whose partners send X12: the tests of the outcome table are
// written once, with INVOIC, and hold for both.
func (r *rig) inX12() {
	r.x12 = true
	for id := range r.by {
		r.set(id, noAddress, func(*partners.Partner) {})
	}
}

// fresh is another rig of the same syntax.
func (r *rig) fresh(t *testing.T) *rig {
	other := newRig(t)
	if r.x12 {
		other.inX12()
	}
	return other
}

// text is a payload of interchange as r's partners send it: in X12 an 810 for each
// INVOIC, with the same number, amount, faults and line ends.
func (r *rig) text(payload string) string {
	if !r.x12 || !strings.HasPrefix(payload, "UNB") {
		return payload
	}
	r.t.Helper()
	p := edi.Bytes([]byte(payload))
	ic, err := edifact.Reader{}.Split(p, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	var sets strings.Builder
	n := 0
	err = edifact.Reader{}.Scan(p, ic, func(i int, b *edi.Body) error {
		number, amount, count := "", "", 7
		for _, s := range b.Segments {
			switch {
			case s.Is("BGM"):
				number = s.Get(2, 1)
			case s.Is("MOA") && s.Get(1, 1) == "77":
				amount = strings.Replace(s.Get(1, 2), ".", "", 1)
			case s.Is("UNT") && s.Get(1, 1) == "99":
				count = 99
			}
		}
		n++
		fmt.Fprintf(&sets, "ST*810*%04s~BIG*20261127*%s~N1*SU*ACME*UL*9520001000010~IT1*1*10*EA*10.00~TDS*%s~CTT*1~SE*%d*%04s~",
			ic.Messages[i].Reference, number, amount, count, ic.Messages[i].Reference)
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	number := controlNumber(ic.ControlReference)
	text := fmt.Sprintf("ISA*00*          *00*          *%-2s*%-15s*%-2s*%-15s*%s*%s*U*00401*%s*0*P*>~GS*IN*A*B*%s*%s*1*X*004010~%sGE*%d*1~IEA*1*%s~",
		ic.Sender.Qualifier, ic.Sender.ID, ic.Recipient.Qualifier, ic.Recipient.ID, ic.Date[2:], ic.Time, number, ic.Date, ic.Time, sets.String(), n, number)
	if strings.Contains(payload, "'\n") {
		text = strings.ReplaceAll(text, "~", "~\n")
	}
	return text
}

// controlNumber is an ISA13 for a reference of EDIFACT.
func controlNumber(ref string) string {
	h := fnv.New32a()
	h.Write([]byte(ref))
	return fmt.Sprintf("%09d", h.Sum32()%1e9)
}

// answerTo is the functional acknowledgement in a receipt, ISA and IEA left out.
func answerTo(t *testing.T, rec *gateway.Receipt) string {
	t.Helper()
	var item gateway.InterchangeReceipt
	if err := json.Unmarshal(rec.Items[0].JSON, &item); err != nil {
		t.Fatal(err)
	}
	if item.Acknowledgement == nil {
		return ""
	}
	segments := strings.Split(strings.TrimSuffix(item.Acknowledgement.Content, "~"), "~")
	return item.Acknowledgement.Type + ": " + strings.Join(segments[1:len(segments)-1], " ")
}

// What X12 is told beside what the outcome table says of both syntaxes.
func TestAnswersInX12(t *testing.T) {
	const ref = "REF1"
	number := controlNumber(ref)
	two := func(t *testing.T) (*rig, string) {
		r := newRig(t)
		r.inX12()
		one := r.text(interchange(ref, message{number: "R-1"}))
		from := strings.Index(one, "GS*")
		to := strings.Index(one, "IEA*")
		second := strings.NewReplacer("*1*X*", "*2*X*", "GE*1*1~", "GE*1*2~", "R-1", "R-2").Replace(one[from:to])
		return r, one[:to] + second + "IEA*2*" + number + "~"
	}
	const ak = "AK1*IN*%d AK2*810*0001 %s SE*%d*%04d"
	fa := func(sets ...string) string {
		return "997: GS*FA*B*A*20261129*1200*1*X*004010 " + strings.Join(sets, " ") + fmt.Sprintf(" GE*%d*1", len(sets))
	}
	set := func(n int, sets string, segments int) string {
		return fmt.Sprintf("ST*997*%04d "+ak, n, n, sets, segments, n)
	}
	t.Run("a group that is refused refuses no other", func(t *testing.T) {
		r, text := two(t)
		r.policy(func(p *partners.Policy) { p.Acceptance = "message" })
		rec := r.must("", strings.Replace(text, "GE*1*2~", "GE*1*3~", 1), gateway.First, gateway.ToldPartly, "I1b")
		if got, want := answerTo(t, rec), fa(set(1, "AK5*A AK9*A*1*1*1", 6), set(2, "AK5*R AK9*R*1*1*0*4", 6)); got != want || r.posted() != 1 {
			t.Errorf("%d posted, told\n%s\nwant\n%s", r.posted(), got, want)
		}
		rec = r.must("", text, gateway.Completion, gateway.ToldAccepted, "I10")
		if got, want := answerTo(t, rec), fa(set(1, "AK5*A AK9*A*1*1*1", 6), set(2, "AK5*A AK9*A*1*1*1", 6)); !strings.HasPrefix(got, "997") || strings.Count(got, "AK9*A") != 2 || r.posted() != 2 {
			t.Errorf("%d posted, told\n%s\nwant about\n%s", r.posted(), got, want)
		}
	})
	t.Run("with acceptance: interchange it refuses all, each told", func(t *testing.T) {
		r, text := two(t)
		rec := r.must("", strings.Replace(text, "GE*1*2~", "GE*1*3~", 1), gateway.First, gateway.ToldRejected, "I1b")
		if got, want := answerTo(t, rec), fa(set(1, "AK5*R AK9*R*1*1*0", 6), set(2, "AK5*R AK9*R*1*1*0*4", 6)); got != want || r.posted() != 0 {
			t.Errorf("%d posted, told\n%s\nwant\n%s", r.posted(), got, want)
		}
		if !strings.Contains(string(rec.Items[0].JSON), "ge-reference-mismatch") {
			t.Errorf("the receipt does not say why: %s", rec.Items[0].JSON)
		}
	})
	t.Run("text before it and EDIFACT beside it hide nothing", func(t *testing.T) {
		r, text := two(t)
		r.x12 = false
		r.set("acme", noAddress, func(p *partners.Partner) { p.Types = []string{"810", "INVOIC"} })
		rec, err := r.deliver("acme", "", "spooled by hand\n"+text+"\nend of file\n"+interchange("REF2", message{number: "R-9"})+"\n"+text)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(rec.Rules, ","); got != "I1b,I1b,I2" || r.posted() != 3 {
			t.Errorf("rows %s, %d posted, want three interchanges, of which the last repeats the first\n%s", got, r.posted(), rec.Rendered.Body)
		}
	})
	for name, c := range map[string]struct {
		edit   []string
		policy func(*partners.Policy)
		answer gateway.Answer
		want   string
	}{
		"a refused interchange is told by a TA1":  {[]string{"IEA*2", "IEA*3"}, nil, gateway.ToldRejected, "TA1: TA1*" + number + "*261129*1015*R*021"},
		"a stranger's address too":                {[]string{"9520002000019", "9520009000019"}, nil, gateway.ToldRejected, "TA1: TA1*" + number + "*261129*1015*R*009"},
		"with ta1: never by its groups":           {[]string{"IEA*2", "IEA*3"}, func(p *partners.Policy) { p.TA1 = "never" }, gateway.ToldRejected, fa(set(1, "AK5*R AK9*R*1*1*0", 6), set(2, "AK5*R AK9*R*1*1*0", 6))},
		"with receipt_action: 8 by a TA1 alone":   {nil, func(p *partners.Policy) { p.ReceiptAction = edi.ActionReceived }, gateway.ToldAccepted, "TA1: TA1*" + number + "*261129*1015*A*000"},
		"with acknowledge_by: none by nothing":    {nil, func(p *partners.Policy) { p.Acknowledge = "none" }, gateway.ToldAccepted, ""},
		"a type that is not taken is told by 997": {[]string{"810", "850"}, nil, gateway.ToldUnsupported, strings.ReplaceAll(fa(set(1, "AK5*R*1 AK9*R*1*1*0", 6), set(2, "AK5*R*1 AK9*R*1*1*0", 6)), "810", "850")},
	} {
		t.Run(name, func(t *testing.T) {
			r, text := two(t)
			if c.policy != nil {
				r.policy(c.policy)
			}
			for i := 0; i < len(c.edit); i += 2 {
				text = strings.ReplaceAll(text, c.edit[i], c.edit[i+1])
			}
			if got := answerTo(t, r.must("", text, gateway.First, c.answer, "I1b")); got != c.want {
				t.Errorf("told\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
