package gateway_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
)

// groupsAnswered is a rig whose partner got one interchange of ours that answers three
// groups: two of them, of one version, in a group with two sets, the third in one of its
// own. first and second are their GS06.
func groupsAnswered(t *testing.T) (r *rig, first, second string) {
	t.Helper()
	r = newRig(t)
	r.inX12()
	r.set("acme", noAddress, func(p *partners.Partner) {
		p.Policy.Acknowledge = "folder"
		p.Types = append(p.Types, "997", "999", "824")
	})
	text := r.text(interchange("1", message{number: "R-1"}))
	from, to := strings.Index(text, "GS*"), strings.Index(text, "IEA*")
	group, end := text[from:to], text[to:]
	again := func(number, reference, version string) string {
		fields := strings.Split(group, "~")
		gs := strings.Split(fields[0], "*")
		gs[6], gs[8] = reference, version
		fields[0] = strings.Join(gs, "*")
		for i, f := range fields {
			if strings.HasPrefix(f, "GE*") {
				fields[i] = "GE*1*" + reference
			}
		}
		return strings.ReplaceAll(strings.Join(fields, "~"), "R-1", number)
	}
	text = text[:from] + group + again("R-2", "902", "004010") + again("R-3", "903", "004030") + strings.Replace(end, "IEA*1", "IEA*3", 1)
	if _, err := r.deliver("acme", "", text); err != nil {
		t.Fatal(err)
	}
	list := r.sent()
	if len(list) != 1 {
		t.Fatalf("%d acknowledgements: %s", len(list), text)
	}
	var groups []outbox.SentGroup
	if err := r.Pool.QueryRow(t.Context(), `select groups from functional_acknowledgement`).Scan(&groups); err != nil {
		t.Fatal(err)
	}
	second = "1" + strings.Repeat("0", 8-len(list[0].Reference)) + list[0].Reference
	want := []outbox.SentGroup{{Reference: list[0].Reference, Form: "997", Sets: 2}, {Reference: second, Form: "997", Sets: 1}}
	if diff := cmp.Diff(want, groups); diff != "" {
		t.Fatalf("groups noted (-want +got):\n%s", diff)
	}
	return r, list[0].Reference, second
}

