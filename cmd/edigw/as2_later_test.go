package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestAS2Later is two companies on one gateway: north sends, south acknowledges and wants
// its MDN by itself.
func TestAS2Later(t *testing.T) {
	g, must, direct := serveSecured(t)
	write := g.write
	must("partners", "apply", "-f", write("organisations.yaml", "kind: Organisation\nid: north\nas2: {names: [NORTH-AS2]}\n---\nkind: Organisation\nid: south\nas2: {names: [SOUTH-AS2]}\n"))
	for _, o := range []string{"north", "south"} {
		must(direct("keys", "create", o, "as2", "--for", "as2_sign,as2_decrypt", "--algorithm", "rsa-2048")...)
		write(o+".pem", must(direct("keys", "show", o, "as2")...).out)
	}
	at := g.at.Ingress + "/as2"
	must("partners", "apply", "-f", write("partners.yaml", fmt.Sprintf(`kind: Partner
id: south-company
organisation: north
identifiers: [{qualifier: "14", id: "4012345000009"}]
types: [CONTRL, INVOIC]
certificates: [{label: as2, file: south.pem, purposes: [as2_sign, as2_encrypt]}]
as2: {names: [SOUTH-AS2], signature_scheme: rsa-pss, mdn_hosts: [%q], send: {url: %[2]q}}
---
kind: Partner
id: north-company
organisation: south
identifiers: [{qualifier: "14", id: "5412345000013"}]
acknowledge_by: as2
certificates: [{label: as2, file: north.pem, purposes: [as2_sign, as2_encrypt]}]
as2: {names: [NORTH-AS2], signature_scheme: rsa-pss, send: {url: %[2]q, mdn_to: %[2]q}}
`, strings.TrimPrefix(g.at.Ingress, "http://"), at)))
	must(direct("as2", "send", "south-company", write("invoice.edi", fmt.Sprintf(as2Invoice, 1, 1, 1)), "--allow-targets", "127.0.0.1")...)

	type sent struct {
		Event, Type, State, Failure string
		SentAt                      *time.Time
	}
	left := func() (list []sent) {
		var page struct {
			Items []struct {
				Event   string     `json:"event_id"`
				Type    string     `json:"type"`
				State   string     `json:"state"`
				Failure string     `json:"failure"`
				SentAt  *time.Time `json:"sent_at"`
			} `json:"items"`
		}
		if err := json.Unmarshal([]byte(must("acknowledgements", "list", "--partner", "north-company", "-o", "json").out), &page); err != nil {
			t.Fatal(err)
		}
		for _, i := range page.Items {
			list = append(list, sent(i))
		}
		return list
	}
	until := func(t *testing.T, what string, is func([]sent) bool) []sent {
		t.Helper()
		for patience := 1200; ; patience-- {
			list := left()
			if is(list) {
				return list
			}
			if patience == 0 {
				t.Fatalf("%s: %+v\n%s", what, list, g.log)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	t.Run("the sheet says where we want the MDN, and how we sign", func(t *testing.T) {
		if sheet := must("partners", "sheet", "north-company").out; !strings.Contains(sheet, "signed with sha256, an RSA key by RSASSA-PSS; ") || !strings.Contains(sheet, "signed MDN, which we want at "+at) {
			t.Error(sheet)
		}
	})
	var id string
	t.Run("an acknowledgement is sent when its MDN has come, over another connection", func(t *testing.T) {
		list := until(t, "it is not done", func(l []sent) bool { return len(l) == 1 && l[0].State == "done" })
		if id = list[0].Event; list[0].Type != "CONTRL" || list[0].SentAt == nil || list[0].Failure != "" || !strings.Contains(g.log.String(), `msg="an MDN came" partner=north-company`) {
			t.Errorf("%+v\n%s", list, g.log)
		}
	})
	t.Run("an operator has it sent again, and its MDN comes again", func(t *testing.T) {
		before := strings.Count(g.log.String(), `msg="an MDN came" partner=north-company`)
		must("acknowledgements", "resend", "north-company", id, "--note", "they lost it")
		until(t, "no MDN came again", func(l []sent) bool {
			return strings.Count(g.log.String(), `msg="an MDN came" partner=north-company`) > before && l[0].State == "done"
		})
		if r := must("messages", "list", "--partner", "south-company", "-o", "json"); strings.Count(r.out, `"verdict": "first"`) != 1 {
			t.Errorf("the partner has it twice: %s", r.out)
		}
	})
	t.Run("an MDN of ours is sent again by its id, too", func(t *testing.T) {
		r := must("acknowledgements", "list", "--partner", "south-company", "-o", "json")
		var page struct {
			Items []struct {
				Event string `json:"event_id"`
				Type  string `json:"type"`
			} `json:"items"`
		}
		if err := json.Unmarshal([]byte(r.out), &page); err != nil || len(page.Items) == 0 || page.Items[0].Type != "MDN" {
			t.Fatalf("%v %s", err, r.out)
		}
		must("acknowledgements", "resend", "south-company", page.Items[0].Event, "--note", "they lost it")
	})
}
