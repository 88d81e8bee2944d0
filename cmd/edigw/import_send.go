package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/edigw/edigw/gateway"
)

// What is sent of a file at a time: rows, and bytes of JSON, below what the
// gateway takes.
const (
	importRowsAtATime  = gateway.MaxImportRows
	importBytesAtATime = 3 << 20
)

// importSender sends the rows of a file that are not done yet.
type importSender struct {
	app        *app
	api        *client
	connection connection
	rows       *rowFile
	at         importState // as the gateway last told it
	keepFaults bool
	progress   *progress

	read int64 // rows of the file that were read
}

// importPatience is how long a gateway that does not answer is asked again,
// before the run ends: the next one goes on where it stopped.
var importPatience = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 15 * time.Second}

// begin has the gateway note the file, or say how far it is. The request of a run
// that was broken off may still hold the import, so it asks as long as send does; but
// where no gateway answers nothing has begun yet, and nobody is kept waiting.
func (s *importSender) begin(asked any) error {
	for try := 0; ; try++ {
		_, err := s.api.ask(s.app, http.MethodPost, "/imports", nil, asked, &s.at)
		var p *problem
		if err == nil || !errors.As(err, &p) || !s.again(err, try) {
			return err
		}
	}
}

// all sends until the file ends.
func (s *importSender) all() error {
	s.progress.word = "faulty"
	defer s.progress.end()
	for s.read < s.at.Rows {
		if _, _, err := s.rows.next(); err != nil {
			return s.shorter(err)
		}
		s.read++
	}
	s.progress.skip(int(s.at.Rows))
	var faults []gateway.ImportFault
	for s.at.Finished == nil {
		chunk, lines, err := s.chunk()
		if err != nil {
			return err
		}
		before := s.at
		if err := s.send(chunk); err != nil {
			return err
		}
		for _, f := range s.at.Faults {
			s.tell(f, lines[f.Row-chunk.First])
		}
		if s.keepFaults {
			faults = append(faults, s.at.Faults...)
		}
		s.progress.advance(int(s.at.Rows-before.Rows), int(s.at.Faulty-before.Faulty))
	}
	s.at.Faults = faults
	return nil
}

// shorter: the file ended, or could not be read, before the row that is next.
func (s *importSender) shorter(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("the import of this file is at row %d, and the file has %d: was it changed while it was read?", s.at.Rows, s.read)
	}
	return err
}

// chunkOfRows is the body of one call.
type chunkOfRows struct {
	First int64             `json:"first_row"`
	Rows  []json.RawMessage `json:"rows"`
	Last  bool              `json:"last"`
}

// chunk reads the next rows, and the lines in which they begin.
func (s *importSender) chunk() (c chunkOfRows, lines []int, err error) {
	c = chunkOfRows{First: s.read + 1, Rows: []json.RawMessage{}}
	for size := 0; len(c.Rows) < importRowsAtATime && size < importBytesAtATime; {
		row, line, err := s.rows.next()
		if errors.Is(err, io.EOF) {
			c.Last = true
			break
		}
		if err != nil {
			return c, nil, err
		}
		text, err := json.Marshal(row)
		if err != nil {
			return c, nil, err
		}
		if len(text) > maxRowBytes {
			row = gateway.ImportRow{Unread: fmt.Sprintf("has %d bytes; that is no row of keys", len(text))}
			if text, err = json.Marshal(row); err != nil {
				return c, nil, err
			}
		}
		c.Rows, lines = append(c.Rows, text), append(lines, line)
		size += len(text) + 1
		s.read++
	}
	return c, lines, nil
}

// maxRowBytes of one row are more than all its columns hold.
const maxRowBytes = 32 << 10

// send has the gateway take a chunk. An answer that was lost is asked for again:
// that the import is behind the chunk says that it was taken.
func (s *importSender) send(c chunkOfRows) error {
	body, err := json.Marshal(c)
	if err != nil {
		return err
	}
	end := c.First + int64(len(c.Rows)) - 1
	for try := 0; ; try++ {
		s.at.Faults = nil
		_, err = s.api.answer(s.app, http.MethodPost, "/imports/"+s.at.ID+"/rows", nil, "application/json", bytes.NewReader(body), &s.at)
		var p *problem
		switch {
		case err == nil:
			return nil
		case errors.As(err, &p) && p.is("not-the-next-row"):
			if _, err := s.api.ask(s.app, http.MethodGet, "/imports/"+s.at.ID, nil, nil, &s.at); err != nil {
				return err
			}
			if s.at.Rows == end && (s.at.Finished != nil) == c.Last {
				s.app.progress("rows %d to %d had been taken, and the answer lost: what was faulty in them is counted, not shown", c.First, end)
				return nil
			}
			return fmt.Errorf("another run imports this file: it is at row %d; wait for its end, then run this again", s.at.Rows)
		case !s.again(err, try):
			return fmt.Errorf("%w; rows up to %d are done: run this again, it goes on there", err, s.at.Rows)
		}
	}
}

// again waits before the gateway is asked once more, if that may help: it was busy,
// not ready or not there.
func (s *importSender) again(err error, try int) bool {
	var p *problem
	if errors.As(err, &p) && !p.is("busy") && !p.is("unavailable") || s.app.ctx.Err() != nil || try == len(importPatience) {
		return false
	}
	s.app.progress("%v; trying again in %s", err, importPatience[try])
	select {
	case <-time.After(importPatience[try]):
	case <-s.app.ctx.Done():
		return false
	}
	if api, err := s.app.client(s.connection); err == nil { // a gateway that was started anew may be elsewhere
		s.api = api
	}
	return true
}

// tell says on standard error what is wrong with a row, as compilers do.
func (s *importSender) tell(f gateway.ImportFault, line int) {
	column := ""
	if f.Column != "" {
		column = f.Column + ": "
	}
	s.app.progress("%s:%d: %s%s", s.rows.name, line, column, printable(f.Detail))
}
