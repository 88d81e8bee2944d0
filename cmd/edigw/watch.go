package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
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
	Jobs         int           `default:"4" help:"Files of one partner sent at a time."`

	MetricsListen string `setting:"" placeholder:"ADDR" help:"Address at which to show what it measures to Prometheus, at /metrics, like 127.0.0.1:8084; nowhere if left out."`
	MetricsFile   string `setting:"" placeholder:"FILE" help:"File to write it to, for node_exporter's textfile collector, like /var/lib/node_exporter/edigw.prom."`

	Retries int `default:"5" help:"With --once: how often to come back where the gateway says to. Else there is no end to it."`
	logFlags
	connection
}

// What a file waits for, and how long at most until it is tried again.
const (
	leastWait = time.Second
	mostWait  = time.Minute
)

// metricsEvery is how often they are written to their file.
const metricsEvery = 15 * time.Second

// adoptEvery is how often files are looked for that a watcher which died had
// taken.
const adoptEvery = 30 * time.Second

// partnerFolder is what a folder may be called that is a partner's.
var partnerFolder = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,39}$`)

// Run watches until the context ends.
func (c *watchCommand) Run(a *app) (err error) {
	switch {
	case c.PartnerToken != "" && c.Partner == "":
		return usage("--partner-token is one partner's: say which with --partner")
	case c.MetricsListen != "" && c.Once:
		return usage("--metrics-listen is for a watch that stays; with --once there is --metrics-file")
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
	metrics, err := metricsPlace(c.MetricsFile)
	if err != nil {
		return err
	}
	sender := *a
	sender.ctx = context.WithoutCancel(a.ctx) // what is on its way when we are told to stop is sent to its end
	w := &watch{command: c, app: a, sender: &sender, log: a.logger(c.LogFormat, c.LogLevel), id: uuid.NewString(), hook: watchHook(a), metrics: newWatchMetrics(metrics), folders: map[string]*dropFolder{}, unopened: map[string]time.Time{}}
	if err := w.metrics.write(); err != nil { // now, and not when something is to be seen in it
		return err
	}
	if c.MetricsListen != "" {
		at, stop, failed := w.metrics.serve(c.MetricsListen)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, stop()) }()
		w.log.Info("metrics", "at", "http://"+at+"/metrics")
	}
	if c.Once {
		err = w.once()
	} else {
		w.log.Info("watching", "dir", c.Dir, "settle", c.Settle, "poll", c.Poll)
		go w.writeEvery(a.ctx, metricsEvery)
		err = w.run()
	}
	return errors.Join(w.ended, err, w.metrics.write())
}

// watch is one run.
type watch struct {
	command *watchCommand
	app     *app
	sender  *app
	log     *slog.Logger
	id      string
	hook    func(point string) // of fault tests
	metrics *watchMetrics

	unopened map[string]time.Time // folders that could not be opened, until when they are left

	mu       sync.Mutex
	folders  map[string]*dropFolder // those that are followed, by path
	archived int
	refused  int
	kept     int
	troubled int   // files and folders that could not be looked at, each time
	ended    error // of folders that were left
}

// count changes what is counted.
func (w *watch) count(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

// trouble counts a file or folder of a partner's that could not be looked at.
func (w *watch) trouble(partner string) {
	w.count(func() { w.troubled++ })
	w.metrics.troubled.WithLabelValues(partner).Inc()
}

// run follows every partner's folder until the context ends, and those that come.
func (w *watch) run() error {
	var followed sync.WaitGroup
	for w.app.ctx.Err() == nil {
		found, err := w.find(time.Now())
		if err != nil {
			w.log.Error("the folder cannot be read", "err", err)
		}
		for _, f := range found {
			followed.Go(func() { w.follow(f) })
		}
		w.sleep(w.command.Poll)
	}
	followed.Wait()
	w.log.Info("stopped", "archived", w.archived, "refused", w.refused, "waiting", w.kept)
	return nil
}

// once takes what lies still in every folder, and sends it.
func (w *watch) once() error {
	found, err := w.find(time.Now())
	if err != nil {
		return err
	}
	var cleared sync.WaitGroup
	for _, f := range found {
		cleared.Go(func() { w.clear(f) })
	}
	cleared.Wait()
	w.log.Info("done", "archived", w.archived, "refused", w.refused, "kept", w.kept)
	switch {
	case w.refused+w.kept+w.troubled == 0:
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

// find opens the partners' folders that are not followed yet.
func (w *watch) find(now time.Time) (found []*dropFolder, err error) {
	if w.command.Partner != "" {
		f, err := w.folder(w.command.Dir, w.command.Partner)
		if f != nil {
			found = append(found, f)
		}
		return found, err
	}
	entries, err := os.ReadDir(w.command.Dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		path := filepath.Join(w.command.Dir, e.Name())
		if !e.IsDir() || !partnerFolder.MatchString(e.Name()) || now.Before(w.unopened[path]) {
			continue
		}
		f, err := w.folder(path, e.Name())
		if err != nil {
			w.unopened[path] = now.Add(adoptEvery)
			w.trouble(e.Name())
			w.log.Error("a folder cannot be opened", "partner", e.Name(), "err", err, "again_in", adoptEvery)
			continue
		}
		if f != nil {
			found = append(found, f)
		}
	}
	return found, nil
}

// folder opens a partner's folder; nil if it is followed already.
func (w *watch) folder(path, partner string) (*dropFolder, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.folders[path] != nil {
		return nil, nil
	}
	f, err := openFolder(path, partner)
	if err != nil {
		return nil, err
	}
	f.id, f.ready, f.settle = w.id, w.command.Ready, w.command.Settle
	w.metrics.follow(partner)
	w.folders[path] = f
	return f, nil
}

// openFolder opens a partner's folder, which nothing goes out of.
func openFolder(path, partner string) (*dropFolder, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &dropFolder{path: path, partner: partner, root: root, seen: map[string]observed{}, held: map[*dropped]time.Time{}, putOff: map[string]time.Time{}, done: make(chan sentDrop)}, nil
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
		for _, d := range found {
			f.hold(d, now)
		}
		if err != nil {
			w.trouble(f.partner)
			w.log.Error("files of a watcher that died stay where they are", "dir", f.path, "partner", f.partner, "err", err, "again_in", adoptEvery)
		}
	}
	for _, name := range names {
		was := f.seen[name]
		if was.since.IsZero() {
			was.since = now
		}
		d, err := f.take(name)
		if err != nil {
			f.seen[name] = was // it waits
			// One file's fault is that file's: those behind it are taken.
			f.putOff[name] = now.Add(adoptEvery)
			w.trouble(f.partner)
			w.log.Error("a file is left where it is", "partner", f.partner, "file", name, "err", err, "again_in", adoptEvery)
		}
		if d != nil { // else another watcher was faster
			w.hook("watch taken")
			f.hold(d, was.since)
		}
	}
	return nil
}
