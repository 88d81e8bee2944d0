package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const as2Invoice = "UNB+UNOC:3+5412345000013:14+4012345000009:14+261129:1015+AS2%d'UNH+1+INVOIC:D:96A:UN:EAN008'BGM+380+AS2-%d+9'DTM+137:20261127:102'RFF+ON:BE-55012'" +
	"NAD+SU+5412345000013::9'NAD+BY+4012345000009::9'CUX+2:EUR:4'LIN+1++9520001000018:EN'QTY+47:10'MOA+203:100.00'PRI+AAA:10.00'UNS+S'MOA+77:119.00'MOA+79:100.00'TAX+7+VAT+++:::19+S'MOA+124:19.00'UNT+17+1'UNZ+1+AS2%d'"

// TestAS2 is two companies on one gateway: north sends, south receives.
func TestAS2(t *testing.T) {
	got := make(chan string, 10)
	mdns := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- r.Header.Get("AS2-From") + " " + string(body)
	}))
	t.Cleanup(mdns.Close)
	g, must, direct := serveSecured(t)
	write := g.write
	organisations := write("organisations.yaml", "kind: Organisation\nid: north\nas2: {names: [NORTH-AS2]}\n---\nkind: Organisation\nid: south\nas2: {names: [\"South \\\"Port\\\"\"]}\n")
	must("partners", "apply", "-f", organisations)
	doctor := func() string { return g.do("doctor", "--database-url", g.url).out }
	t.Run("doctor says what is missing", func(t *testing.T) {
		must("partners", "apply", "-f", write("early.yaml", "kind: Partner\nid: south-company\norganisation: north\nas2: {names: [X]}\n"))
		text := doctor()
		for _, want := range []string{"partner south-company has to sign, and has no certificate for as2_sign", "organisation north has no key for as2_sign", "organisation north has no key for as2_decrypt"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
	})
	for _, o := range []string{"north", "south"} {
		must(direct("keys", "create", o, "as2", "--for", "as2_sign,as2_decrypt", "--algorithm", "rsa-2048")...)
		write(o+".pem", must(direct("keys", "show", o, "as2")...).out)
	}
	configured := func(more string) string {
		return fmt.Sprintf(`kind: Partner
id: south-company
organisation: north
identifiers: [{qualifier: "14", id: "4012345000009"}]
types: [CONTRL, INVOIC]
certificates: [{label: as2, file: south.pem, purposes: [as2_sign, as2_encrypt]}]
as2:
  names: ["South \"Port\""]
  send: {url: "%s/as2", encryption: aes256-gcm, compression: true}
---
kind: Partner
id: north-company
organisation: south
identifiers: [{qualifier: "14", id: "5412345000013"}]
certificates: [{label: as2, file: north.pem, purposes: [as2_sign, as2_encrypt]}]
as2: {names: [NORTH-AS2], encryption: required, mdn_hosts: ["%s"], send: {url: "%s/as2"}%s}
`, g.at.Ingress, strings.TrimPrefix(mdns.URL, "http://"), g.at.Ingress, more)
	}
	must("partners", "apply", "-f", write("partners.yaml", configured("")))
	file := write("invoice.edi", fmt.Sprintf(as2Invoice, 1, 1, 1))

	if text := doctor(); !strings.Contains(text, "names, keys and certificates are there") {
		t.Errorf("doctor says\n%s", text)
	}
	t.Run("what is sent is received once, and the MDN is right each time", func(t *testing.T) {
		for range 2 {
			r := must(direct("as2", "send", "south-company", file, "--message-id", "m-1@north.example", "--allow-targets", "127.0.0.1")...)
			for _, want := range []string{"m-1@north.example", "MDN-sent-automatically; processed", "signed by   as2"} {
				if !strings.Contains(r.out, want) {
					t.Errorf("%q is not in\n%s", want, r.out)
				}
			}
		}
		r := must("documents", "list", "--partner", "north-company", "-o", "json")
		if strings.Count(r.out, `"number": "AS2-1"`) != 1 {
			t.Errorf("got %s", r.out)
		}
	})
	t.Run("its reception says which certificate it was signed by", func(t *testing.T) {
		text := must("messages", "show", "north-company", `as2:South "Port":m-1@north.example`).out
		if !strings.Contains(text, "SIGNED BY\n") || !strings.Contains(text, " as2\n") {
			t.Errorf("got\n%s", text)
		}
	})
	t.Run("a functional acknowledgement goes back over AS2, and its MDN is right", func(t *testing.T) {
		must("partners", "apply", "-f", write("partners.yaml", configured("")+"acknowledge_by: as2\n"))
		must(direct("as2", "send", "south-company", write("fourth.edi", fmt.Sprintf(as2Invoice, 4, 4, 4)), "--allow-targets", "127.0.0.1")...)
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
			came, left := must("messages", "list", "--partner", "south-company", "-o", "json").out, must("acknowledgements", "list", "--partner", "north-company", "-o", "json").out
			if strings.Contains(came, `"outcome": "accepted"`) && strings.Contains(left, `"by": "as2"`) && strings.Contains(left, `"sent_at"`) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("came %s\nleft %s\n%s", came, left, g.log)
			}
		}
		must("partners", "apply", "-f", write("partners.yaml", configured("")))
	})
	t.Run("what the partner would see is told before he is there", func(t *testing.T) {
		fifth := write("fifth.edi", fmt.Sprintf(as2Invoice, 5, 5, 5))
		text := must("partners", "test", "north-company", fifth).out
		for _, want := range []string{"over AS2 it would be answered processed", "encrypted with AES to our certificate", `signed by our key "as2"`, "its check is that of what was sent", "nothing of it was done"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
	})
	t.Run("the partner's sheet says where to send to, and under which names", func(t *testing.T) {
		sheet := must("partners", "sheet", "north-company").out
		for _, want := range []string{"| Send to | `POST " + g.at.Ingress + "/as2` |", "| Your names (AS2-From) | `NORTH-AS2` |", "| Our names (AS2-To) | `South \"Port\"` |",
			"| Signature | required, by one of your certificates for as2_sign below. SHA-256, SHA-384, SHA-512; still taken: SHA1. RSA (PKCS #1 v1.5 or PSS) with a key of 2048 bits or more, or ECDSA",
			"| Encryption | required, to our certificate \"as2\" below. AES-128, AES-192, AES-256 in CBC or GCM; still taken: 3DES.",
			"| MDN | ask for one, signed: it is signed by our certificate \"as2\" below", "| Received-content-MIC | of signed messages by the algorithm of your signature; of compressed ones that are not signed over what you compressed, with its MIME header (RFC 5402 §4.2) |",
			"| Asynchronous MDN | may go to 127.0.0.1:", "| We send to you | `POST " + g.at.Ingress + "/as2` as AS2-From `South \"Port\"` to AS2-To `NORTH-AS2`: signed with sha256; encrypted with aes128-cbc, the key by rsa-pkcs1; signed MDN |",
			"under the same Message-ID: after 5, 10, 20, 40 minutes and so on, for up to 30 days", "\"as2\" for as2_sign, as2_decrypt", "-----BEGIN CERTIFICATE-----", "No functional acknowledgements are sent."} {
			if !strings.Contains(sheet, want) {
				t.Errorf("%q is not in\n%s", want, sheet)
			}
		}
		for _, no := range []string{"/in/north-company", "Bearer"} {
			if strings.Contains(sheet, no) {
				t.Errorf("%q is in the sheet of one who has no token\n%s", no, sheet)
			}
		}
	})
	t.Run("what is refused is told, and ends with 1", func(t *testing.T) {
		must("partners", "apply", "-f", write("partners.yaml", configured(", old_algorithms: []")+"types: [DESADV]\n"))
		other := write("other.edi", fmt.Sprintf(as2Invoice, 2, 2, 2))
		r := g.do(direct("as2", "send", "south-company", other, "--allow-targets", "127.0.0.1", "-o", "json")...)
		if r.code != 1 || !strings.Contains(r.out, `"accepted": false`) || !strings.Contains(r.out, "unexpected-processing-error") || !strings.Contains(r.out, `"may_be_sent_again": false`) {
			t.Errorf("%d %s %s", r.code, r.out, r.stderr)
		}
	})
	t.Run("an address inside our own network has to be allowed", func(t *testing.T) {
		r := g.do(direct("as2", "send", "south-company", file)...)
		if r.code != 1 || !strings.Contains(r.stderr, "--allow-targets") {
			t.Errorf("%d %s %s", r.code, r.out, r.stderr)
		}
	})
	t.Run("an asynchronous MDN arrives, also of what is refused before it is received", func(t *testing.T) {
		for _, id := range []string{"later-1", "later-2"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.at.Ingress+"/as2", strings.NewReader(fmt.Sprintf(as2Invoice, 3, 3, 3)))
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range map[string]string{"AS2-From": "NORTH-AS2", "AS2-To": `"South \"Port\""`, "Message-ID": "<" + id + "@north.example>", "Content-Type": "application/EDIFACT",
				"Disposition-Notification-To": "x", "Receipt-Delivery-Option": mdns.URL + "/mdn", "Disposition-Notification-Options": "signed-receipt-protocol=optional, pkcs7-signature"} {
				r.Header.Set(name, value)
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusNoContent {
				t.Fatalf("%d, %v", resp.StatusCode, err)
			}
			select {
			case m := <-got:
				if !strings.HasPrefix(m, `"South \"Port\"" `) || !strings.Contains(m, "Original-Message-ID: <"+id+"@north.example>") || !strings.Contains(m, "processed/error: insufficient-message-security") {
					t.Errorf("got %s", m)
				}
			case <-time.After(time.Minute):
				t.Fatalf("no MDN came\n%s", g.log)
			}
		}
	})
	t.Run("an operator sees both", func(t *testing.T) {
		var list struct {
			Items []struct {
				Event     string `json:"event_id"`
				Type      string `json:"type"`
				By        string `json:"by"`
				MessageID string `json:"message_id"`
			} `json:"items"`
		}
		text := must("acknowledgements", "list", "--partner", "north-company", "-o", "json").out
		if err := json.Unmarshal([]byte(text), &list); err != nil || len(list.Items) != 3 {
			t.Fatalf("%v: %s", err, text)
		}
		if i := list.Items[0]; i.Type != "MDN" || i.By != "as2" || i.MessageID != `as2:South "Port":later-2@north.example` {
			t.Errorf("got %+v", i)
		}
	})
}
