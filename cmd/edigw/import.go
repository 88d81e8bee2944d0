package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/gateway"
)

// importCommand takes over what a former gateway has processed.
type importCommand struct {
	Keys importKeys `cmd:"" help:"Import ids, control references and document numbers that a former gateway has processed, so that none is processed again."`
	List importList `cmd:"" help:"Imports, the latest first."`
}

type importKeys struct {
	File   string `arg:"" help:"A CSV file whose first line names its columns, or - for standard input."`
	DryRun bool   `name:"dry-run" help:"Say what would become of each row; nothing is imported."`
	Again  bool   `help:"Read a file that is imported already once more, after settings were mended."`
	Output string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	connection
}

// importState is an import as the API tells it.
type importState struct {
	ID       string     `json:"import_id"`
	Name     string     `json:"name"`
	SHA256   string     `json:"file_sha256"`
	Person   string     `json:"person"`
	DryRun   bool       `json:"dry_run"`
	Started  time.Time  `json:"started_at"`
	Finished *time.Time `json:"finished_at,omitempty"`
	Rows     int64      `json:"rows_done"`
	dedup.ImportCounts
	Faults []gateway.ImportFault `json:"faults"` // of this run
}

// Run reads the file twice: for its digest, by which the gateway knows it, and to
// send what is not done yet.
func (c *importKeys) Run(a *app) (err error) {
	p, closeSource, err := a.source(c.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeSource()) }()
	sum, total, err := countRows(c.File, p.Reader(0, p.Size()))
	if err != nil {
		return err
	}
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	name := filepath.Base(c.File)
	if c.File == "-" {
		name = "standard input"
	}
	s := &importSender{app: a, api: api, connection: c.connection, keepFaults: c.Output == "json", progress: a.progressOf(int(total))}
	asked := map[string]any{"name": name, "file_sha256": hex.EncodeToString(sum[:]), "dry_run": c.DryRun, "again": c.Again}
	if err := s.begin(asked); err != nil {
		return err
	}
	im := s.at
	switch {
	case im.Finished != nil:
		a.progress("the file was imported on %s; --again reads it once more", clock(*im.Finished))
	case im.Rows > 0:
		a.progress("going on behind row %d of %d", im.Rows, total)
	}
	if im.Finished == nil {
		if s.rows, err = readRows(c.File, p.Reader(0, p.Size())); err != nil {
			return err
		}
		if err := s.all(); err != nil {
			return err
		}
		im = s.at
	}
	if c.Output == "json" {
		err = a.json(im)
	} else {
		err = c.tell(a, im)
	}
	if err == nil && im.Faulty > 0 {
		return &exit{exitPartly, nil}
	}
	return err
}

func (c *importKeys) tell(a *app, im importState) error {
	did, note := "added", ""
	if c.DryRun {
		did, note = "would be added", ": nothing was imported"
	}
	rows := [][]string{
		{strconv.FormatInt(im.Added, 10), did},
		{strconv.FormatInt(im.Known, 10), "known already"},
		{strconv.FormatInt(im.Differs, 10), "known with another digest: they stay as they are"},
		{strconv.FormatInt(im.Expired, 10), "older than the partner's dedup_window: not needed"},
		{strconv.FormatInt(im.Faulty, 10), "faulty: not taken"},
	}
	if err := a.table([]string{"ROWS", fmt.Sprintf("of %d%s", im.Rows, note)}, rows); err != nil {
		return err
	}
	if im.Faulty > 0 && !c.DryRun {
		a.progress("mend the faulty rows and import them from a file of their own, or mend the partner's settings and run this again with --again")
	}
	return nil
}

type importList struct {
	Person string `placeholder:"NAME" help:"Only those that this person began."`
	State  string `placeholder:"WORD" help:"unfinished or finished."`
	SHA256 string `name:"file-sha256" placeholder:"DIGEST" help:"Only of the file with this SHA-256."`
	listing
}

func (c *importList) Run(a *app) error {
	return list(a, c.listing, "/imports", c.filters("person", c.Person, "state", c.State, "file_sha256", c.SHA256), []string{"STARTED", "FILE", "BY", "STATE", "ROWS", "ADDED", "KNOWN", "DIFFERS", "EXPIRED", "FAULTY", "IMPORT"}, func(im importState) []string {
		state := "unfinished"
		if im.Finished != nil {
			state = "finished"
		}
		if im.DryRun {
			state += ", dry run"
		}
		n := func(v int64) string { return strconv.FormatInt(v, 10) }
		return []string{clock(im.Started), im.Name, im.Person, state, n(im.Rows), n(im.Added), n(im.Known), n(im.Differs), n(im.Expired), n(im.Faulty), im.ID}
	})
}
