package wssec

import (
	"bytes"
	"crypto"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/edigw/edigw/as4/c14n"
	"github.com/edigw/edigw/as4/infoset"
)

// form is how the content of a part is digested: SwA profile 1.1 §5.4.2, §5.4.3 as
// WSS4J reads them.
type form int

const (
	rawForm  form = iota // the bytes
	textForm             // with CRLF as line ends
	xmlForm              // exclusive canonical XML without comments
)

func formOf(mimeType string) form {
	name, _, _ := strings.Cut(strings.ToLower(mimeType), ";")
	name = strings.Trim(name, " \t\r\n")
	kind, sub, typed := strings.Cut(name, "/")
	switch {
	case !typed:
		return rawForm
	case name == "text/xml", name == "application/xml",
		(kind == "application" || kind == "image") && strings.HasSuffix(sub, "+xml"):
		return xmlForm
	case kind == "text":
		return textForm
	}
	return rawForm
}

// form is that of the part: of its MimeType, where the signed header does not say
// that it is of another.
//
// Of XML that was decrypted by AES-CBC the bytes alone are taken. What its canonical form
// leaves out, comments and namespaces that nothing uses, has room for blocks of another
// message: that it is still taken would tell that they are well-formed inside (Jager and
// Somorovsky 2011), and how long we work, how much of it is.
func (p *Part) form() form {
	f := formOf(p.MimeType)
	if p.cbc && f == xmlForm {
		return rawForm
	}
	if p.SignedType != "" && formOf(p.SignedType) != f {
		return rawForm
	}
	return f
}

// digest gives the digests of a part that a signature may name: that of its
// canonical form, and for XML and text that of its bytes too.
//
// QUIRK: AS4.NET, and who hands an unparsed part to XML Signature, digest the bytes
// of XML and text parts. Bytes bind more than their canonical form, so that taking
// them gives nothing away.
func (p *Part) digest(h crypto.Hash) (sums [][]byte, err error) {
	in, err := p.Open()
	if err != nil {
		return nil, fmt.Errorf("part %s: %w", p.ContentID, err)
	}
	defer in.Close() // it was read to its end, or its error is the one that counts
	raw := h.New()
	tee := io.TeeReader(in, raw)
	if sum, err := canonicalDigest(p.form(), tee, h.New()); err != nil {
		return nil, fmt.Errorf("part %s: %w", p.ContentID, err)
	} else if sum != nil {
		sums = append(sums, sum)
	}
	if _, err := io.Copy(io.Discard, tee); err != nil { // what the reader of XML left
		return nil, fmt.Errorf("part %s: %w", p.ContentID, err)
	}
	return append(sums, raw.Sum(nil)), nil
}

// canonicalDigest digests the canonical form of what it reads; nil for the raw form,
// which is digested beside it, and for XML that is none.
func canonicalDigest(f form, in io.Reader, h hash.Hash) ([]byte, error) {
	if f == rawForm {
		return nil, nil
	}
	source := &reading{in: in}
	if err := canonicalise(f, source, h); err != nil {
		return nil, source.err // ours if the part could not be read; else it is not XML
	}
	return h.Sum(nil), nil
}

// canonicalise writes the canonical form of XML or text.
func canonicalise(f form, in io.Reader, to io.Writer) error {
	if f == textForm {
		_, err := io.Copy(&crlfWriter{to: to}, in)
		return err
	}
	m, err := c14n.New(c14n.Exclusive, "")
	if err != nil {
		return err
	}
	return m.Stream(to, infoset.NewReader(in, infoset.Payload))
}

// asDigested has the part read in the canonical form that its digest is over. Where the
// signed header does not say what a part is, its Content-Type does (SwA profile 1.1
// §5.4.2), which nobody signs: whoever changes that on the way may change line ends or
// comments besides, and this takes the change back.
func (p *Part) asDigested() {
	plain, f := p.Open, p.form()
	p.Canonical, p.Open = true, func() (io.ReadCloser, error) {
		in, err := plain()
		if err != nil {
			return nil, err
		}
		r, w := io.Pipe()
		go func() {
			err := canonicalise(f, in, w)
			_ = w.CloseWithError(errors.Join(err, in.Close())) // it always gives nil
		}()
		return r, nil
	}
}

// reading keeps the error of what is read apart from those of who reads.
type reading struct {
	in  io.Reader
	err error
}

func (r *reading) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// crlfWriter writes CR, LF and CRLF as CRLF.
type crlfWriter struct {
	to     io.Writer
	afterC bool
	line   bytes.Buffer
}

func (w *crlfWriter) Write(p []byte) (int, error) {
	w.line.Reset()
	for _, b := range p {
		switch {
		case b == '\n' && w.afterC:
		case b == '\n' || b == '\r':
			w.line.WriteString("\r\n")
		default:
			w.line.WriteByte(b)
		}
		w.afterC = b == '\r'
	}
	_, err := w.to.Write(w.line.Bytes())
	return len(p), err
}
