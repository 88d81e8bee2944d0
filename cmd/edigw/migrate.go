package main

import (
	"errors"
	"strconv"

	"github.com/edigw/edigw/migrations"
)

type migrateCommand struct {
	Status bool   `help:"Only say which migrations the database has."`
	Output string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	databaseFlags
}

// Run migrates, or tells the status; a migration that is missing is a finding
// of --status.
func (c *migrateCommand) Run(a *app) (err error) {
	log := a.logger("text", "info")
	db, err := a.openDatabase(a.ctx, c.databaseFlags, a.logger("text", "warn"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.close(a.ctx)) }()
	if !c.Status {
		if err := db.migrate(a.ctx, log); err != nil {
			return err
		}
	}
	list, err := migrations.Status(a.ctx, db.pool)
	if err != nil {
		return err
	}
	type migration struct {
		Version int64  `json:"version"`
		File    string `json:"file"`
		Applied string `json:"applied_at,omitempty"`
	}
	told := []migration{}
	rows, missing := [][]string{}, 0
	for _, m := range list {
		at := ""
		if m.Applied {
			at = clock(m.AppliedAt)
		} else {
			missing++
		}
		told = append(told, migration{m.Version, m.File, at})
		rows = append(rows, []string{strconv.FormatInt(m.Version, 10), m.File, orDash(at)})
	}
	if c.Output == "json" {
		err = a.json(struct {
			Migrations []migration `json:"migrations"`
		}{told})
	} else {
		err = a.table([]string{"VERSION", "FILE", "APPLIED"}, rows)
	}
	if err == nil && missing > 0 {
		return findings()
	}
	return err
}
