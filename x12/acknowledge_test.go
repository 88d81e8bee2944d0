package x12

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

// answered reads text, refuses what has errors, as the gateway does where sound sets
// of an interchange are accepted, and gives the answer, one segment a line.
func answered(t testing.TB, text string, change func(*edi.Interchange, *edi.Acknowledgement)) (kind string, lines []string) {
	t.Helper()
	ic := read(t, Reader{}, text)
	a := edi.Acknowledgement{Reference: "77", Prepared: time.Date(2026, 11, 30, 9, 5, 0, 0, time.UTC), Action: edi.ActionAcknowledged}
	if edi.Worst(ic.Errors) >= edi.SeverityError {
		a.Action = edi.ActionRejected
	}
	for _, e := range ic.Errors {
		if e.Severity >= edi.SeverityError {
			a.Errors = append(a.Errors, e)
		}
	}
	for i := range ic.Messages {
		if ic.Refused(i) {
			a.Messages = append(a.Messages, edi.MessageAnswer{Index: i, Action: edi.ActionRejected, Errors: ic.MessageErrors[i]})
		}
	}
	if change != nil {
		change(ic, &a)
	}
	kind, b, err := Acknowledge(ic, a)
	if err != nil {
		t.Fatal(err)
	}
	if b == nil {
		return kind, nil
	}
	own := read(t, Reader{}, string(b))
	if len(findings(own)) > 0 && !strings.Contains(findings(own)[0], "ta1-received") {
		t.Errorf("our answer has findings: %v\n%s", findings(own), b)
	}
	if own.Sender != ic.Recipient || own.Recipient != ic.Sender || own.ControlReference != "000000077" || own.Test != ic.Test || own.AckRequested {
		t.Errorf("our answer is from %v to %v, %s", own.Sender, own.Recipient, own.ControlReference)
	}
	term := string(rune(own.Delimiters.Terminator))
	return kind, strings.Split(strings.TrimSuffix(string(b), term), term)
}

