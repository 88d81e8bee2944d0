package entity

import (
	"bytes"
	"strings"
)

// maxParts of one multipart body.
const maxParts = 200

// Multipart is a body that was split.
type Multipart struct {
	Parts  []*Entity
	Closed bool   // its last boundary stood there; without it the end may be missing
	Rest   []byte // what stands behind that: RFC 2046's epilogue
}

// Split cuts a multipart body at its boundary (RFC 2046 §5.1.1): each part is what
// stands between the end of one boundary line and the line end before the next,
// byte for byte. What stands before the first and behind the last is not looked at;
// the latter is Rest.
//
// QUIRK: mendelson writes text into the preamble; others put blank lines behind the
// last boundary; files that were kept somewhere come with LF alone.
func Split(body []byte, boundary string) (*Multipart, error) {
	boundary = strings.TrimRight(boundary, " ") // RFC 2046 §5.1.1: no boundary ends in white space
	if boundary == "" || len(boundary) > 998 {
		return nil, ErrBoundary
	}
	m := &Multipart{}
	delimiter := []byte("--" + boundary)
	from := -1 // where the part begins that is open
	for at := 0; at <= len(body); {
		line, next, last := find(body, at, delimiter)
		if line < 0 {
			break
		}
		if from >= 0 {
			if len(m.Parts) == maxParts {
				return nil, ErrParts
			}
			part, err := Parse(body[from:max(from, lineEndBefore(body, line))])
			if err != nil {
				return nil, err
			}
			m.Parts = append(m.Parts, part)
		}
		from, at = next, next
		if last {
			m.Closed, m.Rest = true, body[next:]
			return m, nil
		}
	}
	if from < 0 {
		return nil, ErrBoundary
	}
	part, err := Parse(body[from:])
	if err != nil {
		return nil, err
	}
	m.Parts = append(m.Parts, part)
	return m, nil
}

// find finds the next boundary line: where it begins, where the next line begins,
// and whether it is the last one.
func find(body []byte, at int, delimiter []byte) (line, next int, last bool) {
	for {
		i := bytes.Index(body[at:], delimiter)
		if i < 0 {
			return -1, 0, false
		}
		line = at + i
		at = line + len(delimiter)
		if line > 0 && body[line-1] != '\n' {
			continue
		}
		if is, size, _ := after(body[at:], true); is != nothing {
			return line, at + size, is == closes
		}
	}
}

// lineEndBefore gives where the line end before a boundary begins: it is the
// boundary's, not the part's.
func lineEndBefore(body []byte, line int) int {
	if line > 0 && body[line-1] == '\n' {
		line--
		if line > 0 && body[line-1] == '\r' {
			line--
		}
	}
	return line
}

// Multipart splits the entity's body at its boundary; one that is not multipart has
// none.
func (e *Entity) Multipart() (*Multipart, error) {
	t := e.ContentType()
	if !strings.HasPrefix(t.Word, "multipart/") {
		return nil, ErrBoundary
	}
	return Split(e.Body, t.Get("boundary"))
}
