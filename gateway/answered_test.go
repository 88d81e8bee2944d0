package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
)

// answeringRig is one whose partner acme gets its acknowledgements in a folder and
// answers them; the reference is that of the first it got.
func answeringRig(t *testing.T, x12 bool) (r *rig, reference string) {
	t.Helper()
	r = newRig(t)
	if x12 {
		r.inX12()
	}
	r.set("acme", noAddress, func(p *partners.Partner) {
		p.Policy.Acknowledge = "folder"
		p.Types = append(p.Types, "CONTRL", "APERAK", "997", "824")
	})
	if _, err := r.deliver("acme", "", interchange("1", message{number: "R-1"})); err != nil {
		t.Fatal(err)
	}
	list := r.sent()
	if len(list) != 1 || list[0].Number == "" || x12 != (list[0].Group != "") {
		t.Fatalf("sent: %+v", list)
	}
	return r, list[0].Reference
}

func (r *rig) sent() []*outbox.Acknowledgement {
	r.t.Helper()
	list, err := outbox.Acknowledgements{Pool: r.Pool}.List(r.t.Context(), outbox.AcknowledgementFilter{Partner: "acme", Limit: 10})
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

// says is what is noted of the first acknowledgement: the latest, then each answer.
func (r *rig) says() []string {
	r.t.Helper()
	list := r.sent()
	a := list[len(list)-1]
	told := []string{strings.TrimSpace(a.AnsweredBy + " " + a.Acceptance)}
	for _, x := range a.Answers {
		line := x.Kind + " " + x.Acceptance + " " + x.Told.Level + " " + x.Told.Action
		for _, o := range x.Told.Objections {
			line += " " + o.List + ":" + o.Code
		}
		told = append(told, strings.TrimSpace(line))
	}
	return told
}

// answer sends what the partner answers, and gives the receipt.
func (r *rig) answer(payload string) string {
	r.t.Helper()
	receipt, err := r.deliver("acme", "", payload)
	if err != nil {
		r.t.Fatal(err)
	}
	if receipt.Answer != gateway.ToldAccepted {
		r.t.Fatalf("the answer is not taken: %s", receipt.Items[0].JSON)
	}
	return string(receipt.Items[0].JSON)
}

func inEDIFACT(ref, typ, segments string) string {
	return fmt.Sprintf("UNB+UNOC:3+9520001000010:14+9520002000019:14+261129:1020+%s'UNH+1+%s'%sUNT+%d+1'UNZ+1+%s'", ref, typ, segments, strings.Count(segments, "'")+2, ref)
}

// inGroup writes an X12 interchange of acme: a TA1 where there is one, and a
// transaction set where there is one.
func inGroup(ref int, ta1, functional, set, segments string) string {
	text := fmt.Sprintf("ISA*00*          *00*          *14*9520001000010  *14*9520002000019  *261129*1020*U*00401*%09d*0*P*>~%s", ref, ta1)
	groups := 0
	if set != "" {
		groups = 1
		text += fmt.Sprintf("GS*%s*ACME*NORD*20261129*1020*%d*X*004010~ST*%s*0001~%sSE*%d*0001~GE*1*%d~", functional, ref, set, segments, strings.Count(segments, "~")+2, ref)
	}
	return text + fmt.Sprintf("IEA*%d*%09d~", groups, ref)
}

func TestAnswersToWhatWeSent(t *testing.T) {
	contrl := func(ref, of, action string) string {
		return inEDIFACT(ref, "CONTRL:D:3:UN", "UCI+"+of+"+9520002000019:14+9520001000010:14+"+action+"'")
	}
	for name, c := range map[string]struct {
		x12  bool
		text func(reference string) string
		want []string
	}{
		"a CONTRL accepts our CONTRL": {false, func(n string) string { return contrl("71", n, "7") },
			[]string{"CONTRL accepted", "CONTRL accepted interchange 7"}},
		"a CONTRL rejects our CONTRL": {false, func(n string) string { return contrl("71", n, "4+18") },
			[]string{"CONTRL rejected", "CONTRL rejected interchange 4 0085:18"}},
		"a CONTRL with 8 judges nothing": {false, func(n string) string { return contrl("71", n, "8") },
			[]string{"CONTRL received", "CONTRL received interchange 8"}},
		"a CONTRL names the message in it": {false, func(n string) string {
			return inEDIFACT("71", "CONTRL:D:3:UN", "UCI+"+n+"+9520002000019:14+9520001000010:14+7'UCM+1+CONTRL:D:3:UN+4+12'")
		}, []string{"CONTRL rejected", "CONTRL rejected message 4 0085:12"}},
		"an APERAK names it as the message before": {false, func(n string) string {
			return inEDIFACT("71", "APERAK:D:96A:UN", "BGM+313+A-1+27'RFF+ACW:"+n+"'ERC+12'FTX+AAO+++who are you'")
		}, []string{"APERAK rejected", "APERAK rejected document 27 9321:12"}},
		"a TA1 accepts our ISA": {true, func(n string) string { return inGroup(71, fmt.Sprintf("TA1*%09s*261129*1015*A*000~", n), "", "", "") },
			[]string{"TA1 received", "TA1 received interchange A"}},
		"a TA1 rejects our ISA": {true, func(n string) string { return inGroup(71, fmt.Sprintf("TA1*%09s*261129*1015*R*009~", n), "", "", "") },
			[]string{"TA1 rejected", "TA1 rejected interchange R I18:009"}},
		"a 997 answers our 997": {true, func(n string) string {
			return inGroup(71, "", "FA", "997", "AK1*FA*"+n+"~AK2*997*0001~AK5*R*5~AK9*R*1*1*0~")
		},
			[]string{"997 rejected", "997 rejected message R 718:5"}},
		"an 824 answers our 997": {true, func(n string) string {
			return inGroup(71, "", "AG", "824", "BGN*00*8-1*20261129~OTI*TR*TN*7***20261129**"+n+"*0001*997~TED*024*bad~")
		}, []string{"824 rejected", "824 rejected message TR 647:024"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, n := answeringRig(t, c.x12)
			text := c.text(n)
			receipt := r.answer(text)
			if diff := cmp.Diff(c.want, r.says()); diff != "" {
				t.Errorf("(-want +got)\n%s\n%s", diff, receipt)
			}
			if strings.Contains(receipt, "answer-unmatched") {
				t.Errorf("it is unmatched: %s", receipt)
			}
			failed := 0
			if strings.Contains(c.want[0], "rejected") {
				failed = 1
			}
			told := `select count(*) from outbox where type = 'acknowledgement.failed'`
			if n := r.count(told); n != failed {
				t.Errorf("%d events, want %d", n, failed)
			}
			r.answer(text)
			if diff := cmp.Diff(c.want, r.says()); diff != "" {
				t.Errorf("a duplicate of the answer changes something (-want +got)\n%s", diff)
			}
			if n := r.count(told); n != failed {
				t.Errorf("%d events after its duplicate, want %d", n, failed)
			}
		})
	}
	t.Run("a later answer that contradicts stands first, and the earlier beside it", func(t *testing.T) {
		r, n := answeringRig(t, false)
		r.answer(contrl("71", n, "7"))
		r.answer(contrl("72", n, "4+18"))
		want := []string{"CONTRL rejected", "CONTRL rejected interchange 4 0085:18", "CONTRL accepted interchange 7"}
		if diff := cmp.Diff(want, r.says()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
	t.Run("8 and then 7 come to accepted, in whatever order", func(t *testing.T) {
		for _, order := range [][2]string{{"8", "7"}, {"7", "8"}} {
			r, n := answeringRig(t, false)
			r.answer(contrl("71", n, order[0]))
			r.answer(contrl("72", n, order[1]))
			if got := r.says()[0]; got != "CONTRL accepted" {
				t.Errorf("%v: %q", order, got)
			}
		}
	})
	t.Run("one that contradicts itself is not relied on, and told so", func(t *testing.T) {
		r, n := answeringRig(t, false)
		receipt := r.answer(inEDIFACT("71", "CONTRL:D:3:UN", "UCI+"+n+"+9520002000019:14+9520001000010:14+4'UCM+1+CONTRL:D:3:UN+7'"))
		if want := []string{"CONTRL unknown", "CONTRL unknown message 7"}; !cmp.Equal(want, r.says()) || !strings.Contains(receipt, "answer-contradicts-itself") {
			t.Errorf("%v %s", r.says(), receipt)
		}
	})
	t.Run("what answers nothing that was sent is a note", func(t *testing.T) {
		for _, c := range []struct {
			x12  bool
			text string
		}{
			{false, contrl("71", "4711", "4+18")},
			{false, contrl("71", "no number", "4+18")},
			{false, inEDIFACT("71", "APERAK:D:96A:UN", "BGM+313+A-1+27'DOC+380+1'ERC+12'")}, // an invoice of that number
			{true, inGroup(71, "TA1*000004711*261129*1015*R*009~", "", "", "")},
			{true, inGroup(71, "", "FA", "997", "AK1*IN*1~AK2*810*0001~AK5*R*5~AK9*R*1*1*0~")}, // an 810 of that number
			{true, inGroup(71, "", "AG", "824", "BGN*00*8-1*20261129~OTI*TR*TN*7***20261129**1*0001*810~TED*024*bad~")},
		} {
			r, _ := answeringRig(t, c.x12)
			if receipt := r.answer(c.text); !strings.Contains(receipt, `"severity":"note","code":"answer-unmatched"`) {
				t.Errorf("%s\n%s", c.text, receipt)
			}
			if diff := cmp.Diff([]string{""}, r.says()); diff != "" || r.count(`select count(*) from outbox where type = 'acknowledgement.failed'`) != 0 {
				t.Errorf("%s is noted: %s", c.text, diff)
			}
		}
	})
	t.Run("another partner cannot answer for it", func(t *testing.T) {
		r, n := answeringRig(t, false)
		r.set("bolt", noAddress, func(p *partners.Partner) { p.Types = append(p.Types, "CONTRL") })
		text := strings.Replace(contrl("71", n, "4+18"), "9520001000010", "9520001000027", 1)
		if _, err := r.deliver("bolt", "", text); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{""}, r.says()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a type that is not among the partner's is refused, and not noted", func(t *testing.T) {
		r, n := answeringRig(t, false)
		r.set("acme", noAddress, func(p *partners.Partner) { p.Types = []string{"INVOIC"} })
		if receipt, err := r.deliver("acme", "", contrl("71", n, "7")); err != nil || receipt.Answer != gateway.ToldUnsupported {
			t.Fatal(receipt, err)
		}
		if diff := cmp.Diff([]string{""}, r.says()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("of deferred work it is noted when it is done, once", func(t *testing.T) {
		r, n := answeringRig(t, false)
		r.deferring()
		if _, err := r.deliver("acme", "", contrl("71", n, "4+18")); err != nil {
			t.Fatal(err)
		}
		r.work()
		if want := []string{"CONTRL rejected", "CONTRL rejected interchange 4 0085:18"}; !cmp.Equal(want, r.says()) {
			t.Errorf("%v", r.says())
		}
		if n := r.count(`select count(*) from outbox where type = 'acknowledgement.failed'`); n != 1 {
			t.Errorf("%d events", n)
		}
	})
}
