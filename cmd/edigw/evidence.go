package main

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
)

// evidenceCommand exports all that is kept of one message.
type evidenceCommand struct {
	named
	File string `short:"o" required:"" placeholder:"FILE" help:"The zip to write; it must not be there yet."`
	connection
}

// Run writes the zip beside its place, checks every digest in it, and moves it there:
// FILE is whole or not there.
func (c *evidenceCommand) Run(a *app) (err error) {
	if _, err := os.Lstat(c.File); err == nil {
		return c.there()
	}
	if c.File == "-" {
		return usage("evidence is checked before it appears, so it goes into a file, not to standard output")
	}
	if _, err := placeOf(c.File); err != nil {
		return err
	}
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	resp, err := api.do(a, http.MethodGet, c.path()+"/evidence", nil, "", nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	f, err := os.CreateTemp(filepath.Dir(c.File), ".evidence-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	size, err := io.Copy(f, resp.Body)
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("the evidence broke off: %w; ask for it again", err), f.Close())
	}
	found, err := checkEvidence(f, size)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := c.appear(f.Name()); err != nil {
		return err
	}
	for _, g := range found.Gaps {
		a.progress("not in it: %s", printable(g))
	}
	a.progress("%s: %s, every digest is right", c.File, plural(len(found.Files), "file"))
	_, err = fmt.Fprintf(a.stdout, "%x  manifest.json\n", found.sum)
	return err
}

func (c *evidenceCommand) there() error {
	return usage("%s is there already: evidence is not written over", c.File)
}

// appear gives the zip its name, unless something has got that name meanwhile.
func (c *evidenceCommand) appear(written string) error {
	err := os.Link(written, c.File)
	if err == nil {
		return os.Remove(written)
	}
	if _, err := os.Lstat(c.File); err == nil {
		return c.there()
	}
	return os.Rename(written, c.File) // a file system without links
}

// evidenceFound is what a zip says of itself.
type evidenceFound struct {
	Files []struct {
		Name   string `json:"name"`
		SHA256 string `json:"sha256"`
	} `json:"files"`
	Gaps []string `json:"gaps"`
	sum  [32]byte // of the manifest
}

// checkEvidence holds every file against the manifest.
func checkEvidence(r io.ReaderAt, size int64) (found evidenceFound, err error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return found, fmt.Errorf("the evidence broke off: %w; ask for it again", err)
	}
	read := func(name string, to io.Writer) error {
		f, err := z.Open(name)
		if err != nil {
			return fmt.Errorf("the evidence has no %s: %w", name, err)
		}
		_, err = io.Copy(to, f)
		return errors.Join(err, f.Close())
	}
	var text limited
	if err := read("manifest.json", &text); err != nil {
		return found, err
	}
	if err := json.Unmarshal(text.b, &found); err != nil {
		return found, fmt.Errorf("manifest.json: %w", err)
	}
	found.sum = sha256.Sum256(text.b)
	for _, f := range found.Files {
		digest := sha256.New()
		if err := read(f.Name, digest); err != nil {
			return found, err
		}
		if got := fmt.Sprintf("%x", digest.Sum(nil)); got != f.SHA256 {
			return found, fmt.Errorf("%s has the digest %s, the manifest says %s: it was changed on the way", f.Name, got, f.SHA256)
		}
	}
	return found, nil
}

// limited keeps what is written to it, up to 64 MiB: a manifest names each document.
type limited struct{ b []byte }

// Write appends, until there is too much.
func (l *limited) Write(b []byte) (int, error) {
	if len(l.b)+len(b) > 64<<20 {
		return 0, errors.New("it is larger than 64 MiB")
	}
	l.b = append(l.b, b...)
	return len(b), nil
}
