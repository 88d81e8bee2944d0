package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
)

// maxSource bounds what is read of a pipe, in bytes; files are read in place.
const maxSource = 16 << 30

// source opens a file, or standard input where its name is -. close gives what
// it holds back.
func (a *app) source(name string) (p *edi.Payload, close func() error, err error) {
	if name == "-" {
		spool := &gateway.Spool{Cap: maxSource}
		in, err := spool.Take(nil, a.stdin, -1, maxSource)
		if err != nil {
			return nil, nil, fmt.Errorf("read standard input: %w", err)
		}
		return in.Payload, in.Close, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err // names the file and the cause
	}
	st, err := f.Stat()
	switch {
	case err != nil:
		return nil, nil, errors.Join(err, f.Close())
	case st.IsDir():
		return nil, nil, errors.Join(usage("%s is a folder; name a file in it, or - for standard input", name), f.Close())
	case !st.Mode().IsRegular(): // a pipe has no size and is read once
		spool := &gateway.Spool{Cap: maxSource}
		in, err := spool.Take(nil, f, -1, maxSource)
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, nil, fmt.Errorf("read %s: %w", name, err)
		}
		return in.Payload, in.Close, nil
	}
	p = edi.File(f, st.Size())
	return p, p.Close, nil
}

// printable makes text from a file safe for a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return '�'
		}
		return r
	}, s)
}
