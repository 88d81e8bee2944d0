package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

// watchCommand sends what is dropped into a folder, as SFTP servers do it.
type watchCommand struct {
	Dir          string        `arg:"" help:"The folder: of the partner that --partner names, else one with a folder of each partner's id in it."`
	Partner      string        `placeholder:"ID" help:"The partner whose files all of them are."`
	Once         bool          `help:"Send what is there, and end: for cron."`
	Settle       time.Duration `setting:"" default:"2s" help:"How long size and time of a file have to stay as they are until it is taken."`
	Ready        bool          `help:"Take a file only when NAME.ready stands beside it."`
	Poll         time.Duration `setting:"" default:"1s" help:"How often the folder is looked at."`
	Ingress      string        `setting:"" placeholder:"URL" help:"Address of the gateway's ingress, like http://127.0.0.1:8080; the one on this machine if left out."`
	PartnerToken string        `setting:"" secret:"" placeholder:"TOKEN" help:"The partner's token, with --partner; with a token of the API one is made for each partner who sends."`
	Jobs         int           `default:"4" help:"Files sent at a time."`
	Retries      int           `default:"5" help:"With --once: how often to come back where the gateway says to. Else there is no end to it."`
	logFlags
	connection
}

// What a file waits for, and how long at most until it is tried again.
const (
	leastWait = time.Second
	mostWait  = time.Minute
)

// adoptEvery is how often files are looked for that a watcher which died had
// taken.
const adoptEvery = 30 * time.Second

