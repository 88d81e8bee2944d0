package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"time"
)

// What is read of a body at most, in bytes: a configuration is text that people
// write.
const (
	maxConfiguration = 4 << 20
	maxBody          = 64 << 10
)

// body reads the request's body, which must be of one of the types.
func (c *call) body(limit int64, types ...string) ([]byte, error) {
	sent, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil || !slices.Contains(types, sent) {
		return nil, &problem{Status: http.StatusUnsupportedMediaType, Type: "bad-body", Detail: fmt.Sprintf("send the body with `Content-Type: %s`, not %q", types[0], c.r.Header.Get("Content-Type"))}
	}
	text, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, limit))
	if err != nil {
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			return nil, err
		}
		return nil, &problem{Status: http.StatusBadRequest, Type: "bad-body", Detail: "the body was cut short"}
	}
	return text, nil
}

// decode reads a JSON body; keys that are not known are refused.
func (c *call) decode(into any) error { return c.decodeUpTo(maxBody, into) }

// decodeUpTo is decode with a limit of its own, in bytes.
func (c *call) decodeUpTo(limit int64, into any) error {
	text, err := c.body(limit, "application/json")
	if err != nil {
		return err
	}
	if err := strict(text, into); err != nil {
		return &problem{Status: http.StatusBadRequest, Type: "bad-body", Detail: "the JSON cannot be understood: " + err.Error()}
	}
	return nil
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
	if d.More() {
		return errors.New("something follows the object")
	}
	return nil
}
