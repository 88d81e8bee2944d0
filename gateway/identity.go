package gateway

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// identity is what the document guard asks of a message to be posted.
type identity struct {
	guard   [32]byte // documents.Document.GuardKey
	content [32]byte // documents.Document.GuardContent
}

const identitySize = 64 // bytes of an identity in a file

// identities are those of an interchange's messages, in order: in memory, or for
// a large one in a file without a name, since those of a million are 64 MB.
type identities struct {
	kept []identity
	file *os.File
	n    int    // written to file, or still in buf
	buf  []byte // while it is filled: what is not written yet; then a piece that was read
	from int    // the first identity in that piece
}

// spooled keeps identities in a file in dir.
func (x *identities) spooled(dir string) (err error) {
	if x.file, err = unnamed(dir); err != nil {
		return fmt.Errorf("make a file for document identities: %w", err)
	}
	return nil
}

// add appends that of the next message.
func (x *identities) add(id identity) error {
	if x.file == nil {
		x.kept = append(x.kept, id)
		return nil
	}
	x.n++
	x.buf = append(append(x.buf, id.guard[:]...), id.content[:]...)
	if len(x.buf) < 1024*identitySize {
		return nil
	}
	return x.filled()
}

// filled ends the adding.
func (x *identities) filled() error {
	if x.file == nil || len(x.buf) == 0 {
		return nil
	}
	_, err := x.file.Write(x.buf)
	x.buf, x.from = x.buf[:0], x.n
	if err != nil {
		return fmt.Errorf("write document identities: %w", err)
	}
	return nil
}

// at gives that of message i. In ascending order many are read at once.
func (x *identities) at(i int) (id identity, err error) {
	if x.file == nil {
		return x.kept[i], nil
	}
	if last := x.from + len(x.buf)/identitySize; i < x.from || i >= last {
		size := identitySize
		if i == last || i == 0 {
			size = 1024 * identitySize
		}
		if cap(x.buf) < size {
			x.buf = make([]byte, 0, size)
		}
		n, err := x.file.ReadAt(x.buf[:size], int64(i)*identitySize)
		if n < identitySize {
			return id, fmt.Errorf("read document identity %d: %w", i, err)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return id, fmt.Errorf("read document identities: %w", err)
		}
		x.buf, x.from = x.buf[:n-n%identitySize], i
	}
	b := x.buf[(i-x.from)*identitySize:]
	copy(id.guard[:], b)
	copy(id.content[:], b[len(id.guard):])
	return id, nil
}

// close lets the file go.
func (x *identities) close() {
	if x.file != nil {
		_ = x.file.Close() // it has no name: it is gone, whatever closing says
		x.file = nil
	}
}
