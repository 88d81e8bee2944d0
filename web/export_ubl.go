package web

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/documents/ubl"
)

// What a zip takes, since the names of its files and its manifest are held until its end:
// so many invoices, be there a file of them or not, until the manifest has so many bytes,
// packed.
const (
	maxUBL      = 100_000
	maxManifest = 32 << 20
)

// ublExport writes a zip with a file for each invoice, and manifest.jsonl with a line for
// each: its file and what has to be known of it, or why there is none.
type ublExport struct {
	e        *export
	zip      *zip.Writer
	xml      bytes.Buffer // of one invoice: one of which no UBL can be made leaves no file
	manifest bytes.Buffer // packed: it has a line for each
	packer   *gzip.Writer
	lines    *json.Encoder
	most     int    // invoices
	room     int    // bytes of the manifest
	before   string // id of the invoice that was written last
}

// ublLine is a line of the manifest.
type ublLine struct {
	File     string       `json:"file,omitempty"`
	Partner  string       `json:"partner"`
	Document string       `json:"document_id"`
	Number   string       `json:"number"`
	Live     bool         `json:"live"`
	Remarks  []ubl.Remark `json:"remarks,omitempty"`
	LeftOut  string       `json:"left_out,omitempty"` // why there is no file
}

// ublSummary is export.json, the last file of the zip.
type ublSummary struct {
	At      time.Time `json:"exported_at"`
	By      string    `json:"exported_by"`
	Gateway string    `json:"gateway_version"`
	Asked   string    `json:"asked"` // the query
	Files   int       `json:"files"`
	LeftOut int       `json:"left_out"`
	Next    string    `json:"next,omitempty"` // where there is more: what to give as after
}

func newUBLExport(e *export) exportWriter {
	w := &ublExport{e: e, zip: zip.NewWriter(e.out), most: maxUBL, room: maxManifest}
	w.packer = gzip.NewWriter(&w.manifest)
	w.lines = json.NewEncoder(w.packer)
	w.lines.SetEscapeHTML(false)
	return w
}

func (w *ublExport) write(d *documents.Stored) error {
	line := ublLine{Partner: d.Partner, Document: d.ID.String(), Number: d.Number, Live: d.Live}
	if w.e.count+w.e.leftOut >= w.most || w.manifest.Len() >= w.room {
		w.e.next = w.before
		line.LeftOut = "a zip takes no more: this invoice and all behind it come with after=" + w.before
		if err := w.lines.Encode(line); err != nil {
			return err
		}
		return errFull
	}
	w.before = line.Document
	w.xml.Reset()
	remarks, err := ubl.Write(&w.xml, &d.Document)
	var unfit *ubl.Unfit
	switch {
	case errors.As(err, &unfit):
		line.LeftOut = unfit.Reason
		w.e.leftOut++
		return w.lines.Encode(line)
	case err != nil:
		return err
	}
	line.File, line.Remarks = ublName(d), remarks
	if err := w.file(line.File, &w.xml); err != nil {
		return err
	}
	w.e.count++
	return w.lines.Encode(line)
}

// ublName names an invoice's file by its number, as far as that can stand in a name
// everywhere, and by its id.
func ublName(d *documents.Stored) string {
	number := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, d.Number)
	return d.Partner + "/" + number[:min(len(number), 40)] + "." + d.ID.String() + ".xml"
}

func (w *ublExport) file(name string, r io.Reader) error {
	f, err := w.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: w.e.at})
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return err
}

func (w *ublExport) last() error {
	if err := w.packer.Close(); err != nil {
		return err
	}
	r, err := gzip.NewReader(&w.manifest)
	if err != nil {
		return err
	}
	if err := w.file("manifest.jsonl", r); err != nil {
		return err
	}
	text, err := json.MarshalIndent(ublSummary{w.e.at.Truncate(time.Second), w.e.who.Person, w.e.api.Version, w.e.r.URL.RawQuery, w.e.count, w.e.leftOut, w.e.next}, "", "  ")
	if err != nil {
		return err
	}
	return w.file("export.json", bytes.NewReader(append(text, '\n')))
}

func (w *ublExport) close() error { return w.zip.Close() }
