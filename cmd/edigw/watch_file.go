package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/edigw/edigw/edi"
)

// dropped is a file that was taken.
type dropped struct {
	folder  *dropFolder
	name    string    // under which it was dropped
	path    string    // where it is now, below the folder
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

// String is the fate's word in metrics.
func (f dropFate) String() string {
	switch f {
	case dropArchived:
		return "archived"
	case dropRefused:
		return "refused"
	}
	return "kept"
}

// at is where it is now.
func (d *dropped) at() string { return filepath.Join(d.folder.path, d.path) }

// process sends a file and puts it where its answer says. Whatever breaks off
// leaves it where it is, and it is sent again under the same id.
func (d *dropped) process(w *watch) dropFate {
	begun := time.Now()
	fate, s, err := d.attempt(w)
	log := w.log.With("partner", d.folder.partner, "file", d.name, "status", s.Status, "verdict", s.Verdict, "outcome", s.Outcome, "took", time.Since(begun))
	switch fate {
	case dropArchived:
		log.Info("sent", "to", d.at())
	case dropRefused:
		log.Warn("refused", "because", s.Error, "to", d.at())
	default:
		log.Warn("kept", "because", err, "again_in", time.Until(d.due).Round(time.Millisecond))
	}
	return fate
}

// attempt sends once.
func (d *dropped) attempt(w *watch) (fate dropFate, s sent, err error) {
	s.File = d.at()
	d.due = time.Now().Add(backOff(d.tries))
	if err := d.folder.connect(w); err != nil {
		return dropKept, s, err
	}
	if err := d.folder.unlinked(time.Now()); err != nil {
		return dropKept, s, err
	}
	f, before, err := d.folder.openFile(d.path)
	if err != nil {
		return dropKept, s, err
	}
	digest := sha256.New()
	if _, err := io.Copy(digest, f); err != nil {
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
	if after, e := d.folder.root.Lstat(d.path); e == nil && (after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime())) {
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
	return d.moveTo(w, archiveOf(time.Now()), ".receipt.json", append(s.Answer, '\n'))
}

// refuse puts the reason in words, then the file, into the folder error.
func (d *dropped) refuse(w *watch, s sent) error {
	return d.moveTo(w, refusedIn, ".reason.txt", []byte(reasonInWords(d.name, s)))
}

// moveTo writes text into NAME and its ending, and moves the file beside it. The
// text is made first, and reserves the name: one that a run which died has made
// with the same bytes, and without its file, is this one.
func (d *dropped) moveTo(w *watch, dir, ending string, text []byte) error {
	f := d.folder
	if err := f.mkdirs(dir, 0o755); err != nil {
		return err
	}
	for n := 1; ; n++ {
		to := filepath.Join(dir, fitting(d.name, n, ending))
		_, err := f.root.Lstat(to)
		if err == nil {
			continue
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		made, err := f.writeNew(to+ending, text)
		if err != nil {
			return err
		}
		if !made {
			continue
		}
		w.hook("watch told")
		if err := f.root.Rename(d.path, to); err != nil {
			return err
		}
		w.hook("watch moved")
		place := filepath.Dir(d.path)
		d.path = to
		return f.root.Remove(place)
	}
}

// longestName is how long a name may be in the file systems that matter, in bytes.
const longestName = 255

// fitting is the name a file gets beside its receipt or reason: its own, or NAME-2
// and so on before its extension. One that would be too long with the ending is cut,
// and has a digest of the whole name in it.
func fitting(name string, n int, ending string) string {
	ext := filepath.Ext(name)
	if len(ext) > longestName/8 { // a full stop in a long sentence
		ext = ""
	}
	stem := strings.TrimSuffix(name, ext)
	if n > 1 {
		ext = fmt.Sprintf("-%d%s", n, ext)
	}
	most := longestName - len(ext) - len(ending)
	if len(stem) > most {
		digest := sha256.Sum256([]byte(name))
		mark := "-" + hex.EncodeToString(digest[:8])
		end := most - len(mark)
		for end > 0 && !utf8.RuneStart(stem[end]) {
			end--
		}
		stem = stem[:end] + mark
	}
	return stem + ext
}
