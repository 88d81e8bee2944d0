package httpin_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"testing"

	"github.com/edigw/edigw/gateway"
)

type ctx = context.Context

// refuseFaults is a gateway that quarantines what could not be verified.
func refuseFaults(_ ctx, d *gateway.Delivery) (*gateway.Receipt, error) {
	if d.Fault != nil {
		return nil, d.Fault
	}
	return accept(d)
}

func zipped(t *testing.T, b []byte) io.Reader { return zippedFrom(t, bytes.NewReader(b)) }

func zippedFrom(t *testing.T, r io.Reader) io.Reader {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.Copy(z, r); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

// zeros is n zero bytes, with a length that a request can tell.
func zeros(n int) *bytes.Reader { return bytes.NewReader(make([]byte, n)) }

// noise cannot be compressed.
func noise() io.Reader { return rand.NewChaCha8([32]byte{}) }

// segments has no end.
type segments struct{}

func (segments) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		n += copy(b[n:], "LIN+1++9520001000018:EN'")
	}
	return n, nil
}

func halfClose(t *testing.T, w *wire) {
	t.Helper()
	if err := w.Conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
}
