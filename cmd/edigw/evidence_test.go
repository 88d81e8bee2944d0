package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestEvidence(t *testing.T) {
	const master = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	g := serveGateway(t, "--master-key", master)
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
	t.Run("without a key it says that it is not signed, and how it would be", func(t *testing.T) {
		dir := unzip(t, file)
		if readme := read(t, filepath.Join(dir, "README.txt")); !strings.Contains(readme, "Nobody has signed it: north has no key for it; `edigw keys create north evidence --for evidence_sign` makes one.") {
			t.Errorf("%s", readme)
		}
	})
	for _, algorithm := range []string{"rsa-2048", "ec-p256", "ed25519"} {
		t.Run("the commands of its README verify it, signed by "+algorithm, func(t *testing.T) {
			g.must(nil, "keys", "create", "north", algorithm, "--for", "evidence_sign", "--sign-from", "now", "--algorithm", algorithm, "--master-key", master, "--database-url", g.url)
			file := filepath.Join(t.TempDir(), "evidence.zip")
			g.must(nil, "evidence", "acme", key, "-o", file)
			dir := unzip(t, file)
			commands := 0
			for line := range strings.Lines(read(t, filepath.Join(dir, "README.txt"))) {
				if line = strings.TrimSpace(line); !strings.HasPrefix(line, "openssl ") && !strings.HasPrefix(line, "sha256sum ") {
					continue
				}
				commands++
				sh := exec.Command("sh", "-c", line)
				sh.Dir = dir
				if out, err := sh.CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", line, err, out)
				}
			}
			if commands != 6 {
				t.Errorf("%d commands", commands)
			}
			if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte("{}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			verify := "openssl dgst -sha256 -verify signer.key -signature manifest.sig manifest.json"
			if algorithm == "ed25519" {
				verify = "openssl pkeyutl -verify -pubin -inkey signer.key -rawin -in manifest.json -sigfile manifest.sig"
			}
			sh := exec.Command("sh", "-c", verify)
			sh.Dir = dir
			if out, err := sh.CombinedOutput(); err == nil {
				t.Errorf("another manifest is signed too: %s", out)
			}
		})
	}
	t.Run("it is not written over", func(t *testing.T) {
		if r := g.do("evidence", "acme", key, "-o", file); r.code != exitUsage || !strings.Contains(r.stderr, "is there already") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
	t.Run("nor is what came to stand there while it was fetched", func(t *testing.T) {
		t.Chdir(t.TempDir())
		for name, text := range map[string]string{"new": "new", "e.zip": "of another"} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c := evidenceCommand{File: "e.zip"}
		if err := c.appear("new"); err == nil || !strings.Contains(err.Error(), "is there already") || read(t, "e.zip") != "of another" {
			t.Errorf("%v, %q", err, read(t, "e.zip"))
		}
	})
	t.Run("a word for standard output or a format is no file", func(t *testing.T) {
		t.Chdir(t.TempDir())
		for name, want := range map[string]string{"-": "not to standard output", "json": "is the name of a format"} {
			if r := edigw(t, "", []string{"EDIGW_API=http://127.0.0.1:1", "EDIGW_TOKEN=t"}, "evidence", "acme", key, "-o", name); r.code != exitUsage || !strings.Contains(r.stderr, want) {
				t.Errorf("exit %d: %s", r.code, r.stderr)
			}
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

// unzip unpacks a zip into a folder.
func unzip(t *testing.T, file string) string {
	t.Helper()
	z, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := errors.Join(os.CopyFS(dir, z), z.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}
