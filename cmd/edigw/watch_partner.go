package main

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"
)

// sentDrop is a file that was sent, and what became of it.
type sentDrop struct {
	file *dropped
	fate dropFate
}

// follow looks into a partner's folder, takes and sends, until the folder is gone or
// the watch ends. Each folder is followed on its own: a gateway that hangs on the
// files of one partner, or a folder that hangs, holds no other.
func (w *watch) follow(f *dropFolder) {
	defer w.leave(f)
	var next time.Time
	for w.app.ctx.Err() == nil && f.there() {
		if now := time.Now(); !now.Before(next) {
			w.look(f, now)
			next = now.Add(w.command.Poll)
		}
		w.start(f, time.Now())
		w.wait(f, time.Until(next))
	}
}

// clear takes what lies still in a folder, and sends it until it is done or tried
// often enough.
func (w *watch) clear(f *dropFolder) {
	defer w.leave(f)
	w.look(f, time.Now())
	if !w.command.Ready {
		w.sleep(w.command.Settle)
	}
	w.look(f, time.Now())
	for w.app.ctx.Err() == nil {
		f.waiting = slices.DeleteFunc(f.waiting, func(d *dropped) bool {
			if d.tries <= w.command.Retries {
				return false
			}
			w.count(func() { w.kept++ })
			return true
		})
		w.start(f, time.Now())
		if f.sending == 0 && len(f.waiting) == 0 {
			return
		}
		pause := mostWait
		if f.sending < w.jobs() {
			for _, d := range f.waiting {
				pause = min(pause, time.Until(d.due))
			}
		}
		w.wait(f, pause)
	}
}

// leave waits for what is on its way, and gives back what is empty, and the token.
// What is still waiting stays where it is: the next watcher takes it over.
func (w *watch) leave(f *dropFolder) {
	for f.sending > 0 {
		w.note(f, <-f.done)
	}
	err := f.close()
	if w.app.ctx.Err() == nil && !w.command.Once { // the folder is gone
		w.metrics.leave(f.partner)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept += len(f.waiting)
	w.ended = errors.Join(w.ended, err)
	delete(w.folders, f.path)
}

// jobs is how many files of one partner are sent at a time.
func (w *watch) jobs() int { return max(1, w.command.Jobs) }

// start sends what is due, the oldest first, as far as there are hands.
func (w *watch) start(f *dropFolder, now time.Time) {
	slices.SortStableFunc(f.waiting, func(a, b *dropped) int { return cmp.Or(a.written.Compare(b.written), cmp.Compare(a.path, b.path)) })
	f.waiting = slices.DeleteFunc(f.waiting, func(d *dropped) bool {
		if f.sending == w.jobs() || d.due.After(now) {
			return false
		}
		f.sending++
		go func() { f.done <- sentDrop{d, d.process(w)} }()
		return true
	})
}

// wait waits for a file that was sent, and so long at most.
func (w *watch) wait(f *dropFolder, d time.Duration) {
	select {
	case s := <-f.done:
		w.note(f, s)
	case <-time.After(d):
	case <-w.app.ctx.Done():
	}
}

// note counts what became of a file; one that is kept is tried again later.
func (w *watch) note(f *dropFolder, s sentDrop) {
	f.sending--
	w.metrics.files.WithLabelValues(f.partner, s.fate.String()).Inc()
	if s.fate != dropKept {
		delete(f.held, s.file)
	}
	w.metrics.holds(f)
	switch s.fate {
	case dropArchived:
		w.count(func() { w.archived++ })
	case dropRefused:
		w.count(func() { w.refused++ })
	case dropKept:
		s.file.tries++
		f.waiting = append(f.waiting, s.file)
	}
}

// look takes what may be taken of a folder.
func (w *watch) look(f *dropFolder, now time.Time) {
	if now.Before(f.notBefore) {
		return
	}
	err := w.lookInto(f, now)
	w.metrics.look(f, now, err)
	if err != nil {
		f.notBefore = now.Add(adoptEvery)
		w.trouble(f.partner)
		w.log.Error("files are left where they are", "dir", f.path, "partner", f.partner, "err", err, "again_in", adoptEvery)
	}
}

// there reports whether the folder that was opened is still the one of its name: one
// that was moved away or made anew is followed no longer.
func (f *dropFolder) there() bool {
	named, err := os.Stat(f.path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	opened, err := f.root.Stat(".")
	return err != nil || os.SameFile(named, opened)
}