// partnerFolder is what a folder may be called that is a partner's.
var partnerFolder = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,39}$`)

// Run watches until the context ends.
func (c *watchCommand) Run(a *app) error {
	switch {
	case c.PartnerToken != "" && c.Partner == "":
		return usage("--partner-token is one partner's: say which with --partner")
	case c.Settle < 0 || c.Poll <= 0:
		return usage("--settle and --poll are times like 2s")
	}
	st, err := os.Stat(c.Dir)
	if err != nil {
		return err
	}
	if !st.IsDir() {
		return usage("%s is no folder; `edigw ingest` sends a file", c.Dir)
	}
	sender := *a
	sender.ctx = context.WithoutCancel(a.ctx) // what is on its way when we are told to stop is sent to its end
	w := &watch{command: c, app: a, sender: &sender, log: a.logger(c.LogFormat, c.LogLevel), id: uuid.NewString(), hook: watchHook(a), folders: map[string]*dropFolder{}}
	if c.Once {
		err = w.once()
	} else {
		w.log.Info("watching", "dir", c.Dir, "settle", c.Settle, "poll", c.Poll)
		err = w.run()
	}
	return errors.Join(w.end(), err)
}

// watch is one run.
type watch struct {
	command *watchCommand
	app     *app
	sender  *app
	log     *slog.Logger
	id      string
	hook    func(point string) // of fault tests

	folders map[string]*dropFolder // by path
	waiting []*dropped             // taken, and to be sent at their time

	archived, refused int
	troubled          int // folders that could not be looked into, each time
}

// run looks, takes and sends, again and again.
func (w *watch) run() error {
	for w.app.ctx.Err() == nil {
		if err := w.look(time.Now()); err != nil {
			w.log.Error("the folder cannot be read", "err", err)
		}
		w.send(time.Now())
		w.sleep(w.command.Poll)
	}
	w.log.Info("stopping", "waiting", len(w.waiting))
	return nil
}

// once takes what lies still, and sends it until it is done or tried often enough.
func (w *watch) once() error {
	if err := w.look(time.Now()); err != nil {
		return err
	}
	if !w.command.Ready {
		w.sleep(w.command.Settle)
	}
	if err := w.look(time.Now()); err != nil {
		return err
	}
	w.send(time.Now())
	kept := 0
	for len(w.waiting) > 0 && w.app.ctx.Err() == nil {
		before := len(w.waiting)
		w.waiting = slices.DeleteFunc(w.waiting, func(f *dropped) bool { return f.tries > w.command.Retries })
		if kept += before - len(w.waiting); len(w.waiting) == 0 {
			break
		}
		next := slices.MinFunc(w.waiting, func(a, b *dropped) int { return a.due.Compare(b.due) })
		w.sleep(time.Until(next.due))
		w.send(time.Now())
	}
	kept += len(w.waiting)
	w.log.Info("done", "archived", w.archived, "refused", w.refused, "kept", kept)
	switch {
	case w.refused+kept+w.troubled == 0:
		return nil
	case w.archived > 0:
		return &exit{exitPartly, nil}
	}
	return &exit{exitFailed, nil}
}

func (w *watch) sleep(d time.Duration) {
	select {
	case <-time.After(d):
	case <-w.app.ctx.Done():
	}
}

// look finds the partners' folders, what may be taken in each, and takes it.
func (w *watch) look(now time.Time) error {
	if err := w.find(); err != nil {
		return err
	}
	for _, path := range slices.Sorted(func(yield func(string) bool) {
		for path := range w.folders {
			if !yield(path) {
				return
			}
		}
	}) {
		f := w.folders[path]
		if now.Before(f.notBefore) {
			continue
		}
		if err := w.lookInto(f, now); err != nil {
			f.notBefore = now.Add(adoptEvery)
			w.troubled++
			w.log.Error("files are left where they are", "dir", path, "partner", f.partner, "err", err, "again_in", adoptEvery)
		}
	}
	return nil
}

func (w *watch) find() error {
	if w.command.Partner != "" {
		return w.folder(w.command.Dir, w.command.Partner)
	}
	entries, err := os.ReadDir(w.command.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() && partnerFolder.MatchString(e.Name()) {
			if err := w.folder(filepath.Join(w.command.Dir, e.Name()), e.Name()); err != nil {
				w.troubled++
				w.log.Error("a folder cannot be opened", "partner", e.Name(), "err", err)
			}
		}
	}
	return nil
}

func (w *watch) folder(path, partner string) error {
	if w.folders[path] != nil {
		return nil
	}
	f, err := openFolder(path, partner)
	if err != nil {
		return err
	}
	f.id, f.ready, f.settle = w.id, w.command.Ready, w.command.Settle
	w.folders[path] = f
	return nil
}

// openFolder opens a partner's folder, which nothing goes out of.
func openFolder(path, partner string) (*dropFolder, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &dropFolder{path: path, partner: partner, root: root, seen: map[string]observed{}, putOff: map[string]time.Time{}}, nil
}

// lookInto takes what may be taken of a folder. A folder whose partner may not
// send keeps its files.
func (w *watch) lookInto(f *dropFolder, now time.Time) error {
	names, err := f.still(now)
	if err != nil {
		return err
	}
	adopt := now.Sub(f.adopted) >= adoptEvery
	if len(names) == 0 && !(adopt && f.left()) {
		return nil
	}
	if err := errors.Join(f.unlinked(now), f.connect(w)); err != nil {
		return err
	}
	if err := f.open(); err != nil {
		return err
	}
	if adopt {
		f.adopted = now
		found, err := f.adopt()
		for _, d := range found {
			w.log.Info("a file is taken over from a watcher that died", "partner", f.partner, "file", d.name)
		}
		w.waiting = append(w.waiting, found...)
		if err != nil {
			w.troubled++
			w.log.Error("files of a watcher that died stay where they are", "dir", f.path, "partner", f.partner, "err", err, "again_in", adoptEvery)
		}
	}
	for _, name := range names {
		d, err := f.take(name)
		if err != nil {
			// One file's fault is that file's: those behind it are taken.
			f.putOff[name] = now.Add(adoptEvery)
			w.troubled++
			w.log.Error("a file is left where it is", "partner", f.partner, "file", name, "err", err, "again_in", adoptEvery)
		}
		if d != nil { // else another watcher was faster
			w.hook("watch taken")
			w.waiting = append(w.waiting, d)
		}
	}
	return nil
}

// send sends what is due, several files at a time.
func (w *watch) send(now time.Time) {
	var due []*dropped
	w.waiting = slices.DeleteFunc(w.waiting, func(d *dropped) bool {
		if d.due.After(now) {
			return false
		}
		due = append(due, d)
		return true
	})
	slices.SortStableFunc(due, func(a, b *dropped) int { return cmp.Or(a.written.Compare(b.written), cmp.Compare(a.path, b.path)) })
	next := make(chan *dropped)
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range max(1, min(w.command.Jobs, len(due))) {
		wg.Go(func() {
			for d := range next {
				fate := d.process(w)
				mu.Lock()
				w.note(d, fate)
				mu.Unlock()
			}
		})
	}
	for _, d := range due {
		next <- d
	}
	close(next)
	wg.Wait()
}

// note counts what became of a file; one that is kept is tried again later.
func (w *watch) note(d *dropped, fate dropFate) {
	switch fate {
	case dropArchived:
		w.archived++
	case dropRefused:
		w.refused++
	case dropKept:
		d.tries++
		w.waiting = append(w.waiting, d)
	}
}

// end gives back what is empty, and the tokens that were made. What is still
// waiting stays where it is: the next watcher takes it over.
func (w *watch) end() (err error) {
	after := *w.app
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.app.ctx), 10*time.Second)
	defer cancel()
	after.ctx = ctx
	for _, f := range w.folders {
		err = errors.Join(err, f.close())
	}
	return err
}
