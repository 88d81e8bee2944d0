package main

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEvidence(t *testing.T) {
	g := serveGateway(t)
	g.must(nil, "partners", "apply", "-f", "testdata/partners.yaml")
	g.must(nil, "ingest", "testdata/invoice.edi", "--partner", "acme")
	file := filepath.Join(t.TempDir(), "evidence.zip")
	t.Run("it is written whole, and its digests are right", func(t *testing.T) {
		r := g.must(nil, "evidence", "acme", key, "-o", file)
		if !strings.HasSuffix(r.out, "  manifest.json\n") || !strings.Contains(r.stderr, "every digest is right") {
			t.Errorf("%s%s", r.out, r.stderr)
		}
		z, err := zip.OpenReader(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("it is not written over", func(t *testing.T) {
		if r := g.do("evidence", "acme", key, "-o", file); r.code != exitUsage || !strings.Contains(r.stderr, "is there already") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
	t.Run("of what is not there nothing is written", func(t *testing.T) {
		dir := t.TempDir()
		r := g.do("evidence", "acme", "unb:nothing", "-o", filepath.Join(dir, "e.zip"))
		left, err := os.ReadDir(dir)
		if r.code != exitFailed || err != nil || len(left) != 0 {
			t.Errorf("exit %d: %s; %v", r.code, r.stderr, left)
		}
	})
	t.Run("a changed or cut zip is refused", func(t *testing.T) {
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := checkEvidence(bytes.NewReader(whole[:len(whole)/2]), int64(len(whole)/2)); err == nil || !strings.Contains(err.Error(), "broke off") {
			t.Errorf("cut: %v", err)
		}
		var changed bytes.Buffer
		w := zip.NewWriter(&changed)
		z, err := zip.NewReader(bytes.NewReader(whole), int64(len(whole)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			if f.Name == "audit.json" {
				to, err := w.Create(f.Name)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := to.Write([]byte("[]\n")); err != nil {
					t.Fatal(err)
				}
			} else if err := w.Copy(f); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := checkEvidence(bytes.NewReader(changed.Bytes()), int64(changed.Len())); err == nil || !strings.Contains(err.Error(), "audit.json has the digest") {
			t.Errorf("changed: %v", err)
		}
	})
}
