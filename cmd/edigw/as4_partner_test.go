package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestAS4ToAPartner is two companies on one gateway, with the keys of eDelivery 2.0: north
// sends with what the gateway has of it, south receives.
func TestAS4ToAPartner(t *testing.T) {
	g, must, direct := serveSecured(t)
	write := g.write
	must("partners", "apply", "-f", write("organisations.yaml", "kind: Organisation\nid: north\n---\nkind: Organisation\nid: south\n"))
	for _, o := range []string{"north", "south"} {
		must(direct("keys", "create", o, "sign", "--for", "as4_sign", "--algorithm", "ed25519")...)
		must(direct("keys", "create", o, "open", "--for", "as4_decrypt", "--algorithm", "x25519")...)
		for _, label := range []string{"sign", "open"} {
			write(o+"-"+label+".pem", must(direct("keys", "show", o, label)...).out)
		}
	}
	company := func(other, organisation, further string) string {
		return fmt.Sprintf(`kind: Partner
id: %[1]s-company
organisation: %[2]s
identifiers: [{qualifier: "14", id: %[4]q}]
types: [CONTRL, INVOIC]
certificates:
  - {label: sign, file: %[1]s-sign.pem, purposes: [as4_sign]}
  - {label: open, file: %[1]s-open.pem, purposes: [as4_encrypt]}
as4:
  profile: edelivery-2.0
  from: {id: %[1]s-ap, type: urn:t}
  to: {id: %[2]s-ap, type: urn:t}
  services: [{service: urn:s, action: A}]
%[3]s`, other, organisation, further, map[string]string{"north": "5412345000013", "south": "4012345000009"}[other])
	}
	apply := func(further string) {
		t.Helper()
		must("partners", "apply", "-f", write("partners.yaml", company("south", "north", further)+"---\n"+company("north", "south", "")))
	}
	apply("  url: \"" + g.at.Ingress + "/as4\"\n  reply: {service: urn:s, action: A}\n")
	send := func(args ...string) ran {
		t.Helper()
		return g.do(direct(append([]string{"as4", "send", "--partner", "south-company", "--allow-targets", "127.0.0.1", "--retries", "0"}, args...)...)...)
	}
	invoice := write("invoice.edi", fmt.Sprintf(as2Invoice, 1, 1, 1))
	t.Run("a ping says whether all is as agreed, and delivers nothing", func(t *testing.T) {
		if r := send("--ping", "--message-id", "p-1@north"); r.code != 0 || !strings.Contains(r.out, "p-1@north was received: a receipt that names 2 references, signed by ") {
			t.Errorf("%d %s %s", r.code, r.out, r.stderr)
		}
		if r := must("messages", "list", "--partner", "north-company", "-o", "json"); strings.Contains(r.out, `"first"`) {
			t.Errorf("got %s", r.out)
		}
	})
	t.Run("what is sent is signed and encrypted with the keys that were made, and received once", func(t *testing.T) {
		for range 2 {
			if r := send("--message-id", "m-1@north", invoice); r.code != 0 || !strings.Contains(r.out, "a receipt that names 3 references") {
				t.Fatalf("%d %s %s\n%s", r.code, r.out, r.stderr, g.log)
			}
		}
		if r := must("documents", "list", "--partner", "north-company", "-o", "json"); strings.Count(r.out, `"number": "AS2-1"`) != 1 {
			t.Errorf("got %s", r.out)
		}
	})
	t.Run("what is not as agreed is told by the partner", func(t *testing.T) {
		if r := send("--service", "urn:other", "--action", "B", invoice); r.code != exitFailed || !strings.Contains(r.out, "EBMS:0010") {
			t.Errorf("%d %s %s", r.code, r.out, r.stderr)
		}
	})
	t.Run("who has it sent stands in the audit log", func(t *testing.T) {
		var n int
		if err := connected(t, g.url).QueryRow(t.Context(), `select count(*) from audit_entry where action = 'as4.sent' and partner_id = 'south-company' and detail->>'message_id' = 'm-1@north'`).Scan(&n); err != nil || n != 2 {
			t.Errorf("%d lines, %v", n, err)
		}
	})
	t.Run("an address inside our own network has to be allowed", func(t *testing.T) {
		if r := g.do(direct("as4", "send", "--partner", "south-company", "--ping")...); r.code != exitFailed || !strings.Contains(r.stderr, "--allow-targets") {
			t.Errorf("%d %s %s", r.code, r.out, r.stderr)
		}
	})
	t.Run("what the partner's settings have is not said twice", func(t *testing.T) {
		for _, flag := range []string{"--from", "--from-type", "--from-role", "--to", "--to-type", "--to-role", "--agreement", "--key", "--key-password-file", "--token-reference", "--encrypt-to", "--signer"} {
			if r := send(flag, "x", "--ping"); r.code != exitUsage || !strings.Contains(r.stderr, flag+" is for a message without --partner") {
				t.Errorf("%s: %d %s", flag, r.code, r.stderr)
			}
		}
		for _, args := range [][]string{{"--no-compress", "--ping"}, {"--service", "s", invoice}, {"--service-type", "t", invoice}, {}} {
			if r := send(args...); r.code != exitUsage {
				t.Errorf("%v: %d %s", args, r.code, r.stderr)
			}
		}
	})
	t.Run("what is missing is named", func(t *testing.T) {
		if r := g.do(direct("as4", "send", "--partner", "nobody", "--ping")...); r.code != exitFailed || !strings.Contains(r.stderr, "there is no partner nobody") {
			t.Errorf("%d %s", r.code, r.stderr)
		}
		apply("")
		if r := send("--ping"); r.code != exitFailed || !strings.Contains(r.stderr, "partner south-company has no as4.url to send to") {
			t.Errorf("%d %s", r.code, r.stderr)
		}
		if r := send("--url", g.at.Ingress+"/as4", invoice); r.code != exitFailed || !strings.Contains(r.stderr, "has no as4.reply to send it as") {
			t.Errorf("%d %s", r.code, r.stderr)
		}
		if r := send("--url", g.at.Ingress+"/as4", "--ping"); r.code != 0 {
			t.Errorf("%d %s %s", r.code, r.out, r.stderr)
		}
	})
}
