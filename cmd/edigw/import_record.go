package main

import (
	"errors"
	"io"
)

// maxRecord is how long a row of an import may be, in bytes: far more than its ids and
// numbers take, and far less than the rest of a file behind a quote that is not closed.
const maxRecord = 1 << 20

var errLongRecord = errors.New("the row is longer than 1 MiB; is a quote in it not closed?")

// recordReader gives a csv.Reader, which keeps a record in memory as far as it has read
// it, no more than one record may have.
type recordReader struct {
	in          io.Reader
	read, until int64 // bytes, from the beginning
}

// Read reads up to the bound.
func (r *recordReader) Read(b []byte) (int, error) {
	if r.read >= r.until {
		return 0, errLongRecord
	}
	n, err := r.in.Read(b[:min(int64(len(b)), r.until-r.read)])
	r.read += int64(n)
	return n, err
}
