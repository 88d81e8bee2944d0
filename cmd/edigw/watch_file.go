package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/edigw/edigw/edi"
)

// dropped is a file that was taken.
type dropped struct {
	folder  *dropFolder
	path    string    // where it is now
	written time.Time // its own time, when it was taken
	due     time.Time // when it is to be tried again
	tries   int
}

// dropFate is what becomes of a file.
type dropFate int

const (
	dropArchived dropFate = iota // it was accepted, now or before
	dropRefused                  // the sender has to change something
	dropKept                     // it is to be tried again
)

func (d *dropped) name() string { return filepath.Base(d.path) }

// process sends a file and puts it where its answer says. Whatever breaks off
// leaves it where it is, and it is sent again under the same id.
func (d *dropped) process(w *watch) dropFate {
	begun := time.Now()
	fate, s, err := d.attempt(w)
	log := w.log.With("partner", d.folder.partner, "file", d.name(), "status", s.Status, "verdict", s.Verdict, "outcome", s.Outcome, "took", time.Since(begun))
	switch fate {
	case dropArchived:
		log.Info("sent", "to", d.path)
	case dropRefused:
		log.Warn("refused", "because", s.Error, "to", d.path)
	default:
		log.Warn("kept", "because", err, "again_in", time.Until(d.due).Round(time.Millisecond))
	}
	return fate
}

// attempt sends once.
func (d *dropped) attempt(w *watch) (fate dropFate, s sent, err error) {
	s.File = d.path
	d.due = time.Now().Add(backOff(d.tries))
	if err := d.folder.connect(w); err != nil {
		return dropKept, s, err
	}
	// A link would have us send what the partner may not read.
	f, err := os.OpenFile(d.path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return dropKept, s, err
	}
	before, err := f.Stat()
	if err == nil && !before.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file", d.path)
	}
	digest := sha256.New()
	if err == nil {
		_, err = io.Copy(digest, f)
	}
	if err != nil {
		return dropKept, s, errors.Join(err, f.Close())
	}
	w.hook("watch hashed")
	// The id is the content's: the same file again is a repeat, under any name, and
	// after any crash; a file of the same name with other content is another one.
	c := ingestCommand{Partner: d.folder.partner, MessageID: "file-" + hex.EncodeToString(digest.Sum(nil))}
	p := edi.File(f, before.Size())
	wait, err := c.post(w.sender, d.folder.reach(), p, &s)
	if e := p.Close(); e != nil {
		return dropKept, s, e
	}
	if wait > 0 {
		d.due = time.Now().Add(max(wait, backOff(d.tries)))
	}
	w.hook("watch answered")
	if after, e := os.Lstat(d.path); e == nil && (after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime())) {
		d.due = time.Now().Add(max(d.folder.settle, leastWait))
		return dropKept, s, errors.New("it was written to while it was sent: what it holds now is sent again")
	}
	switch {
	case s.ok():
		if err := d.archive(w, s); err != nil {
			return dropKept, s, err
		}
		return dropArchived, s, nil
	case !refusedForGood(s):
		if s.Status == http.StatusUnauthorized {
			d.folder.forget()
		}
		return dropKept, s, err
	}
	s.Error = err.Error()
	if err := d.refuse(w, s); err != nil {
		return dropKept, s, err
	}
	return dropRefused, s, nil
}

// refusedForGood reports whether an answer is about this file: not about who
// sends, where to, or when.
func refusedForGood(s sent) bool {
	switch s.Status {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return s.Answer != nil
	}
	return false
}

// backOff is how long the next try waits: twice as long each time, with jitter.
func backOff(tries int) time.Duration {
	d := min(leastWait<<min(tries, 10), mostWait)
	return d/2 + rand.N(d/2)
}

// archive puts the receipt, then the file, into the folder of the day. What has the
// name already keeps it.
func (d *dropped) archive(w *watch, s sent) error {
	dir := filepath.Join(d.folder.path, "archive", time.Now().UTC().Format("2006/01/02"))
	return d.moveTo(w, dir, ".receipt.json", append(s.Answer, '\n'))
}

