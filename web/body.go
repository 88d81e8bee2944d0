package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/edigw/edigw/jsontext"
)

// maxBody is read of a body at most, in bytes, but where a route says otherwise: a
// configuration has partners.MaxText, so that whatever was exported can be applied.
const maxBody = 64 << 10

// body reads the request's body, which must be of one of the types.
func (c *call) body(limit int64, types ...string) ([]byte, error) {
	sent, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil || !slices.Contains(types, sent) {
		return nil, &problem{Status: http.StatusUnsupportedMediaType, Type: "bad-body", Detail: fmt.Sprintf("send the body with `Content-Type: %s`, not %q", types[0], c.r.Header.Get("Content-Type"))}
	}
	if coded := c.r.Header.Get("Content-Encoding"); coded != "" && !strings.EqualFold(coded, "identity") {
		c.w.Header().Set("Accept-Encoding", "identity") // RFC 9110 §12.5.3
		return nil, &problem{Status: http.StatusUnsupportedMediaType, Type: "bad-body", Detail: fmt.Sprintf("send the body as it is, without `Content-Encoding: %s`", coded)}
	}
	text, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, limit))
	if err != nil {
		if b, ok := c.r.Body.(*pacedBody); ok {
			b.leave()
		}
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			return nil, err
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, badBody("the body stopped arriving: each %d KiB have %v. Send it again", paceBytes>>10, defaultPace)
		}
		return nil, &problem{Status: http.StatusBadRequest, Type: "bad-body", Detail: "the body was cut short"}
	}
	return text, nil
}

// decode reads a JSON body, which must be as openapi.yaml describes it.
func (c *call) decode(into any) error { return c.decodeUpTo(maxBody, into) }

// decodeUpTo is decode with a limit of its own, in bytes.
func (c *call) decodeUpTo(limit int64, into any) error {
	text, err := c.body(limit, "application/json")
	if err != nil {
		return err
	}
	value, err := c.fits(text)
	if err != nil {
		return err
	}
	err = strict(text, into)
	if wrongType := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrongType) {
		// It fits its schema, for which 1.0 is an integer (JSON Schema 2020-12 §6.1.1).
		if text, err = json.Marshal(value); err == nil {
			err = strict(text, into)
		}
	}
	if err != nil {
		return badBody("the JSON cannot be understood: %v", err)
	}
	return nil
}

func badBody(format string, args ...any) *problem {
	return &problem{Status: http.StatusBadRequest, Type: "bad-body", Detail: fmt.Sprintf(format, args...)}
}

// maxMisfits are told of one body; where there are more the first ones say enough.
const maxMisfits = 20

// fits holds a JSON body against the schema of the route. The reader of Go would
// take null for anything, keys in another case and values that are left out. It
// gives the value.
func (c *call) fits(text []byte) (value any, err error) {
	if !utf8.Valid(text) {
		return nil, badBody("the JSON is not in UTF-8")
	}
	if at, twice := jsontext.Twice(text); twice {
		p := badBody("%s stands twice in the JSON; leave one out", at)
		p.Faults = []fault{{Key: at, Detail: "stands twice"}}
		return nil, p
	}
	if err := strict(text, &value); err != nil {
		return nil, badBody("the JSON cannot be understood: %v", err)
	}
	d, err := openAPIDocument()
	if err != nil {
		return nil, err
	}
	op := d.operations[c.route.Method+" "+c.route.Path]
	if op == nil || op.RequestBody == nil {
		return nil, fmt.Errorf("openapi.yaml describes no body of %s %s", c.route.Method, c.route.Path)
	}
	found := d.faults(op.RequestBody.Content["application/json"].Schema, value, "")
	if at, ok := findNUL(value, ""); ok {
		found = append(found, misfit{at, "holds a NUL, which is no text"})
	}
	if len(found) == 0 {
		return value, nil
	}
	p := badBody("the body does not fit what is described")
	for i, f := range found {
		f.At = strings.TrimPrefix(f.At, ".")
		if i == 0 {
			p.Detail += ": " + strings.TrimPrefix(f.String(), ": ")
		}
		if i == maxMisfits {
			p.Faults = append(p.Faults, fault{Detail: fmt.Sprintf("and %d more", len(found)-i)})
			break
		}
		p.Faults = append(p.Faults, fault{Key: f.At, Detail: f.Detail})
	}
	return nil, p
}

// findNUL says where in a JSON value a character stands that no text of ours, and
// none of the database's, may hold.
func findNUL(value any, at string) (string, bool) {
	switch v := value.(type) {
	case string:
		return at, strings.ContainsRune(v, 0)
	case []any:
		for i, x := range v {
			if where, ok := findNUL(x, at+"["+strconv.Itoa(i)+"]"); ok {
				return where, true
			}
		}
	case map[string]any:
		for name, x := range v {
			if where, ok := findNUL(x, at+"."+name); ok {
				return where, true
			}
		}
	}
	return "", false
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// strict reads one JSON value, all of it.
func strict(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	// Not More, which takes a ] or } behind the value for the end of an outer one.
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the value")
	}
	return nil
}
