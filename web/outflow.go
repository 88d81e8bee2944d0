package web

import (
	"net/http"
	"time"
)

// outflow writes an answer of any length, and begins it with the first byte: what goes
// wrong before that is told as a problem. Whoever takes it has the pace for each
// paceBytes, and no longer: it holds memory here.
type outflow struct {
	w     http.ResponseWriter
	pace  time.Duration
	begin func() // sets the header

	begun bool
	bytes int64
	err   error // why nobody takes it any more
}

// Write implements io.Writer.
func (o *outflow) Write(b []byte) (written int, err error) {
	if !o.begun {
		o.begun = true
		o.begin()
	}
	control := http.NewResponseController(o.w)
	for written < len(b) && o.err == nil {
		_ = control.SetWriteDeadline(time.Now().Add(o.pace)) // the connection is gone, which the write will find
		var n int
		n, o.err = o.w.Write(b[written:min(len(b), written+paceBytes)])
		written += n
	}
	o.bytes += int64(written)
	return written, o.err
}

// open begins the answer though there is nothing to write yet, and has what was written
// leave now.
func (o *outflow) open() error {
	if !o.begun {
		o.begun = true
		o.begin()
		o.w.WriteHeader(http.StatusOK)
	}
	if o.err == nil {
		_ = http.NewResponseController(o.w).SetWriteDeadline(time.Now().Add(o.pace)) // the connection is gone, which the flush will find
		o.err = http.NewResponseController(o.w).Flush()
	}
	return o.err
}

// end takes the deadline away: it would stand over the next request of the connection.
func (o *outflow) end() error {
	if err := o.open(); err != nil {
		return err
	}
	_ = http.NewResponseController(o.w).SetWriteDeadline(time.Time{}) // the connection is gone, or has none
	return nil
}
