package web

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/accounts"
)

// unpacked reads a zip into its files.
func unpacked(t *testing.T, text string) map[string]string {
	t.Helper()
	z, err := zip.NewReader(strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(b)
	}
	return files
}

func TestEvidence(t *testing.T) {
	r := filled(t)
	path := "/messages/acme/" + url.PathEscape(keyOf1) + "/evidence"
	text := invoice{reference: "1", number: "RE-1", total: "119.00"}.text()
	changed := strings.Replace(text, "119.00", "129.00", 1)
	audited := func(action string) []accounts.Entry {
		t.Helper()
		list, err := r.api.Accounts.ListAudit(t.Context(), accounts.AuditFilter{Action: action})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	a := r.ask(r.tokens[accounts.Operator], http.MethodGet, path, "")
	if a.status != http.StatusOK || a.header.Get("Content-Type") != "application/zip" {
		t.Fatalf("%d %v", a.status, a.header)
	}
	files := unpacked(t, a.body)
	var m manifest
	if err := json.Unmarshal([]byte(files["manifest.json"]), &m); err != nil {
		t.Fatal(err)
	}
	t.Run("every payload is in it as it came, the quarantined one too", func(t *testing.T) {
		for _, want := range []string{text, changed} {
			if got := files[fmt.Sprintf("payloads/%x.edi", sha(want))]; got != want {
				t.Errorf("%q", got)
			}
		}
	})
	t.Run("and what became of it, who was told what, and who did what", func(t *testing.T) {
		for name, want := range map[string]string{"message.json": `"state": "quarantined"`, "journal.jsonl": `"verdict":"duplicate"`, "drifts.json": `"kind": "interchange"`, "audit.json": "evidence.read"} {
			if !strings.Contains(files[name], want) {
				t.Errorf("%s has no %s:\n%s", name, want, files[name])
			}
		}
		receipts, invoices := 0, 0
		for name, text := range files {
			if strings.HasPrefix(name, "acknowledgements/") && strings.HasSuffix(name, ".receipt.json") && text == `{"outcome":"accepted"}` {
				receipts++
			}
			if strings.HasPrefix(name, "documents/") && strings.Contains(text, `"number": "RE-1"`) {
				invoices++
			}
		}
		if receipts != 1 || invoices != 1 {
			t.Errorf("%d receipts as sent, %d invoices", receipts, invoices)
		}
	})
	t.Run("the manifest has the digest of every file, and SHA256SUMS those that sha256sum checks", func(t *testing.T) {
		var sums []string
		for _, f := range m.Files {
			if got := fmt.Sprintf("%x", sha(files[f.Name])); got != f.SHA256 || int64(len(files[f.Name])) != f.Bytes {
				t.Errorf("%s has %s, the manifest says %s", f.Name, got, f.SHA256)
			}
			sums = append(sums, f.SHA256+"  "+f.Name)
			if !strings.Contains(files["README.txt"], f.Name) {
				t.Errorf("README.txt does not name %s", f.Name)
			}
		}
		sums = append(sums, fmt.Sprintf("%x  manifest.json", sha(files["manifest.json"])), "")
		if diff := cmp.Diff(strings.Join(sums, "\n"), files["SHA256SUMS"]); diff != "" {
			t.Error(diff)
		}
		if len(m.Files)+3 != len(files) {
			t.Errorf("%d files, %d in the manifest", len(files), len(m.Files))
		}
	})
	t.Run("the audit log has the digest of the manifest", func(t *testing.T) {
		list := audited("evidence.exported")
		if len(list) != 1 || list[0].Who != "p. operator" || !strings.Contains(string(list[0].Detail), fmt.Sprintf("%x", sha(files["manifest.json"]))) {
			t.Errorf("%+v", list)
		}
	})
	t.Run("a viewer gets none, and nothing is noted", func(t *testing.T) {
		before := len(audited("evidence.read"))
		if a := r.ask(r.tokens[accounts.Viewer], http.MethodGet, path, ""); a.status != http.StatusForbidden || len(audited("evidence.read")) != before {
			t.Errorf("%d", a.status)
		}
	})
	t.Run("a transport id has its own", func(t *testing.T) {
		files := unpacked(t, r.ask(r.tokens[accounts.Operator], http.MethodGet, "/messages/acme/"+url.PathEscape("http:north:m/1")+"/evidence", "").body)
		if !strings.Contains(files["manifest.json"], `"kind": "transport"`) || files[fmt.Sprintf("payloads/%x.edi", sha(text))] != text {
			t.Errorf("%s", files["manifest.json"])
		}
	})
	t.Run("what is no longer kept is told", func(t *testing.T) {
		for _, sql := range []string{`delete from payload`, `delete from acknowledgement`} {
			if _, err := r.pool.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		files := unpacked(t, r.ask(r.tokens[accounts.Operator], http.MethodGet, path, "").body)
		for _, want := range []string{"payload " + fmt.Sprintf("%x", sha(text)) + " is no longer kept", "acknowledgement "} {
			if !strings.Contains(files["README.txt"], want) {
				t.Errorf("%q is missing in\n%s", want, files["README.txt"])
			}
		}
	})
	t.Run("without the audit line there is no byte; without the last one no whole zip", func(t *testing.T) {
		record := r.api.Record
		defer func() { r.api.Record = record }()
		r.api.Record = func(context.Context, accounts.Entry) error { return errors.New("the disk is full") }
		if a := r.ask(r.tokens[accounts.Operator], http.MethodGet, path, ""); a.status != http.StatusInternalServerError {
			t.Errorf("%d", a.status)
		}
		r.api.Record = func(ctx context.Context, e accounts.Entry) error {
			if e.Action == "evidence.exported" {
				return errors.New("the disk is full")
			}
			return record(ctx, e)
		}
		var sent bytes.Buffer
		func() {
			defer func() {
				if recover() != http.ErrAbortHandler {
					t.Error("the connection was not cut")
				}
			}()
			sent.WriteString(r.ask(r.tokens[accounts.Operator], http.MethodGet, path, "").body)
		}()
		if _, err := zip.NewReader(bytes.NewReader(sent.Bytes()), int64(sent.Len())); err == nil {
			t.Error("a zip that the audit log does not know is whole")
		}
	})
}
