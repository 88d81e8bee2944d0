package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/embeddedpg"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/migrations"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/targets"
)

type doctorCommand struct {
	Output string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	listenFlags
	databaseFlags
	masterFlags
}

// symptom is one line of the doctor: what was looked at, where, whether it is
// well, and what to do if not.
type symptom struct {
	What string `json:"what"`
	Well bool   `json:"well"`
	Text string `json:"text"` // where and what
	Do   string `json:"do,omitempty"`
}

// doctor collects symptoms.
type doctor struct {
	*app
	list []symptom
}

func (d *doctor) well(what, format string, args ...any) {
	d.list = append(d.list, symptom{What: what, Well: true, Text: fmt.Sprintf(format, args...)})
}

func (d *doctor) ill(what, do, format string, args ...any) {
	d.list = append(d.list, symptom{What: what, Text: fmt.Sprintf(format, args...), Do: do})
}

// Run looks at everything and changes nothing; whatever is not well is a
// finding.
func (c *doctorCommand) Run(a *app) error {
	d := &doctor{app: a}
	d.well("program", "%s", programVersion())
	d.dataDir()
	d.listeners(c.listenFlags)
	d.tls(c.listenFlags)
	d.inTheClear(c.listenFlags)
	d.secrets()
	d.database(c.databaseFlags, c.masterFlags)
	ill := 0
	for _, s := range d.list {
		if !s.Well {
			ill++
		}
	}
	if err := c.tell(a, d.list); err != nil {
		return err
	}
	if ill > 0 {
		return findings()
	}
	return nil
}

func (c *doctorCommand) tell(a *app, list []symptom) error {
	if c.Output == "json" {
		return a.json(struct {
			Checks []symptom `json:"checks"`
		}{list})
	}
	for _, s := range list {
		mark := "ok  "
		if !s.Well {
			mark = "FAIL"
		}
		line := fmt.Sprintf("%s  %-18s %s", mark, s.What, s.Text)
		if s.Do != "" {
			line += "\n" + strings.Repeat(" ", 25) + "→ " + s.Do
		}
		if _, err := fmt.Fprintln(a.stdout, line); err != nil {
			return err
		}
	}
	return nil
}

// scarce is the free space below which receipt is in danger, in bytes.
const scarce = 2 << 30

func (d *doctor) dataDir() {
	dir := d.grammar.DataDir
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.well("data folder", "%s is not there yet; `edigw serve` makes it", dir)
	case err != nil:
		d.ill("data folder", "let the gateway's user read and enter it", "%v", err)
		return
	case !st.IsDir():
		d.ill("data folder", "name another one with --data-dir", "%s is no folder", dir)
		return
	default:
		d.well("data folder", "%s", dir)
		if st, err := os.Stat(localAccessFile(dir)); err == nil && st.Mode().Perm()&0o077 != 0 {
			d.ill("data folder", "chmod 600 "+localAccessFile(dir), "%s can be read by others: it holds an administrator's token", localAccessFile(dir))
		}
	}
	for dir != filepath.Dir(dir) { // the nearest folder that is there
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	switch free, err := freeSpace(dir); {
	case err != nil:
		d.ill("disk", "look at the volume", "free space of %s: %v", dir, err)
	case free < scarce:
		d.ill("disk", "free some, or move --data-dir to a larger volume", "%s has %s left, less than %s", dir, sizeText(free), sizeText(scarce))
	default:
		d.well("disk", "%s has %s left", dir, sizeText(free))
	}
}

func (d *doctor) listeners(f listenFlags) {
	running := d.running()
	for _, l := range []struct{ what, address, flag string }{{"ingress port", f.Listen, "--listen"}, {"operations port", f.OpsListen, "--ops-listen"}} {
		ln, err := net.Listen("tcp", l.address)
		switch {
		case err == nil:
			err = ln.Close()
			if err != nil {
				d.ill(l.what, "try again", "%s: %v", l.address, err)
				continue
			}
			d.well(l.what, "%s is free", l.address)
		case running:
			d.well(l.what, "%s is in use; a gateway of this data folder is running", l.address)
		default:
			d.ill(l.what, "stop what listens there, or choose another with "+l.flag, "%v", err)
		}
	}
}

// running reports whether the gateway of this data folder answers.
func (d *doctor) running() bool {
	at, err := readLocalAccess(d.grammar.DataDir)
	if err != nil {
		return false
	}
	c, err := httpClient(at.Certificate)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(d.ctx, 3*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.URL+"/livez", nil)
	if err != nil {
		return false
	}
	resp, err := c.Do(r)
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
}

func (d *doctor) database(f databaseFlags, m masterFlags) {
	if f.DatabaseURL == "" {
		bin, err := embeddedpg.Bin()
		if err != nil {
			d.ill("PostgreSQL", "", "%v", err)
			return
		}
		d.well("PostgreSQL", "binaries in %s", bin)
		if _, err := os.Stat(filepath.Join(embeddedDir(d.grammar.DataDir), "data", "PG_VERSION")); errors.Is(err, fs.ErrNotExist) {
			d.well("database", "none in %s yet; `edigw serve` makes it", embeddedDir(d.grammar.DataDir))
			return
		}
	}
	db, err := d.openDatabase(d.ctx, f, d.logger("text", "warn"))
	if err != nil {
		d.ill("database", "", "%v", err)
		return
	}
	d.inside(db, m)
	if err := db.close(d.ctx); err != nil {
		d.ill("database", "look at its log", "stop: %v", err)
	}
}