// The inputs break one rule each; the answers were written by hand.
func TestAcknowledge(t *testing.T) {
	two := interchange(group("1", invoice("0001"), invoice("0002")), group("2", invoice("0003")))
	const (
		isa  = "ISA*00*          *00*          *ZZ*NORDHAFEN      *ZZ*TALQUIST       *261130*0905*U*00401*000000077*0*P*>"
		gs   = "GS*FA*NORDHAFEN*TALQUIST*20261130*0905*77*X*004010"
		ok1  = "AK1*IN*1 AK2*810*0001 AK5*A AK2*810*0002 AK5*A AK9*A*2*2*2"
		ok2  = "AK1*IN*2 AK2*810*0003 AK5*A AK9*A*1*1*1"
		ta1R = "TA1*000000116*261129*1015*R*"
	)
	// Of a 997 the sets are shown as the segments between ST and SE.
	for name, c := range map[string]struct {
		edits []string
		kind  string
		want  []string // TA1, or one line for each 997 in the group FA
	}{
		"all accepted":              {nil, "997", []string{ok1, ok2}},
		"TA1 asked for":             {[]string{"*0*P*", "*1*P*"}, "997", []string{"TA1*000000116*261129*1015*A*000", ok1, ok2}},
		"TA1 of a forgiven ISA":     {[]string{"*0*P*", "*1*P*", "*261129*1015*U", "*261129*2515*U"}, "997", []string{"TA1*000000116*261129*2515*E*015", ok1, ok2}},
		"SE01":                      {[]string{"SE*4*0002", "SE*5*0002"}, "997", []string{"AK1*IN*1 AK2*810*0001 AK5*A AK2*810*0002 AK5*R*4 AK9*P*2*2*1", ok2}},
		"SE02":                      {[]string{"SE*4*0003", "SE*4*0004"}, "997", []string{ok1, "AK1*IN*2 AK2*810*0003 AK5*R*3 AK9*R*1*1*0"}},
		"SE missing":                {[]string{"SE*4*0001~", ""}, "997", []string{"AK1*IN*1 AK2*810*0001 AK5*R*2 AK2*810*0002 AK5*A AK9*P*2*2*1", ok2}},
		"ST01 missing":              {[]string{"ST*810*0003", "ST**0003"}, "997", []string{ok1, "AK1*IN*2 AK2**0003 AK5*R*6 AK9*R*1*1*0"}},
		"ST02 missing":              {[]string{"ST*810*0003", "ST*810", "SE*4*0003", "SE*4"}, "997", []string{ok1, "AK1*IN*2 AK2*810 AK5*R*7 AK9*R*1*1*0"}},
		"ST02 twice":                {[]string{"ST*810*0002", "ST*810*0001", "SE*4*0002", "SE*4*0001"}, "997", []string{"AK1*IN*1 AK2*810*0001 AK5*A AK2*810*0001 AK5*R*23 AK9*P*2*2*1", ok2}},
		"a tag that is none":        {[]string{"TDS*", "TDSX*"}, "997", []string{"AK1*IN*1 AK2*810*0001 AK3*TDS*3**1 AK5*R*5 AK2*810*0002 AK5*A AK9*P*2*2*1", ok2}},
		"a NUL byte":                {[]string{"BIG*20261127*INV-1", "BIG*20261127*INV\x001"}, "997", []string{"AK1*IN*1 AK2*810*0001 AK3*BIG*2**8 AK4*2**6 AK5*R*5 AK2*810*0002 AK5*A AK9*P*2*2*1", ok2}},
		"GE01":                      {[]string{"GE*2*1", "GE*3*1"}, "997", []string{"AK1*IN*1 AK2*810*0001 AK5*R AK2*810*0002 AK5*R AK9*R*3*2*0*5", ok2}},
		"GE01 missing":              {[]string{"GE*2*1", "GE**1"}, "997", []string{"AK1*IN*1 AK2*810*0001 AK5*R AK2*810*0002 AK5*R AK9*R*2*2*0*5", ok2}},
		"GE02":                      {[]string{"GE*1*2", "GE*1*3"}, "997", []string{ok1, "AK1*IN*2 AK2*810*0003 AK5*R AK9*R*1*1*0*4"}},
		"GE missing":                {[]string{"GE*2*1~", ""}, "997", []string{"AK1*IN*1 AK2*810*0001 AK5*R AK2*810*0002 AK5*R AK9*R*2*2*0*3", ok2}},
		"GS06 twice":                {[]string{"1015*2*X", "1015*1*X", "GE*1*2", "GE*1*1"}, "997", []string{ok1, "AK1*IN*1 AK2*810*0003 AK5*R AK9*R*1*1*0*6"}},
		"GS06 no number":            {[]string{"1015*2*X", "1015*A*X", "GE*1*2", "GE*1*A"}, "997", []string{ok1, "AK1*IN*A AK2*810*0003 AK5*R AK9*R*1*1*0*6"}},
		"GS08 missing":              {[]string{"1015*2*X*004010", "1015*2*X"}, "997", []string{ok1, "AK1*IN*2 AK2*810*0003 AK5*R AK9*R*1*1*0*2"}},
		"GS01 missing":              {[]string{"GS*IN*TALQUIST*NORDHAFEN*20261129*1015*2", "GS**TALQUIST*NORDHAFEN*20261129*1015*2"}, "997", []string{ok1, "AK1**2 AK2*810*0003 AK5*R AK9*R*1*1*0*1"}},
		"IEA01":                     {[]string{"IEA*2", "IEA*3"}, "TA1", []string{ta1R + "021"}},
		"IEA02":                     {[]string{"IEA*2*000000116", "IEA*2*000000117"}, "TA1", []string{ta1R + "001"}},
		"IEA missing":               {[]string{"IEA*2*000000116~", ""}, "TA1", []string{ta1R + "023"}},
		"ISA12":                     {[]string{"*00401*", "*99999*"}, "TA1", []string{ta1R + "017"}},
		"ISA13 no number":           {[]string{"000000116*0", "00000011A*0", "2*000000116", "2*00000011A"}, "TA1", []string{"TA1*00000011A*261129*1015*R*018"}},
		"ISA15":                     {[]string{"*0*P*", "*0*X*"}, "TA1", []string{ta1R + "020"}},
		"a segment outside groups":  {[]string{"IEA*", "REF*A~IEA*"}, "TA1", []string{ta1R + "022"}},
		"a set outside groups":      {[]string{"IEA*", invoice("0009") + "IEA*"}, "TA1", []string{ta1R + "022"}},
		"a group FA beside another": {[]string{"GS*IN*TALQUIST*NORDHAFEN*20261129*1015*2", "GS*FA*TALQUIST*NORDHAFEN*20261129*1015*2", "ST*810*0003", "ST*997*0003"}, "997", []string{ok1}},
		"nothing but a 997":         {[]string{"GS*IN", "GS*FA", "GS*IN", "GS*FA", "ST*810", "ST*997", "ST*810", "ST*997", "ST*810", "ST*997", "*0*P*", "*1*P*"}, "", nil},
		"nothing but a broken 997":  {[]string{"GS*IN", "GS*FA", "GS*IN", "GS*FA", "ST*810", "ST*997", "ST*810", "ST*997", "ST*810", "ST*997", "IEA*2", "IEA*3"}, "", nil},
		"two versions":              {[]string{"1015*2*X*004010", "1015*2*X*003060"}, "997", []string{ok1, "GS*FA*NORDHAFEN*TALQUIST*261130*0905*100000077*X*003060", ok2}},
	} {
		t.Run(name, func(t *testing.T) {
			kind, lines := answered(t, edited(t, two, c.edits...), nil)
			if d := cmp.Diff(c.want, shown(lines, gs)); d != "" || kind != c.kind {
				t.Errorf("%s, want %s (-want +got):\n%s", kind, c.kind, d)
			}
			if len(lines) > 0 && !strings.Contains(name, "ISA") && lines[0] != isa {
				t.Errorf("got  %s\nwant %s", lines[0], isa)
			}
		})
	}
}

