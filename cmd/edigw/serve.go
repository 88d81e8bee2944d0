package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/habits"
	"github.com/edigw/edigw/httpin"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/lease"
	"github.com/edigw/edigw/migrations"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/partners/keys"
	"github.com/edigw/edigw/web"
)

// serveCommand runs the gateway until it is told to stop.
type serveCommand struct {
	listenFlags
	databaseFlags
	masterFlags
	intakeFlags
	workFlags
	subscribeFlags
	purgeFlags
	outgoingFlags
	as2Flags
	logFlags
	PublicURL   string        `setting:"" name:"public-url" placeholder:"URL" help:"Where partners reach --listen from outside, for their sheets, like https://edi.example."`
	StopTimeout time.Duration `setting:"" default:"30s" help:"How long deliveries that are being received may take when the gateway stops."`
}

// intakeFlags bound what is taken in.
type intakeFlags struct {
	MaxBody  int64  `setting:"" default:"2147483648" placeholder:"BYTES" help:"Bytes of a payload at most, decompressed (2 GiB)."`
	SpoolDir string `setting:"" placeholder:"DIR" help:"Folder for payloads over 1 MiB while they are received; the system's for temporary files if left out."`
	SpoolCap int64  `setting:"" default:"8589934592" placeholder:"BYTES" help:"Bytes of all payloads in the spool at most (8 GiB)."`
}

// Run serves until the context ends, then stops in order: no new delivery, those
// on their way to their end, the journal, the database.
func (c *serveCommand) Run(a *app) error {
	log := a.logger(c.LogFormat, c.LogLevel)
	s, err := a.start(c, log)
	if err != nil {
		return err
	}
	log.Info("ready", "ingress", s.access.Ingress, "operations", s.access.URL, "version", programVersion())
	manager := newSystemd(a.env, log)
	manager.tell("READY=1")
	watched, unwatch := context.WithCancel(context.WithoutCancel(a.ctx))
	defer unwatch()
	go manager.watch(watched, s.access)
	var hangup <-chan os.Signal
	if a.hangup != nil {
		hangup = a.hangup()
	}
	for running := true; running; {
		select {
		case <-a.ctx.Done():
			log.Info("stopping", "within", c.StopTimeout)
			running = false
		case err = <-s.failed:
			running = false
		case <-hangup:
			log.Info("certificates and partners are read again", "because", "SIGHUP")
			s.readAgain()
			if err := s.admin.directory.Reload(a.ctx); err != nil {
				log.Error("partners may be out of date", "error", err)
			}
			if err := s.admin.ring.Load(a.ctx); err != nil {
				log.Error("private keys may be out of date", "error", err)
			}
		}
	}
	unwatch() // systemd has a timeout of its own for the stop
	manager.tell("STOPPING=1")
	return errors.Join(err, s.stop(c.StopTimeout))
}

// started is a gateway that runs in this process.
type started struct {
	access localAccess
	token  uuid.UUID // of access; zero where there is none
	admin  *administration
	failed <-chan error // a part that cannot be done without has ended
	log    *slog.Logger

	ingress, operations *listener
	database            *database
	later               *journal.Batch
	workers             []*lease.Workers
	runner              *outbox.Runner
	purging             *purging
	cancel              context.CancelFunc // of what runs beside
}

// recentBytes of answers to what was accepted lately are kept in memory.
const recentBytes = 16 << 20

