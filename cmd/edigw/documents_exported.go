package main

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// exported is what an export says of itself: how many documents it has, how many of those
// that were asked for cannot be in it, and behind which document there are more.
type exported struct {
	count, left int
	next        string
}

// untold is of an export whose trailers a proxy kept back.
var untold = exported{count: -1}

// summaryOf gives what export.json says, the last file of a zip of UBL. A zip that is cut
// off is an error.
func summaryOf(r io.ReaderAt, size int64) (told exported, err error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return untold, err
	}
	if len(z.File) == 0 || z.File[len(z.File)-1].Name != "export.json" {
		return untold, errors.New("export.json is not its last file")
	}
	f, err := z.File[len(z.File)-1].Open()
	if err != nil {
		return untold, fmt.Errorf("export.json: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var says struct {
		Files   int    `json:"files"`
		LeftOut int    `json:"left_out"`
		Next    string `json:"next"`
	}
	if err := json.NewDecoder(io.LimitReader(f, 1<<20)).Decode(&says); err != nil {
		return untold, fmt.Errorf("export.json: %w", err)
	}
	return exported{says.Files, says.LeftOut, says.Next}, nil
}