// shown leaves out the envelope and joins each 997; a group FA is shown where it is
// not gs.
func shown(lines []string, gs string) (out []string) {
	for i := 0; i < len(lines); i++ {
		switch tag, _, _ := strings.Cut(lines[i], "*"); tag {
		case "ISA", "GE", "IEA":
		case "GS":
			if lines[i] != gs {
				out = append(out, lines[i])
			}
		case "ST":
			from := i + 1
			for !strings.HasPrefix(lines[i], "SE*") {
				i++
			}
			out = append(out, strings.Join(lines[from:i], " "))
		default:
			out = append(out, lines[i])
		}
	}
	return out
}

func TestAcknowledgeSettings(t *testing.T) {
	version := func(v string) string { return edited(t, good(), "X*004010", "X*"+v, "*U*00401*", "*^*00501*") }
	for name, c := range map[string]struct {
		text   string
		change func(*edi.Interchange, *edi.Acknowledgement)
		kind   string
		want   []string
	}{
		"005010 is answered by its 997": {version("005010"), nil, "997",
			[]string{"GS*FA*NORDHAFEN*TALQUIST*20261130*0905*77*X*005010", "AK1*IN*116*005010 AK2*810*0001 AK5*A AK9*A*1*1*1"}},
		"an implementation guide by a 999": {version("005010X999A1"), nil, "999",
			[]string{"GS*FA*NORDHAFEN*TALQUIST*20261130*0905*77*X*005010X231A1", "AK1*IN*116*005010X999A1 AK2*810*0001 IK5*A AK9*A*1*1*1"}},
		"an industry's code is no guide": {version("005010VICS"), nil, "997",
			[]string{"GS*FA*NORDHAFEN*TALQUIST*20261130*0905*77*X*005010", "AK1*IN*116*005010VICS AK2*810*0001 AK5*A AK9*A*1*1*1"}},
		"999 by setting": {edited(t, version("005010"), "BIG*20261127*INV-1", "BIG*20261127*INV\x001"), func(_ *edi.Interchange, a *edi.Acknowledgement) { a.Form = "999" }, "999",
			[]string{"GS*FA*NORDHAFEN*TALQUIST*20261130*0905*77*X*005010X231A1", "AK1*IN*116*005010 AK2*810*0001 IK3*BIG*2**8 IK4*2**6 IK5*R*5 AK9*R*1*1*0"}},
		"997 by setting": {version("005010X999A1"), func(_ *edi.Interchange, a *edi.Acknowledgement) { a.Form = "997" }, "997",
			[]string{"GS*FA*NORDHAFEN*TALQUIST*20261130*0905*77*X*005010", "AK1*IN*116*005010X999A1 AK2*810*0001 AK5*A AK9*A*1*1*1"}},
		"TA1 always":                             {good(), func(_ *edi.Interchange, a *edi.Acknowledgement) { a.TA1 = "always" }, "997", []string{"TA1*000000116*261129*1015*A*000", "AK1*IN*116 AK2*810*0001 AK5*A AK9*A*1*1*1"}},
		"TA1 never, though asked for":            {edited(t, good(), "*0*P*", "*1*P*"), func(_ *edi.Interchange, a *edi.Acknowledgement) { a.TA1 = "never" }, "997", []string{"AK1*IN*116 AK2*810*0001 AK5*A AK9*A*1*1*1"}},
		"TA1 never, of a refused one its groups": {edited(t, good(), "IEA*1", "IEA*2"), func(_ *edi.Interchange, a *edi.Acknowledgement) { a.TA1 = "never" }, "997", []string{"AK1*IN*116 AK2*810*0001 AK5*R AK9*R*1*1*0"}},
		"received, not judged":                   {good(), func(_ *edi.Interchange, a *edi.Acknowledgement) { a.Action = edi.ActionReceived }, "TA1", []string{"TA1*000000116*261129*1015*A*000"}},
		"a duplicate": {good(), func(_ *edi.Interchange, a *edi.Acknowledgement) {
			a.Action, a.Errors = edi.ActionRejected, []*edi.Error{{Code: "duplicate-reference", Standard: "26", Severity: edi.SeverityError}}
		}, "TA1", []string{"TA1*000000116*261129*1015*R*025"}},
		"none of our addresses": {good(), func(_ *edi.Interchange, a *edi.Acknowledgement) {
			a.Action, a.Errors = edi.ActionRejected, []*edi.Error{{Code: "recipient-unknown", Standard: "7", Severity: edi.SeverityError}}
		}, "TA1", []string{"TA1*000000116*261129*1015*R*009"}},
		"sound sets refused with another": {interchange(group("1", invoice("0001"), invoice("0002"))), func(_ *edi.Interchange, a *edi.Acknowledgement) {
			a.Action = edi.ActionRejected
			a.Messages = []edi.MessageAnswer{{Index: 1, Action: edi.ActionRejected, Errors: []*edi.Error{{Code: "unsupported-message-type", Severity: edi.SeverityError, Location: edi.Location{Segment: 1, Tag: "ST", Element: 1}}}}}
		}, "997", []string{"AK1*IN*1 AK2*810*0001 AK5*R AK2*810*0002 AK5*R*1 AK9*R*2*2*0"}},
	} {
		t.Run(name, func(t *testing.T) {
			kind, lines := answered(t, c.text, c.change)
			if d := cmp.Diff(c.want, shown(lines, "GS*FA*NORDHAFEN*TALQUIST*20261130*0905*77*X*004010")); d != "" || kind != c.kind {
				t.Errorf("%s, want %s (-want +got):\n%s", kind, c.kind, d)
			}
		})
	}
}

