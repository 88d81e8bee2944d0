package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/gateway"
)

// beginImport notes a file of keys; one that goes on where it stopped is no act of
// its own.
func (s *administration) beginImport(ctx context.Context, by accounts.Identity, im dedup.Import, again bool) (begun dedup.Import, opened bool, err error) {
	im.ID, im.Person, im.Started = s.clock.NewID(), by.Person, s.clock.Now()
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if begun, opened, err = dedup.BeginImportTx(ctx, tx, im, again); err != nil || !opened {
			return err
		}
		return s.auditImport(ctx, tx, by, "import.started", begun)
	})
	return begun, opened, err
}

// importRows imports the next rows of a file.
func (s *administration) importRows(ctx context.Context, by accounts.Identity, id uuid.UUID, rows gateway.ImportRows) (im dedup.Import, faults []gateway.ImportFault, err error) {
	importer := gateway.Importer{Partner: s.directory.Partner, Now: s.clock.Now}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if im, faults, err = importer.ImportTx(ctx, tx, id, rows); err != nil || im.Finished.IsZero() {
			return err
		}
		return s.auditImport(ctx, tx, by, "import.finished", im)
	})
	return im, faults, err
}

func (s *administration) auditImport(ctx context.Context, tx pgx.Tx, by accounts.Identity, action string, im dedup.Import) error {
	detail, err := json.Marshal(struct {
		Name   string `json:"name"`
		SHA256 string `json:"file_sha256"`
		DryRun bool   `json:"dry_run"`
		Rows   int64  `json:"rows_done"`
		dedup.ImportCounts
	}{im.Name, fmt.Sprintf("%x", im.FileSHA256), im.DryRun, im.Rows, im.Counts})
	if err != nil {
		return err
	}
	return s.accounts.Audit(ctx, tx, accounts.Entry{Who: by.Person, Role: by.Role, Action: action, Subject: im.ID.String(), Detail: detail})
}
