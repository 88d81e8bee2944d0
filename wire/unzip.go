package wire

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// What is wrong with something compressed, as errors.Is finds it.
var (
	ErrNotGzip = errors.New("it is not gzip, or was cut")
	ErrRatio   = errors.New("it decompresses to too many times its size")
)

// freeRatio are the decompressed bytes for which no ratio is asked.
const freeRatio = 16 << 20

// Unzip decompresses gzip (RFC 1952) as it comes, and stops where too few bytes become too
// many. Errors of what it reads from are given as they are.
type Unzip struct {
	From  io.Reader
	Ratio int64 // decompressed bytes for each compressed one, beyond the first 16 MiB

	zip    *gzip.Reader
	read   int64 // compressed
	made   int64
	failed error // of From
}

// Size is how many compressed bytes were read so far.
func (u *Unzip) Size() int64 { return u.read }

// Read implements io.Reader.
func (u *Unzip) Read(b []byte) (int, error) {
	if u.zip == nil {
		zip, err := gzip.NewReader((*compressed)(u))
		if err != nil {
			return 0, u.broken(err)
		}
		u.zip = zip
	}
	n, err := u.zip.Read(b)
	u.made += int64(n)
	if u.made > freeRatio && u.made/u.Ratio > u.read {
		return n, ErrRatio
	}
	if err != nil && err != io.EOF {
		return n, u.broken(err)
	}
	return n, err
}

func (u *Unzip) broken(err error) error {
	if u.failed != nil {
		return u.failed
	}
	return fmt.Errorf("%w: %w", ErrNotGzip, err)
}

// compressed is what an Unzip reads from.
type compressed Unzip

// Read implements io.Reader.
func (c *compressed) Read(b []byte) (int, error) {
	n, err := c.From.Read(b)
	c.read += int64(n)
	if err != nil && err != io.EOF {
		c.failed = err
	}
	return n, err
}