// start is the wiring: every part of the gateway and what it is given.
func (a *app) start(c *serveCommand, log *slog.Logger) (_ *started, err error) {
	tables, err := a.tables()
	if err != nil {
		return nil, err
	}
	proxies, err := c.proxies()
	if err != nil {
		return nil, err
	}
	master, err := c.master()
	if err != nil {
		return nil, err
	}
	db, err := a.ownDatabase(a.ctx, c.databaseFlags, log)
	if err != nil {
		return nil, err
	}
	background, cancel := context.WithCancel(context.WithoutCancel(a.ctx))
	s := &started{log: log, database: db, cancel: cancel}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop(time.Second))
		}
	}()
	if err := db.migrate(a.ctx, log); err != nil {
		return nil, err
	}
	pool := db.pool
	var clock gateway.Clock
	if err := clock.Measure(a.ctx, pool); err != nil {
		return nil, err
	}

	guard, err := c.guard()
	if err != nil {
		return nil, err
	}
	store := &partners.Store{Pool: pool, Now: clock.Now, Refuses: guard.Refuse}
	directory := &partners.Directory{Store: store, Log: log}
	if err := directory.Load(a.ctx); err != nil {
		return nil, err
	}
	people := &accounts.Store{Pool: pool, Now: clock.Now}
	s.admin = &administration{pool: pool, partners: store, accounts: people, directory: directory, log: log, clock: &clock, ring: &keys.Ring{Store: &keys.Store{Pool: pool, Master: master, Now: clock.Now}, Log: log}}
	if err := s.admin.ring.Load(a.ctx); err != nil {
		return nil, err
	}
	for _, told := range a.exposedSecrets() {
		log.Warn("a secret can be read by others", "what", told)
	}

	registry := prometheus.NewRegistry()
	metrics, err := gateway.NewMetrics(registry, programVersion())
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), poolCollector{pool}, certificateCollector{directory.Partners, clock.Now},
		keyCollector{s.admin.ring.Store.List, clock.Now, func(err error) { log.Warn("metrics of our keys are missing", "err", err) }},
		habitCollector{habits.Store{Pool: pool}, directory.Partners, func(err error) { log.Warn("metrics of partners' habits are missing", "err", err) }},
		workCollector{pool, func(err error) { log.Warn("metrics of deferred work are missing", "err", err) }})

	s.later = &journal.Batch{Pool: pool, Log: log, Also: gateway.LastDeliveries}
	s.later.Start()
	spool := &gateway.Spool{Dir: c.SpoolDir, Cap: c.SpoolCap, Gauge: metrics.SpoolBytes}
	g := &gateway.Gateway{
		Pool: pool, Spool: spool, Notices: db.notices, Formats: formats(tables), Handlers: documents.Handlers(), Log: log,
		Sender: directory.BySender, MaySpeakFor: directory.MaySpeakFor, IsOurs: directory.IsOurs, ConfigRevision: func() int32 { return int32(directory.Counter()) },
		Partner: directory.Partner, Audit: s.admin.recordAct, Numbers: &journal.Numbers{Pool: pool}, Later: s.later, Now: clock.Now, SpoolDir: c.SpoolDir, Recent: recentBytes, NewID: clock.NewID,
	}
	in := &httpin.Handler{
		ByToken: directory.ByToken, ByCertificate: directory.ByCertificate, Client: proxies.Of, Partner: directory.Partner, Receive: g.Receive, Admit: g.Admit, Reserve: g.Reserve,
		Spool:  spool,
		Limits: httpin.Limits{MaxBody: c.MaxBody}, Metrics: metrics, Now: clock.Now, Log: log,
	}
	ring := keyring{s.admin.ring, clock.Now}
	ebms := &as4.Handler{
		ByParties: directory.ByAS4, Signers: ring.as4Signers, Decrypters: ring.as4Decrypters, Client: proxies.Of, Receive: g.Receive, Admit: g.AdmitUnproved, Reserve: g.ReserveUnproved,
		Spool: spool, Limits: as4.Limits{MaxBody: c.MaxBody}, Metrics: metrics, Now: clock.Now, NewID: clock.NewID, Log: log,
	}
	over := overAS2(c, g, directory, s.admin.ring, proxies, &clock, metrics, s)
	ingress := httpin.Routes(in)
	ingress.Handle(as2Path, over)
	ingress.Method(http.MethodPost, "/as4", ebms)
	registry.MustRegister(g)
	if err := s.preparePurge(c.purgeFlags, g, registry); err != nil {
		return nil, err
	}
	api := &web.API{
		Accounts: people, Partners: store, Inbox: dedup.Inbox{Pool: pool}, Alerts: dedup.Alerts{Pool: pool},
		Journal: journal.Reader{Pool: pool}, Documents: documents.Store{Pool: pool}, Effects: outbox.Effects{Pool: pool}, Feed: outbox.Feed{Pool: pool}, Outgoing: outbox.Outgoing{Pool: pool}, Acknowledgements: outbox.Acknowledgements{Pool: pool},
		Subscriptions: outbox.Subscriptions{Pool: pool}, Change: s.admin.change, RefuseTarget: guard.RefuseSpec, Jobs: dedup.Jobs{Pool: pool}, Gateway: g,
		Habits: habits.Store{Pool: pool}, DismissGap: func(p *partners.Partner, id uuid.UUID, person, reason string) outbox.Change {
			return habits.Dismiss(p, id, person, reason, clock.Now(), clock.NewID())
		},
		Front: s.front(c, &keys.Store{Pool: pool, Master: &keys.Master{}}),
		Apply: s.admin.apply, PatchPartner: s.admin.patchPartner, RestorePartner: s.admin.restorePartner, Foresee: foresees(g, clock.Now), TryAS2: triesAS2(over, store, g), IssueToken: s.admin.issueToken, RevokeToken: s.admin.revokeToken, Report: s.admin.report, BeginImport: s.admin.beginImport, ImportRows: s.admin.importRows, SignEvidence: s.admin.signEvidence, Record: s.admin.record, Purger: s.purging.Purger, Purge: s.purge, Compare: compareTexts,
		Checks: append(checks(db), web.Check{Name: "writes", Run: g.Failing}, web.Check{Name: "private keys", Run: s.admin.ring.Check, Only: true}), Metrics: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), Version: programVersion(), Log: log,
	}

	if err := s.prepareOutgoing(a.ctx, c.outgoingFlags, registry); err != nil {
		return nil, err
	}
	if err := s.prepareWork(c.workFlags, g); err != nil {
		return nil, err
	}
	if err := s.prepareSubscriptions(a, c.subscribeFlags, c.workFlags, guard, directory, &clock, registry); err != nil {
		return nil, err
	}
	if waiting := handingOver(directory.Partners()); c.HandOverDir == "" && len(waiting) > 0 {
		log.Warn("this process hands no documents over: another has to, with --hand-over-dir", "partners", waiting)
	}
	go clock.Run(background, pool)
	go directory.Watch(background)
	go s.admin.ring.Watch(background)
	go makePartitions(background, db, log)
	go watchOutgoing(background, pool, log)
	go expiryWatch{pool, directory.Partners, s.admin.ring.Store.List, clock.Now, clock.NewID, log}.run(background)
	go g.KeepReleasing(background)
	go (&habits.Watcher{Pool: pool, Partners: directory.Partners, Now: clock.Now, NewID: clock.NewID, Log: log}).Run(background)
	if err := s.listen(background, c.listenFlags, withFaults(a, g, ingress), api.Handler()); err != nil {
		return nil, err
	}
	if err := s.leaveAccess(a, people); err != nil {
		return nil, err
	}
	go s.keepAccess(background, localAccessFile(a.grammar.DataDir), people)
	s.startWork()
	go s.purging.run(background)
	return s, nil
}

