package cms

import (
	"bytes"
	"fmt"
)

// open goes into a ContentInfo of one of the types, and into its content, which
// read reads: RFC 5652 §3.
func open(der []byte, l Limits, name string, read func(*reader) error, types ...[]byte) error {
	r := newReader(begun(der), l.depth())
	err := func() error {
		if err := r.enter(tagSequence); err != nil {
			return err
		}
		id, err := r.primitive(tagOID)
		if err != nil {
			return err
		}
		if !anyEqual(types, id) {
			return fmt.Errorf("%w: its content type is %s", ErrUnsupported, typeText(id))
		}
		if err := r.enter(tagged(0)); err != nil {
			return err
		}
		if err := r.enter(tagSequence); err != nil {
			return err
		}
		if err := read(r); err != nil {
			return err
		}
		for range 3 {
			if err := r.leave(); err != nil {
				return err
			}
		}
		return r.finish()
	}()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// begun leaves out line ends in front of a message.
//
// QUIRK: a body that begins with a blank line more than it should (jstedfast/MimeKit
// issue 105).
func begun(der []byte) []byte { return bytes.TrimLeft(der, "\r\n") }

func anyEqual(list [][]byte, id []byte) bool {
	for _, one := range list {
		if bytes.Equal(one, id) {
			return true
		}
	}
	return false
}

func typeText(id []byte) string {
	if k := kindOf(id); k != "" {
		return string(k)
	}
	return dotted(id)
}

// contentInfo wraps the fields of a content. It copies them once.
func contentInfo(id []byte, fields ...[]byte) []byte {
	length := 0
	for _, f := range fields {
		length += len(f)
	}
	out := startContent(id, length)
	for _, f := range fields {
		out = append(out, f...)
	}
	return out
}

// startContent begins a ContentInfo whose content has fields of length bytes, which
// follow: there is room for them. RFC 5652 §3.
func startContent(id []byte, length int) []byte {
	inner := headerSize(length) + length
	kind := element(byte(tagOID), id)
	outer := len(kind) + headerSize(inner) + inner
	out := make([]byte, 0, headerSize(outer)+outer)
	out = appendHeader(out, byte(tagSequence)|constructed, outer)
	out = append(out, kind...)
	out = appendHeader(out, byte(contextSpecific)|constructed, inner)
	return appendHeader(out, byte(tagSequence)|constructed, length)
}
