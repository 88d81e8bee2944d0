package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"

	"github.com/edigw/edigw/bench/site"
)

// sent is what came of sending a file.
type sent struct {
	status int
	body   []byte
	bytes  int64 // of the file that had been sent when the answer came
	err    error
}

// send posts a file, and reads the answer while it still sends.
func send(address, path, key string) (s sent) {
	f, err := os.Open(path)
	if err != nil {
		return sent{err: err}
	}
	defer func() { s.err = errors.Join(s.err, f.Close()) }()
	st, err := f.Stat()
	if err != nil {
		return sent{err: err}
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return sent{err: err}
	}
	// Otherwise the kernel takes some megabytes that nobody reads.
	if err := conn.(*net.TCPConn).SetWriteBuffer(64 << 10); err != nil {
		return sent{err: errors.Join(err, conn.Close())}
	}
	var written atomic.Int64
	writing := make(chan error, 1)
	go func() {
		_, err := fmt.Fprintf(conn, "POST /in/%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nIdempotency-Key: \"%s\"\r\nContent-Type: application/EDIFACT\r\nContent-Length: %d\r\n\r\n",
			site.Partner, address, site.Token, key, st.Size())
		if err == nil {
			_, err = io.CopyBuffer(counted{conn, &written}, struct{ io.Reader }{f}, make([]byte, 64<<10))
		}
		writing <- err
	}()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	s.bytes = written.Load()
	if err == nil {
		s.status = response.StatusCode
		s.body, err = io.ReadAll(response.Body)
		err = errors.Join(err, response.Body.Close())
	}
	s.err = errors.Join(err, conn.Close())
	if err := <-writing; err != nil && s.bytes == st.Size() {
		s.err = errors.Join(s.err, err) // one that was refused early cannot be sent to its end
	}
	return s
}

// counted counts what is written.
type counted struct {
	io.Writer
	n *atomic.Int64
}

func (c counted) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.n.Add(int64(n))
	return n, err
}