func TestAnswersToPartsOfWhatWeSent(t *testing.T) {
	const accepted, one = "AK9*A*2*2*2~", "AK9*A*1*1*1~"
	set := func(n, action string) string { return "AK2*997*" + n + "~AK5*" + action + "~" }
	for _, c := range []struct {
		name    string
		answers func(first, second string) []string // segments of a 997 each, in an interchange of its own
		want    string                              // of the whole
	}{
		{"the second set is rejected", func(first, _ string) []string {
			return []string{"AK1*FA*" + first + "~" + set("0001", "A") + set("0002", "R*5") + "AK9*P*2*2*1~"}
		}, "997 rejected"},
		{"only the set that is rejected is named", func(first, _ string) []string {
			return []string{"AK1*FA*" + first + "~" + set("0002", "R*5") + "AK9*P*2*2*1~"}
		}, "997 rejected"},
		{"one set is named as accepted, and the group in part", func(first, _ string) []string {
			return []string{"AK1*FA*" + first + "~" + set("0001", "A") + "AK9*P*2*2*1~"}
		}, "997 partly accepted"},
		{"the group alone is told", func(first, _ string) []string { return []string{"AK1*FA*" + first + "~" + accepted} }, "997 accepted"},
		{"the second group is rejected by its set", func(_, second string) []string {
			return []string{"AK1*FA*" + second + "~" + set("0001", "R*5") + "AK9*R*1*1*0~"}
		}, "997 rejected"},
		{"the first group is rejected, the second accepted later", func(first, second string) []string {
			return []string{"AK1*FA*" + first + "~AK9*R*2*2*0~", "AK1*FA*" + second + "~" + set("0001", "A") + one}
		}, "997 rejected"},
		{"what was rejected is accepted after all", func(first, second string) []string {
			return []string{"AK1*FA*" + first + "~AK9*R*2*2*0~", "AK1*FA*" + second + "~" + one, "AK1*FA*" + first + "~" + accepted}
		}, "997 accepted"},
		{"what was accepted is rejected after all", func(first, second string) []string {
			return []string{"AK1*FA*" + first + "~" + accepted, "AK1*FA*" + second + "~" + one, "AK1*FA*" + second + "~AK9*R*1*1*0~"}
		}, "997 rejected"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, first, second := groupsAnswered(t)
			for i, segments := range c.answers(first, second) {
				if receipt := r.answer(inGroup(71+i, "", "FA", "997", segments)); strings.Contains(receipt, "answer-unmatched") {
					t.Errorf("it is unmatched: %s", receipt)
				}
			}
			if got := r.says()[0]; got != c.want {
				t.Errorf("%q, want %q: %q", got, c.want, r.says())
			}
		})
	}
	for name, text := range map[string]func(first, second string) string{
		"a set that is not among ours": func(first, _ string) string {
			return inGroup(71, "", "FA", "997", "AK1*FA*"+first+"~"+set("0007", "R*5")+"AK9*R*1*1*0~")
		},
		"a set of another kind": func(first, _ string) string {
			return inGroup(71, "", "FA", "997", "AK1*FA*"+first+"~AK2*999*0001~AK5*R*5~AK9*R*1*1*0~")
		},
		"a group of that number with another digit before": func(_, second string) string {
			return inGroup(71, "", "FA", "997", "AK1*FA*2"+second[1:]+"~AK9*R*1*1*0~")
		},
		"an 824 of a set that is not among ours": func(first, _ string) string {
			return inGroup(71, "", "AG", "824", "BGN*00*8-1*20261129~OTI*TR*TN*7***20261129**"+first+"*0003*997~TED*024*bad~")
		},
	} {
		t.Run(name+" is no answer", func(t *testing.T) {
			r, first, second := groupsAnswered(t)
			if receipt := r.answer(text(first, second)); !strings.Contains(receipt, "answer-unmatched") || r.says()[0] != "" {
				t.Errorf("%q %s", r.says(), receipt)
			}
		})
	}
	t.Run("a 999 answers a set as a 997 does", func(t *testing.T) {
		r, first, _ := groupsAnswered(t)
		r.answer(inGroup(71, "", "FA", "999", "AK1*FA*"+first+"*004010~AK2*997*0002*004010~IK3*AK1*2**8~IK4*1*143*7*XX~IK5*R*5~AK9*P*2*2*1~"))
		if want := []string{"999 rejected", "999 rejected message R 620:8 621:7 618:5"}; !cmp.Equal(want, r.says()) {
			t.Error(cmp.Diff(want, r.says()))
		}
	})
	t.Run("an 824 of one set rejects the whole", func(t *testing.T) {
		r, first, _ := groupsAnswered(t)
		r.answer(inGroup(71, "", "FA", "997", "AK1*FA*"+first+"~"+accepted))
		r.answer(inGroup(72, "", "AG", "824", "BGN*00*8-1*20261129~OTI*TR*TN*7***20261129**"+first+"*0002*997~TED*024*bad~"))
		if got := r.says()[0]; got != "824 rejected" {
			t.Errorf("%q", r.says())
		}
	})
	t.Run("a TA1 that does not reject takes no other word's place, one that does is overtaken", func(t *testing.T) {
		r, first, second := groupsAnswered(t)
		ta1 := func(ref int, action, note string) {
			r.answer(inGroup(ref, "TA1*"+strings.Repeat("0", 9-len(first))+first+"*261129*1015*"+action+"*"+note+"~", "", "", ""))
		}
		ta1(71, "A", "000")
		if got := r.says()[0]; got != "TA1 received" {
			t.Errorf("%q", got)
		}
		r.answer(inGroup(72, "", "FA", "997", "AK1*FA*"+first+"~AK9*R*2*2*0~"))
		ta1(73, "A", "000")
		if got := r.says()[0]; got != "997 rejected" {
			t.Errorf("%q", r.says())
		}
		ta1(74, "R", "009")
		r.answer(inGroup(75, "", "FA", "997", "AK1*FA*"+first+"~"+accepted))
		r.answer(inGroup(76, "", "FA", "997", "AK1*FA*"+second+"~"+one))
		if got := r.says()[0]; got != "997 accepted" {
			t.Errorf("after it was sent again: %q", r.says())
		}
	})
	t.Run("an answer that comes late is to the one that it names", func(t *testing.T) {
		r, n := answeringRig(t, true)
		if _, err := r.deliver("acme", "", interchange("2", message{number: "R-2"})); err != nil { // sent on, under other numbers
			t.Fatal(err)
		}
		later := r.sent()[0]
		r.answer(inGroup(71, "", "FA", "997", "AK1*FA*"+later.Reference+"~"+one))
		r.answer(inGroup(72, "", "FA", "997", "AK1*FA*"+n+"~AK2*997*0001~AK5*R*5~AK9*R*1*1*0~"))
		list := r.sent()
		if list[0].Acceptance != "accepted" || list[1].Acceptance != "rejected" || list[1].Reference != n {
			t.Errorf("%+v %+v", list[0], list[1])
		}
	})
}

func TestAnswersToAcknowledgementsOfEarlierVersions(t *testing.T) {
	r, n := answeringRig(t, true)
	if _, err := r.Pool.Exec(t.Context(), `update functional_acknowledgement set groups = null`); err != nil {
		t.Fatal(err)
	}
	r.answer(inGroup(71, "", "FA", "997", "AK1*FA*"+n+"~AK2*997*0001~AK5*R*5~AK9*R*1*1*0~"))
	if want := []string{"997 rejected", "997 rejected message R 718:5"}; !cmp.Equal(want, r.says()) {
		t.Error(cmp.Diff(want, r.says()))
	}
}
