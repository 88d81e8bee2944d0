package web

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/dedup"
)

// The evidence of a message is a zip: what came, what was answered, what became of
// it and who did what, each a file, and manifest.json with the SHA-256 of each. It is
// written as it is read, whatever its size. The manifest's own digest stands in the
// audit log, which only grows, so that a copy can be held against it later.
//
// Nothing in it needs edigw to be read or checked: README.txt has the commands.

// evidenceParts are what a message has evidence of, in the order of the zip.
var evidenceParts = []func(*evidence) error{
	(*evidence).message,
	(*evidence).payloads,
	(*evidence).signatures,
	(*evidence).journal, // with the receipts that it names
	(*evidence).sentAcknowledgements,
	(*evidence).documents,
	(*evidence).drifts,
	(*evidence).audit,
}

// evidence is a zip that is being written.
type evidence struct {
	*call
	key   *dedup.Key
	zip   *zip.Writer
	at    time.Time
	files []evidenceFile
	gaps  []string

	alerts []string // ids, of which the audit log may speak
	open   *evidenceWriter
}

// evidenceFile is a line of the manifest.
type evidenceFile struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	What   string `json:"what"`
}

// manifest lists all that is in the zip beside itself, its signature, README.txt and
// SHA256SUMS.
type manifest struct {
	Version   int            `json:"version"`
	Partner   string         `json:"partner"`
	MessageID string         `json:"message_id"`
	Kind      string         `json:"kind"`
	At        time.Time      `json:"exported_at"`
	By        string         `json:"exported_by"`
	Gateway   string         `json:"gateway_version"`
	Files     []evidenceFile `json:"files"`
	Gaps      []string       `json:"gaps"` // what there was and is no longer kept, or was never stored
}

// evidenceOf sends the evidence of one message. It holds payloads, so that it is a
// right like theirs and audited before the first byte leaves.
func (c *call) evidenceOf() error {
	k, err := c.key()
	if err != nil {
		return err
	}
	if err := c.recordEvidence(k, "evidence.read", nil); err != nil {
		return err
	}
	h := c.w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s-%s.zip"`, k.Partner, hexOf(sha256.Sum256([]byte(k.ID)))[:16]))
	c.w.WriteHeader(http.StatusOK)
	if c.r.Method == http.MethodHead {
		return nil
	}
	e := &evidence{call: c, key: k, zip: zip.NewWriter(c.w), at: time.Now().UTC().Truncate(time.Second), gaps: []string{}}
	sum, err := e.write()
	if err == nil {
		err = c.recordEvidence(k, "evidence.exported", map[string]any{"manifest_sha256": sum})
	}
	if err == nil {
		err = e.zip.Close() // without its end the zip is none: what the audit log does not know is not whole
	}
	if err != nil {
		// The status has left: only a broken connection tells that bytes are missing.
		if c.ctx().Err() == nil {
			c.api.Log.ErrorContext(c.ctx(), "evidence broke off", "partner", k.Partner, "message_id", k.ID, "err", err)
		}
		panic(http.ErrAbortHandler)
	}
	return nil
}

func (c *call) recordEvidence(k *dedup.Key, action string, detail any) error {
	text, err := json.Marshal(detail)
	if err != nil {
		return err
	}
	if detail == nil {
		text = nil
	}
	return c.api.Record(c.ctx(), accounts.Entry{Who: c.who.Person, Role: c.who.Role, Action: action, Subject: k.ID, Partner: k.Partner, Detail: text})
}

// write writes every part, then what they are checked by, and gives the digest of
// the manifest.
func (e *evidence) write() (sum string, err error) {
	for _, part := range evidenceParts {
		if err := part(e); err != nil {
			return "", err
		}
	}
	m := manifest{Version: 1, Partner: e.key.Partner, MessageID: e.key.ID, Kind: "interchange", At: e.at, By: e.who.Person, Gateway: e.api.Version, Files: e.files, Gaps: e.gaps}
	if e.key.Kind == dedup.Transport {
		m.Kind = "transport"
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return "", err
	}
	text = append(text, '\n')
	var sums strings.Builder
	for _, f := range e.files {
		fmt.Fprintf(&sums, "%s  %s\n", f.SHA256, f.Name)
	}
	sum = hexOf(sha256.Sum256(text))
	fmt.Fprintf(&sums, "%s  manifest.json\n", sum)
	signed, err := e.sign(text)
	if err != nil {
		return "", err
	}
	for _, f := range []struct{ name, text string }{
		{"manifest.json", string(text)}, {"SHA256SUMS", sums.String()}, {"README.txt", evidenceReadme(m, signed)},
	} {
		if err := e.file(f.name, "", strings.NewReader(f.text)); err != nil {
			return "", err
		}
	}
	return sum, nil
}

// json writes v as a file.
func (e *evidence) json(name, what string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return e.file(name, what, strings.NewReader(string(text)+"\n"))
}

// file writes what r gives as a file.
func (e *evidence) file(name, what string, r io.Reader) error {
	if err := e.begin(name, what); err != nil {
		return err
	}
	if _, err := io.Copy(e.open, r); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	e.end()
	return nil
}

// evidenceWriter hashes a file on its way into the zip.
type evidenceWriter struct {
	w      io.Writer
	digest hash.Hash
	bytes  int64
	file   evidenceFile
}

// Write takes a piece of the file.
func (w *evidenceWriter) Write(b []byte) (int, error) {
	n, err := w.w.Write(b)
	_, _ = w.digest.Write(b[:n]) // a hash takes all
	w.bytes += int64(n)
	return n, err
}

// begin begins a file: what follows is written to open, until end.
func (e *evidence) begin(name, what string) error {
	w, err := e.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: e.at})
	if err != nil {
		return err
	}
	e.open = &evidenceWriter{w: w, digest: sha256.New(), file: evidenceFile{Name: name, What: what}}
	return nil
}

// end notes the file in the manifest; what checks the others is not in it.
func (e *evidence) end() {
	f := e.open.file
	if f.SHA256, f.Bytes = fmt.Sprintf("%x", e.open.digest.Sum(nil)), e.open.bytes; f.What != "" {
		e.files = append(e.files, f)
	}
}

func (e *evidence) gap(format string, args ...any) {
	e.gaps = append(e.gaps, fmt.Sprintf(format, args...))
}