// inside looks at what the database says of itself.
func (d *doctor) inside(db *database, m masterFlags) {
	ctx, cancel := context.WithTimeout(d.ctx, 30*time.Second)
	defer cancel()
	settings := map[string]string{}
	for _, name := range []string{"server_version", "fsync", "full_page_writes", "synchronous_commit", "max_connections"} {
		var v string
		if err := db.pool.QueryRow(ctx, `select current_setting($1)`, name).Scan(&v); err != nil {
			d.ill("database", "try again", "read the setting %s: %v", name, err)
			return
		}
		settings[name] = v
	}
	d.well("database", "PostgreSQL %s answers", settings["server_version"])
	told := fmt.Sprintf("fsync %s, full_page_writes %s, synchronous_commit %s (set by each session)", settings["fsync"], settings["full_page_writes"], settings["synchronous_commit"])
	if err := durable(ctx, db.pool); err != nil {
		d.ill("durability", "set them on in postgresql.conf, then: select pg_reload_conf()", "%s", told)
	} else {
		d.well("durability", "%s", told)
	}
	d.clock(ctx, db.pool)
	have, want, err := migrations.Version(ctx, db.pool)
	switch {
	case err != nil:
		d.ill("schema", "try again", "%v", err)
		return
	case have < want:
		d.ill("schema", "run `edigw migrate`; `edigw serve` does it at its start", "version %d, this program needs %d", have, want)
		return
	case have > want:
		d.well("schema", "version %d, made by a newer program; this one knows %d", have, want)
	default:
		d.well("schema", "version %d", have)
	}
	if d.outgoing(ctx, db.pool) { // else no process would help
		d.handOver(ctx, db.pool)
		d.subscriptions(ctx, db.pool)
	}
	d.partnersCertificates(ctx, db.pool)
	d.privateKeys(ctx, db.pool, m)
	d.as2(ctx, db.pool)
	d.as4(ctx, db.pool)
	missing, err := journal.MissingPartitions(ctx, db.pool, monthly...)
	switch {
	case err != nil:
		d.ill("partitions", "try again", "%v", err)
	case len(missing) > 0:
		d.ill("partitions", "run `edigw migrate`; a running gateway does it daily", "%d of the coming %d months are not made: %s …", len(missing), journal.Ahead, missing[0])
	default:
		d.well("partitions", "of the coming %d months are made", journal.Ahead)
	}
}

// handOver looks for documents that nobody hands over: no process may have the folder.
func (d *doctor) handOver(ctx context.Context, pool *pgxpool.Pool) {
	since, err := outbox.Effects{Pool: pool}.NotBegun(ctx, targets.FolderName)
	switch {
	case err != nil:
		d.ill("hand-over", "try again", "%v", err)
	case since > handOverSoon:
		d.ill("hand-over", "start a gateway with --hand-over-dir", "documents have waited for %s, and no process hands them over", since.Round(time.Second))
	default:
		d.well("hand-over", "no document waits")
	}
}

// subscriptions looks for those that are not told: no process may send, or a target
// may be shut.
func (d *doctor) subscriptions(ctx context.Context, pool *pgxpool.Pool) {
	h, err := outbox.Subscriptions{Pool: pool}.Health(ctx)
	switch {
	case err != nil:
		d.ill("subscriptions", "try again", "%v", err)
	case h.Shut > 0:
		d.ill("subscriptions", "`edigw subscriptions list` says why", "the target of %d cannot be opened", h.Shut)
	case h.SetAside > 0:
		d.ill("subscriptions", "`edigw subscriptions aside NAME`, then resend or dismiss them", "%d events were refused and wait for a person", h.SetAside)
	case h.Failing > 0:
		d.ill("subscriptions", "`edigw subscriptions show NAME` says what fails", "%d of %d partners' events are not taken, the oldest since %s", h.Failing, h.Streams, h.Oldest.Round(time.Second))
	case h.Oldest > eventsSoon:
		do := "start a gateway with --event-workers above 0"
		holder, err := outbox.Subscriptions{Pool: pool}.Holder(ctx)
		switch {
		case err != nil:
			do += "; a transaction that lasts holds events back too: " + err.Error()
		case holder != "":
			do += "; a transaction that lasts holds events back too, now " + holder
		}
		d.ill("subscriptions", do, "events have waited for %s", h.Oldest.Round(time.Second))
	default:
		d.well("subscriptions", "no event waits")
	}
}

// eventsSoon is how long an event waits where a process sends and its target answers.
const eventsSoon = 5 * time.Minute

// handOverSoon is how long a document waits where a process hands documents over.
const handOverSoon = time.Minute

// tolerance is how far two clocks may differ before times of the log mislead.
const tolerance = 30 * time.Second

func (d *doctor) clock(ctx context.Context, pool *pgxpool.Pool) {
	var at time.Time
	if err := pool.QueryRow(ctx, `select clock_timestamp()`).Scan(&at); err != nil {
		d.ill("clock", "try again", "%v", err)
		return
	}
	if off := time.Since(at).Abs(); off > tolerance {
		d.ill("clock", "set both by NTP; dates are always the database's", "this machine and the database differ by %s", off.Round(time.Second))
		return
	}
	d.well("clock", "agrees with the database's")
}

func sizeText(n uint64) string {
	const unit = 1 << 30
	return fmt.Sprintf("%.1f GiB", float64(n)/unit)
}
