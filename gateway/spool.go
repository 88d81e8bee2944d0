package gateway

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/partners"
)

// What Spool.Take says of a payload it does not take in.
var (
	ErrTooLarge   = errors.New("the payload is larger than its limit")
	ErrSpoolFull  = errors.New("the spool is full")
	ErrSpoolShare = errors.New("the partner's share of the spool is full")
)

// Spool takes payloads in, bounded: small ones into memory, large ones into
// files without a name, so that nothing is left behind by a process that dies.
// One Spool serves all transports, its cap is for all of them together, and of it
// each partner has its share. The zero value works.
type Spool struct {
	Dir       string           // of the files; "" is the system's folder for temporary files
	Threshold int64            // bytes kept in memory; 0 is 1 MiB
	Cap       int64            // bytes in all files together; 0 is 8 GiB
	Gauge     prometheus.Gauge // of the bytes in files; nil for none

	used     atomic.Int64
	unproved Crowd // in files, by their bytes, of deliveries whose sender is not proved

	mu sync.Mutex
	by map[string]*spoolShare // of partners that have files
}

// spoolShare is what one partner has in files.
type spoolShare struct {
	files int
	bytes int64
}

// Defaults of a Spool.
const (
	DefaultSpoolThreshold = 1 << 20
	DefaultSpoolCap       = 8 << 30
)

// Spooled is a payload taken in, with what was learned on the way. It has to be
// closed, also if the payload is in memory.
type Spooled struct {
	Payload *edi.Payload
	SHA256  [32]byte
	Blank   bool // nothing, or nothing but white space

	spool *Spool
	of    *partners.Partner // whose share it is in; nil: nobody's
	guest *Guest            // whose share it is in while its sender is not proved; else nil
	file  int64             // bytes reserved
	open  bool              // the file counts among the partner's

	beside []*Spooled // of the same delivery
}

// Take reads r, which partner p sends, to its end; p is nil where nobody else
// does. expect is how long r says it is, -1 if it does not; limit is the longest
// that is taken. It gives ErrTooLarge, ErrSpoolFull or ErrSpoolShare, before
// anything is read if expect tells; an error of r as it is; any other error is the
// disk's. A partner's only delivery may be as large as the cap: beside are what was
// taken in of the same one, such as its other parts, which share its room. One that is
// alone and does not fit would else be told to come again for ever.
func (s *Spool) Take(p *partners.Partner, r io.Reader, expect, limit int64, beside ...*Spooled) (*Spooled, error) {
	in := &Spooled{spool: s, of: p, Blank: true, beside: beside}
	if err := in.take(r, expect, limit); err != nil {
		return nil, err
	}
	return in, nil
}

// take reads r to its end.
func (in *Spooled) take(r io.Reader, expect, limit int64) error {
	if expect > limit {
		return ErrTooLarge
	}
	s := in.spool
	threshold := orDefault(s.Threshold, DefaultSpoolThreshold)
	if expect > threshold && s.used.Load()+expect > orDefault(s.Cap, DefaultSpoolCap) {
		return ErrSpoolFull
	}
	if expect > threshold && in.overShare(expect) {
		return ErrSpoolShare
	}
	buf, err := readUpTo(r, expect, min(threshold, limit)+1)
	if int64(len(buf)) > limit {
		return ErrTooLarge
	}
	if err != nil && err != io.EOF {
		return err
	}
	in.Blank = blank(buf)
	if err == io.EOF && int64(len(buf)) <= threshold {
		in.SHA256 = sha256.Sum256(buf)
		in.Payload = edi.Bytes(buf).Hashed(in.SHA256)
		return nil
	}
	if err := in.spoolRest(buf, r, limit); err != nil {
		in.release()
		return err
	}
	return nil
}

// enter lets a delivery in, of which nobody knows yet whether p sends it: all of these
// have half of the cap, and p's share of that is for those who use its name.
func (s *Spool) enter(p *partners.Partner, address string) *Guest {
	half := int(orDefault(s.Cap, DefaultSpoolCap) / 2)
	u := s.unproved.Enter(p, address, int64(shareOf(p, half)), int64(half))
	u.alone = true
	return u
}

// belongTo makes the payload one of p's, who is proved to have sent it.
func (in *Spooled) belongTo(p *partners.Partner) {
	in.guest, in.of = nil, p
	if in.file > 0 {
		in.count(in.file)
	}
}

// Close lets the payload go, and its share of the cap.
func (in *Spooled) Close() error {
	err := in.Payload.Close()
	in.release()
	return err
}

