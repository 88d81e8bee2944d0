package x12

import "github.com/edigw/edigw/edi"

// charset is what the bytes of an interchange mean. X12 names no character set in
// its envelope: the basic and extended sets are ASCII, and what stands above it is
// agreed on. assumed is true where the partner's settings name none that we know:
// each value is then UTF-8 where it is that, and else Windows-1252.
// QUIRK: both arrive, from one sender even.
func (r Reader) charset() (c edi.Charset, assumed bool) {
	for _, name := range [...]string{r.Charset, r.DefaultCharset} {
		if c, ok := edi.NamedCharset(name); ok {
			return c, false
		}
	}
	c, _ = edi.NamedCharset(edi.Detect)
	return c, true
}

// header reads an element of ISA.
func (r Reader) header(b []byte) string {
	c, _ := r.charset()
	return c.Decode(b)
}

// digested is what ContentDigest decodes with: nothing where the text is UTF-8.
func digested(c edi.Charset) func([]byte) string {
	if c.UTF8 && c.High == nil {
		return nil
	}
	return c.Decode
}
