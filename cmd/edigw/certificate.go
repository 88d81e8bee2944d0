package main

import (
	"crypto/tls"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// certificateEvery is how often the files of a certificate are looked at, at
// most: when somebody connects.
const certificateEvery = time.Second

// certificate is that of a server, read again when its files change. While they
// cannot be read, or do not belong together, the last good one stays.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger
	now               func() time.Time
	stat              func(name string) (fs.FileInfo, error)

	current atomic.Pointer[tls.Certificate]
	looked  atomic.Int64 // when the files were looked at, Unix nanoseconds

	mu     sync.Mutex // of who looks at the files
	stamp  string     // of the files that current is from
	failed string     // stamp of those that could not be taken, told once
}

// loadCertificate reads a certificate and its key for the first time.
func loadCertificate(certFile, keyFile string, log *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log, now: time.Now, stat: os.Stat}
	c.looked.Store(c.now().UnixNano())
	if err := c.load(); err != nil {
		return nil, err
	}
	return c, nil
}

// get is tls.Config.GetCertificate. One handshake looks at the files; the others go
// on with what there is, however long a file system takes.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if c.due() && c.mu.TryLock() {
		defer c.mu.Unlock()
		if c.due() { // the one before may have looked
			c.looked.Store(c.now().UnixNano())
			c.look()
		}
	}
	return c.current.Load(), nil
}

func (c *certificate) due() bool {
	return c.now().UnixNano()-c.looked.Load() >= int64(certificateEvery)
}

// readAgain looks whether the files have changed.
func (c *certificate) readAgain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looked.Store(c.now().UnixNano())
	c.look()
}

func (c *certificate) look() {
	stamp := c.stampNow()
	if stamp == c.stamp {
		return
	}
	// Tools write the two files one after the other: what does not fit now may in
	// a second, under the same stamp or the next.
	if err := c.load(); err != nil {
		if stamp != c.failed {
			c.failed = stamp
			c.log.Error("the changed certificate cannot be used; the one before stays", "error", err)
		}
		return
	}
	c.log.Info("certificate read again", "file", c.certFile, "valid_until", c.current.Load().Leaf.NotAfter)
}

// load reads both files. The stamp is taken first, so that a change meanwhile is
// seen as one.
func (c *certificate) load() error {
	stamp := c.stampNow()
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("read certificate %s with key %s: %w", c.certFile, c.keyFile, err)
	}
	c.current.Store(&pair)
	c.stamp, c.failed = stamp, ""
	return nil
}

// stampNow tells one state of the files from another. A file that is not there
// is a state, too.
func (c *certificate) stampNow() string {
	stamp := ""
	for _, name := range []string{c.certFile, c.keyFile} {
		if st, err := c.stat(name); err == nil {
			stamp += fmt.Sprintf("%d %d ", st.ModTime().UnixNano(), st.Size())
		} else {
			stamp += "none "
		}
	}
	return stamp
}