// refuse puts the reason in words, then the file, into the folder error.
func (d *dropped) refuse(w *watch, s sent) error {
	return d.moveTo(w, filepath.Join(d.folder.path, "error"), ".reason.txt", []byte(reasonInWords(d.name(), s)))
}

// moveTo writes text into NAME and its ending, and moves the file beside it. The
// text is made first, and reserves the name: one that a run which died has made
// with the same bytes, and without its file, is this one.
func (d *dropped) moveTo(w *watch, dir, ending string, text []byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for n := 1; ; n++ {
		to := filepath.Join(dir, numbered(d.name(), n))
		_, err := os.Lstat(to)
		if err == nil {
			continue
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		made, err := writeNew(to+ending, text)
		if err != nil {
			return err
		}
		if !made {
			continue
		}
		w.hook("watch told")
		if err := os.Rename(d.path, to); err != nil {
			return err
		}
		w.hook("watch moved")
		place := filepath.Dir(d.path)
		d.path = to
		return os.Remove(place)
	}
}

// numbered is name, or name-2 and so on before its ending.
func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	ext := filepath.Ext(name)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), n, ext)
}

// writeNew writes a file, flushed; false if there is one with other bytes.
func writeNew(path string, text []byte) (made bool, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		have, err := os.ReadFile(path)
		if err == nil && len(have) < len(text) && strings.HasPrefix(string(text), string(have)) { // cut short by a crash
			return true, os.WriteFile(path, text, 0o644)
		}
		return err == nil && string(have) == string(text), err
	}
	if err != nil {
		return false, err
	}
	_, err = f.Write(text)
	return true, errors.Join(err, f.Sync(), f.Close())
}

// reasonInWords says what was wrong with a file, where, and what to do.
func reasonInWords(name string, s sent) string {
	var p struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Detail string `json:"detail"`
		Alert  string `json:"alert_id"`
		Errors []struct {
			Severity string `json:"severity"`
			Message  string `json:"message"`
			Location struct {
				Offset    int64  `json:"offset"`
				Segment   int    `json:"segment"`
				Tag       string `json:"tag"`
				Element   int    `json:"element"`
				Component int    `json:"component"`
			} `json:"location"`
			Reference string `json:"message_reference"`
		} `json:"errors"`
		Omitted int `json:"errors_omitted"`
	}
	var b strings.Builder
	if json.Unmarshal(s.Answer, &p) != nil || p.Title == "" {
		fmt.Fprintf(&b, "%s was not accepted: %s\n", name, s.Error)
		return printableLines(b.String())
	}
	fmt.Fprintf(&b, "%s was not accepted.\n\n%s\n", name, p.Title)
	if p.Detail != "" {
		fmt.Fprintf(&b, "%s\n", p.Detail)
	}
	for _, e := range p.Errors {
		fmt.Fprintf(&b, "\n- %s: %s\n  ", e.Severity, e.Message)
		if e.Reference != "" {
			fmt.Fprintf(&b, "message %s, ", e.Reference)
		}
		fmt.Fprintf(&b, "segment %d", e.Location.Segment)
		if e.Location.Tag != "" {
			fmt.Fprintf(&b, " (%s)", e.Location.Tag)
		}
		if e.Location.Element > 0 {
			fmt.Fprintf(&b, ", element %d", e.Location.Element)
		}
		if e.Location.Component > 0 {
			fmt.Fprintf(&b, ", component %d", e.Location.Component)
		}
		fmt.Fprintf(&b, ", byte %d\n", e.Location.Offset)
	}
	if p.Omitted > 0 {
		fmt.Fprintf(&b, "\n%d more are not listed.\n", p.Omitted)
	}
	if p.Alert != "" {
		fmt.Fprintf(&b, "\nThe receiver's operators have it before them as alert %s.\n", p.Alert)
	}
	fmt.Fprintf(&b, "\nStatus %d, %s\n", s.Status, p.Type)
	return printableLines(b.String())
}
