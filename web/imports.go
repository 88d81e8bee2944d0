package web

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/gateway"
)

// maxImportRows bounds a chunk of rows, in bytes of JSON.
const maxImportRows = 4 << 20

// importItem is a file of keys of a former gateway, and how far it is imported.
type importItem struct {
	ID       uuid.UUID  `json:"import_id"`
	Name     string     `json:"name"`
	SHA256   string     `json:"file_sha256"`
	Person   string     `json:"person"`
	DryRun   bool       `json:"dry_run"`
	Started  time.Time  `json:"started_at"`
	Finished *time.Time `json:"finished_at,omitempty"`
	Rows     int64      `json:"rows_done"`
	dedup.ImportCounts
}

func importOf(im dedup.Import) importItem {
	item := importItem{ID: im.ID, Name: im.Name, SHA256: hexOf(im.FileSHA256), Person: im.Person, DryRun: im.DryRun, Started: im.Started, Rows: im.Rows, ImportCounts: im.Counts}
	if !im.Finished.IsZero() {
		item.Finished = &im.Finished
	}
	return item
}

var importFilters = append([]Parameter{
	{"person", Text, nil},
	{"state", Text, []string{"unfinished", "finished"}},
	{"file_sha256", Digest, nil},
}, paging...)

// listImports gives imports, the latest first.
func (c *call) listImports() error {
	before, err := c.cursorID()
	if err != nil {
		return err
	}
	list, err := c.api.Inbox.Imports(c.ctx(), dedup.ImportFilter{Person: c.text["person"], State: c.text["state"], FileSHA256: c.digest, Before: before, Limit: c.limit + 1})
	if err != nil {
		return err
	}
	items := make([]importItem, len(list))
	for i, im := range list {
		items[i] = importOf(im)
	}
	return c.reply(http.StatusOK, pageOf(&c.query, items, func(i importItem) string { return i.ID.String() }))
}

func (c *call) showImport() error {
	id, err := c.pathID("import_id")
	if err != nil {
		return err
	}
	im, err := c.api.Inbox.GetImport(c.ctx(), id)
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, importOf(im))
}

// beginImport begins the import of a file, or gives the one that knows it.
func (c *call) beginImport() error {
	var asked struct {
		Name   string `json:"name"`
		SHA256 string `json:"file_sha256"`
		DryRun bool   `json:"dry_run"`
		Again  bool   `json:"again"`
	}
	if err := c.decode(&asked); err != nil {
		return err
	}
	sum, err := hex.DecodeString(asked.SHA256)
	switch {
	case err != nil || len(sum) != 32:
		return &problem{Status: http.StatusUnprocessableEntity, Type: "not-as-asked", Detail: "file_sha256 must be the SHA-256 of the file, 64 hex digits"}
	case asked.Name == "" || utf8.RuneCountInString(asked.Name) > 200 || !printableText(asked.Name):
		return &problem{Status: http.StatusUnprocessableEntity, Type: "not-as-asked", Detail: "name must be the file's name, 1 to 200 printable characters"}
	}
	im, opened, err := c.api.BeginImport(c.ctx(), c.who, dedup.Import{FileSHA256: [32]byte(sum), Name: asked.Name, DryRun: asked.DryRun}, asked.Again)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if opened {
		status = http.StatusCreated
	}
	return c.reply(status, importOf(im))
}

func printableText(s string) bool {
	for _, r := range s {
		if r < 0x20 || r == 0x7f || r == utf8.RuneError {
			return false
		}
	}
	return true
}

// importRows imports the next rows of a file, all of them in one transaction.
func (c *call) importRows() error {
	id, err := c.pathID("import_id")
	if err != nil {
		return err
	}
	var asked struct {
		First int64               `json:"first_row"`
		Rows  []gateway.ImportRow `json:"rows"`
		Last  bool                `json:"last"`
	}
	if err := c.decodeUpTo(maxImportRows, &asked); err != nil {
		return err
	}
	if len(asked.Rows) > gateway.MaxImportRows {
		return &problem{Status: http.StatusUnprocessableEntity, Type: "not-as-asked", Detail: fmt.Sprintf("%d rows are too many at a time: send at most %d", len(asked.Rows), gateway.MaxImportRows)}
	}
	im, faults, err := c.api.ImportRows(c.ctx(), c.who, id, gateway.ImportRows{First: asked.First, Rows: asked.Rows, Last: asked.Last})
	if err != nil {
		return err
	}
	if faults == nil {
		faults = []gateway.ImportFault{}
	}
	return c.reply(http.StatusOK, struct {
		importItem
		Faults []gateway.ImportFault `json:"faults"`
	}{importOf(im), faults})
}
