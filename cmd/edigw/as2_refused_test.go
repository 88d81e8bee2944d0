package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAS2RefusedIsReadByOpenSSL has openssl verify what was refused here: a message that
// is signed rightly, by a certificate that is not the partner's.
func TestAS2RefusedIsReadByOpenSSL(t *testing.T) {
	g := serveGateway(t)
	write := g.write
	ownCertificate(t, g.dir, "north")
	somebody, key := ownCertificate(t, g.dir, "somebody")
	g.must(nil, "partners", "apply", "-f", write("partners.yaml", `kind: Organisation
id: south
as2: {names: [SOUTH-AS2]}
---
kind: Partner
id: north-company
organisation: south
certificates: [{label: as2, file: north.pem, purposes: [as2_sign]}]
as2: {names: [NORTH-AS2]}
`))
	entity := "Content-Type: application/EDIFACT\r\n\r\n" + fmt.Sprintf(as2Invoice, 1, 1, 1)
	signed := filepath.Join(g.dir, "signed")
	if out, err := openssl(t, "cms", "-sign", "-binary", "-crlfeol", "-md", "sha256", "-signer", somebody, "-inkey", key, "-in", write("entity", entity), "-outform", "SMIME", "-out", signed); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	text, err := os.ReadFile(signed)
	if err != nil {
		t.Fatal(err)
	}
	header, body, ok := bytes.Cut(text, []byte("\r\n\r\n"))
	if !ok {
		t.Fatalf("no header in %q", text)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.at.Ingress+"/as2", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(header), "\r\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			r.Header.Set(name, value)
		}
	}
	for name, value := range map[string]string{"AS2-From": "NORTH-AS2", "AS2-To": "SOUTH-AS2", "Message-ID": "<m-1@north.example>", "User-Agent": "north/1", "Authorization": "Basic c2VjcmV0"} {
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	var list struct {
		Items []struct {
			ID      string `json:"delivery_id"`
			Outcome string `json:"outcome"`
		} `json:"items"`
	}
	page := g.must(nil, "messages", "list", "--partner", "north-company", "--verdict", "refused", "-o", "json").out
	if err := json.Unmarshal([]byte(page), &list); err != nil || len(list.Items) != 1 || list.Items[0].Outcome != "authentication-failed" {
		t.Fatalf("%v %s\n%s", err, page, g.log)
	}
	t.Run("with its header it is a message that openssl verifies, to the signed entity", func(t *testing.T) {
		whole := write("refused.eml", g.must(nil, "messages", "raw", "north-company", list.Items[0].ID, "--header").out)
		content := filepath.Join(g.dir, "content")
		if out, err := openssl(t, "cms", "-verify", "-binary", "-crlfeol", "-inform", "SMIME", "-in", whole, "-certfile", somebody, "-nointern", "-noverify", "-out", content); err != nil {
			t.Fatalf("%v %s", err, out)
		}
		if got, err := os.ReadFile(content); err != nil || string(got) != entity {
			t.Errorf("%v: %q", err, got)
		}
	})
	t.Run("who sent it with what stands there, and no credentials", func(t *testing.T) {
		text := g.must(nil, "messages", "raw", "north-company", list.Items[0].ID, "--header").out
		head, _, _ := strings.Cut(text, "\r\n\r\n")
		for _, want := range []string{"\r\nAS2-From: NORTH-AS2", "\r\nMessage-ID: <m-1@north.example>", "\r\nUser-Agent: north/1"} {
			if !strings.Contains(head, want) {
				t.Errorf("%q is not in %q", want, head)
			}
		}
		if strings.Contains(text, "c2VjcmV0") {
			t.Errorf("a credential is in %q", head)
		}
	})
	t.Run("without it it is the body, as before", func(t *testing.T) {
		if got := g.must(nil, "messages", "raw", "north-company", list.Items[0].ID).out; got != string(body) {
			t.Errorf("got %q", got)
		}
	})
}