func TestAcknowledgeDetails(t *testing.T) {
	at := func(segment int, tag string, e, c, r int) edi.Location {
		return edi.Location{Segment: segment, Tag: tag, Element: e, Component: c, Repetition: r}
	}
	errs := []*edi.Error{
		{Standard: "7", Severity: edi.SeverityError, Location: at(9, "CTT", 1, 1, 0)},
		{Standard: "5", Severity: edi.SeverityError, Location: at(3, "IT1", 2, 1, 1)},
		{Standard: "3", Severity: edi.SeverityError, Location: at(3, "TDS", 0, 0, 0)},
		{Standard: "7", Severity: edi.SeverityError, Location: at(3, "IT1", 3, 2, 2)},
		{Standard: "2", Severity: edi.SeverityError, Location: at(3, "IT1", 0, 0, 0)},
		{Standard: "4", Severity: edi.SeverityError, Location: at(10, "SE", 1, 1, 0)},
		{Standard: "8", Severity: edi.SeverityWarning, Location: at(2, "BIG", 1, 1, 0)},
	}
	_, lines := answered(t, good(), func(_ *edi.Interchange, a *edi.Acknowledgement) {
		a.Messages = []edi.MessageAnswer{{Index: 0, Action: edi.ActionRejected, Errors: errs}}
	})
	want := "AK1*IN*116 AK2*810*0001 AK3*IT1*3**2 AK3*IT1*3**8 AK4*2**5 AK4*3>2**7 AK3*TDS*3**3 AK3*CTT*9**8 AK4*1**7 AK5*R*5*4 AK9*R*1*1*0"
	if got := strings.Join(shown(lines, "GS*FA*NORDHAFEN*TALQUIST*20261130*0905*77*X*004010"), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	t.Run("an answer has a control number", func(t *testing.T) {
		if _, _, err := Acknowledge(read(t, Reader{}, good()), edi.Acknowledgement{Action: edi.ActionAcknowledged}); err == nil {
			t.Error("it has none")
		}
	})
	t.Run("of many sets only the refused ones are named", func(t *testing.T) {
		sets := make([]string, maxAnswers+1)
		for i := range sets {
			sets[i] = invoice(fmt.Sprintf("%04d", i+1))
		}
		_, lines := answered(t, edited(t, interchange(group("1", sets...)), "SE*4*0500", "SE*9*0500"), nil)
		want := []string{"AK1*IN*1 AK2*810*0500 AK5*R*4 AK9*P*1001*1001*1000"}
		if d := cmp.Diff(want, shown(lines, "GS*FA*NORDHAFEN*TALQUIST*20261130*0905*77*X*004010")); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
	t.Run("odd delimiters are the sender's own", func(t *testing.T) {
		text := strings.NewReplacer("*", "|", ">", "#", "~", "\n").Replace(good())
		_, lines := answered(t, text, nil)
		if !strings.HasPrefix(lines[0], "ISA|00|") || lines[2] != "ST|997|0001" {
			t.Errorf("%q", lines)
		}
	})
	t.Run("a terminator that is no ASCII is not", func(t *testing.T) {
		ic := read(t, Reader{}, strings.ReplaceAll(good(), "~", "\x85"))
		_, b, err := Acknowledge(ic, edi.Acknowledgement{Reference: "1", Action: edi.ActionAcknowledged})
		if err != nil || !strings.HasSuffix(string(b), "IEA*1*000000001~") {
			t.Errorf("%q, %v", b, err)
		}
	})
}