// readUpTo reads until the end of r, with io.EOF, or until most bytes are read.
// The first buffer believes expect only up to 64 KiB.
func readUpTo(r io.Reader, expect, most int64) ([]byte, error) {
	first := int64(4 << 10)
	if expect >= 0 {
		first = min(expect+1, 64<<10)
	}
	buf := make([]byte, 0, min(first, most))
	for int64(len(buf)) < most {
		if len(buf) == cap(buf) {
			bigger := make([]byte, len(buf), min(int64(cap(buf))*4, most))
			copy(bigger, buf)
			buf = bigger
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// chunks are the buffers between the network and the disk.
var chunks = sync.Pool{New: func() any { return new([64 << 10]byte) }}

func (in *Spooled) spoolRest(head []byte, r io.Reader, limit int64) (err error) {
	f, err := unnamed(in.spool.Dir)
	if err != nil {
		return fmt.Errorf("make spool file: %w", err)
	}
	defer func() {
		if err != nil {
			_ = f.Close() // it has no name: what was written is gone with it
		}
	}()
	hash := sha256.New()
	write := func(b []byte) error {
		in.Blank = in.Blank && blank(b)
		if err := in.reserve(int64(len(b))); err != nil {
			return err
		}
		hash.Write(b)
		if _, err := f.Write(b); err != nil {
			return fmt.Errorf("write spool file: %w", err)
		}
		return nil
	}
	if err := write(head); err != nil {
		return err
	}
	chunk := chunks.Get().(*[64 << 10]byte)
	defer chunks.Put(chunk)
	for {
		n, readErr := r.Read(chunk[:])
		if in.file+int64(n) > limit {
			return ErrTooLarge
		}
		if n > 0 {
			if err := write(chunk[:n]); err != nil {
				return err
			}
		}
		if readErr == io.EOF {
			break
		}
		if readErr != nil {
			return readErr
		}
	}
	hash.Sum(in.SHA256[:0])
	in.Payload = edi.File(f, in.file).Hashed(in.SHA256)
	return nil
}

func (in *Spooled) reserve(n int64) error {
	if in.overShare(n) || in.guest != nil && !in.guest.Take(n) {
		return ErrSpoolShare
	}
	if in.spool.used.Add(n) > orDefault(in.spool.Cap, DefaultSpoolCap) {
		in.spool.used.Add(-n)
		return ErrSpoolFull
	}
	in.count(n)
	in.file += n
	if in.spool.Gauge != nil {
		in.spool.Gauge.Add(float64(n))
	}
	return nil
}

// overShare reports whether n more bytes are more than the partner's share. Who
// has files of no other delivery may fill the spool.
func (in *Spooled) overShare(n int64) bool {
	if in.of == nil {
		return false
	}
	s := in.spool
	s.mu.Lock()
	defer s.mu.Unlock()
	has := s.by[in.of.ID]
	if has == nil {
		return false
	}
	others := has.files
	for _, mine := range append([]*Spooled{in}, in.beside...) {
		if mine.open && mine.of == in.of {
			others--
		}
	}
	if others <= 0 {
		return false
	}
	return has.bytes+n > int64(shareOf(in.of, int(orDefault(s.Cap, DefaultSpoolCap))))
}

// count adds n bytes, below zero all there are, to what the partner has.
func (in *Spooled) count(n int64) {
	if in.of == nil {
		return
	}
	s := in.spool
	s.mu.Lock()
	defer s.mu.Unlock()
	has := s.by[in.of.ID]
	if has == nil {
		has = &spoolShare{}
		if s.by == nil {
			s.by = map[string]*spoolShare{}
		}
		s.by[in.of.ID] = has
	}
	has.bytes += n
	switch {
	case n < 0:
		has.files, in.open = has.files-1, false
	case !in.open:
		has.files, in.open = has.files+1, true
	}
	if has.files == 0 {
		delete(s.by, in.of.ID)
	}
}

func (in *Spooled) release() {
	if in.file == 0 {
		return
	}
	in.count(-in.file)
	in.spool.used.Add(-in.file)
	if in.spool.Gauge != nil {
		in.spool.Gauge.Sub(float64(in.file))
	}
	in.file = 0
}

// createAndUnlink makes a file and takes its name away at once.
func createAndUnlink(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "edigw-spool-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func blank(b []byte) bool {
	for _, c := range b {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return false
		}
	}
	return true
}

func orDefault(n, d int64) int64 {
	if n == 0 {
		return d
	}
	return n
}