// stop ends everything in the order in which one part needs another.
func (s *started) stop(within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	err := errors.Join(s.ingress.stop(ctx), s.operations.stop(ctx))
	s.stopWork(ctx)
	s.purging.stop()
	s.cancel()
	if s.later != nil {
		s.later.Stop()
	}
	return errors.Join(err, s.database.close(context.Background()))
}

// checks are what /readyz asks.
func checks(db *database) []web.Check {
	return []web.Check{
		{Name: "database", Run: db.pool.Ping},
		{Name: "schema", Run: func(ctx context.Context) error {
			have, want, err := migrations.Version(ctx, db.pool)
			if err == nil && have < want {
				err = fmt.Errorf("version %d, this program needs %d: run `edigw migrate`", have, want)
			}
			return err
		}},
		{Name: "durability", Run: func(ctx context.Context) error { return durable(ctx, db.pool) }},
		mayLeave(db.pool),
	}
}

// makePartitions makes those of the coming months, daily: one that is missing
// does not stop receipt, but its rows have to be moved later. Effects that are done
// go with the month of their event, at the start too: a process may never live for a day.
func makePartitions(ctx context.Context, db *database, log *slog.Logger) {
	t := time.NewTicker(24 * time.Hour)
	defer t.Stop()
	for {
		if err := migrations.IndexPartitions(ctx, db.pool); err != nil && ctx.Err() == nil {
			log.Error("what earlier months hold is read slowly; it is tried again tomorrow, and at the next start", "err", err)
		}
		if _, err := (outbox.Effects{Pool: db.pool}).Forget(ctx); err != nil && ctx.Err() == nil {
			log.Error("effects that are done were not forgotten", "err", err)
		}
		if _, err := (outbox.Subscriptions{Pool: db.pool}).ForgetAttempts(ctx); err != nil && ctx.Err() == nil {
			log.Error("the delivery log of events was not shortened", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if err := journal.EnsurePartitions(ctx, db.pool, monthly...); err != nil && ctx.Err() == nil {
			log.Error("partitions of the coming months were not made", "err", err)
		}
	}
}
