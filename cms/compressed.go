package cms

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"math"
)

// Compressed is a CompressedData that was read: RFC 3274, RFC 5402. It lies in the
// bytes that it was read from.
type Compressed struct {
	Type Kind // of the content; "" is one that is not known here
	Size int  // compressed, in bytes

	content  Octets
	measured int64 // what it is decompressed, 0 for not known
}

// ParseCompressed reads a CompressedData. The error wraps ErrMalformed, ErrLimit or
// ErrUnsupported.
func ParseCompressed(der []byte, l Limits) (*Compressed, error) {
	c := &Compressed{}
	if err := open(der, l, "CompressedData", c.read, oidCompressed); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Compressed) read(r *reader) error {
	if _, err := r.primitive(tagInteger); err != nil { // version
		return err
	}
	a, err := r.algorithm()
	if err != nil {
		return err
	}
	if !a.is(oidZlib) {
		return fmt.Errorf("%w: the compression %s", ErrUnsupported, dotted(a.id))
	}
	if err := r.enter(tagSequence); err != nil {
		return err
	}
	id, err := r.primitive(tagOID)
	if err != nil {
		return err
	}
	c.Type = kindOf(id)
	if !r.more() {
		return fmt.Errorf("%w: compressed content that stands outside", ErrUnsupported)
	}
	if err := r.enter(tagged(0)); err != nil {
		return err
	}
	if c.content, err = r.octets(tagOctetString); err != nil {
		return err
	}
	c.Size = c.content.Size()
	if err := r.leave(); err != nil {
		return err
	}
	return r.leave()
}

// twice is the compressed size from which on the content is measured before it is
// kept, so that it stands in memory once.
const twice = 1 << 20

// Measure gives the size of the content, of most bytes at most, and keeps none of it. Its
// errors are those of Decompress.
func (c *Compressed) Measure(most int64) (size int64, err error) {
	if size, err = c.inflate(io.Discard, most); err == nil {
		c.measured = size
	}
	return size, err
}

// Decompress gives the content, of most bytes at most. The error wraps ErrLimit
// where there are more, and ErrDecompress where the content is broken: a checksum
// that does not hold, RFC 1950 §2.2, an end that is missing. What stands behind the
// end is nothing.
func (c *Compressed) Decompress(most int64) ([]byte, error) {
	// A guess that the compressed bytes pay for: most EDI shrinks to a fifth or less.
	size := max(0, min(int64(c.Size)*4, most))
	if c.measured == 0 && c.Size >= twice {
		if _, err := c.Measure(most); err != nil {
			return nil, err
		}
	}
	switch {
	case c.measured > most:
		return nil, c.tooLong(most)
	case c.measured > 0:
		size = c.measured
	}
	out := bytes.NewBuffer(make([]byte, 0, int(size)+bytes.MinRead))
	if _, err := c.inflate(out, most); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// inflate writes the content to w, and gives its size.
func (c *Compressed) inflate(w io.Writer, most int64) (int64, error) {
	z, err := zlib.NewReader(c.content.reader())
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrDecompress, err)
	}
	n, err := io.Copy(w, io.LimitReader(z, min(most, math.MaxInt64-1)+1))
	switch {
	case n > most:
		return n, c.tooLong(most)
	case err != nil:
		return n, fmt.Errorf("%w: byte %d: %w", ErrDecompress, n, err)
	}
	if err := z.Close(); err != nil {
		return n, fmt.Errorf("%w: %w", ErrDecompress, err)
	}
	return n, nil
}

func (c *Compressed) tooLong(most int64) error {
	return fmt.Errorf("%w: %d bytes become more than %d", ErrLimit, c.Size, most)
}

// Compress makes a CompressedData in DER.
func Compress(content []byte) ([]byte, error) {
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, err := w.Write(content)
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	text := packed.Bytes()
	octets := appendHeader(nil, byte(tagOctetString), len(text))
	inner := appendHeader(nil, byte(contextSpecific)|constructed, len(octets)+len(text))
	kind := element(byte(tagOID), oidData)
	head := appendHeader(nil, byte(tagSequence)|constructed, len(kind)+len(inner)+len(octets)+len(text))
	return contentInfo(oidCompressed, integer(0), sequence(element(byte(tagOID), oidZlib)), head, kind, inner, octets, text), nil
}
