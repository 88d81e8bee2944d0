package infoset

import (
	"errors"
	"io"
)

// Reader reads the items of a document.
type Reader struct{ limits Limits }

// NewReader reads a document from r.
func NewReader(r io.Reader, limits Limits) *Reader { return &Reader{limits: limits.orHeader()} }

// Next gives the next item; io.EOF after the document. Other errors are
// *SyntaxError, or those of the underlying reader.
func (r *Reader) Next() (Item, error) { return Item{}, errors.New("the reader is being built") }
