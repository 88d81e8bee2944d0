package web

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// acceptable refuses a request that takes none of the types that the route gives
// (RFC 9110 §12.5.1). What is wrong is told as a problem all the same: no answer
// at all would help nobody (§15.5.7 lets us).
func (c *call) acceptable() error {
	fields := c.r.Header.Values("Accept")
	if len(fields) == 0 {
		return nil
	}
	d, err := openAPIDocument()
	if err != nil {
		return err
	}
	op := d.operations[c.route.Method+" "+c.route.Path]
	if op == nil {
		return nil
	}
	gives := op.gives()
	for _, t := range gives {
		t, _, _ = strings.Cut(t, ";") // whatever its parameters
		if accepts(strings.Join(fields, ","), t) {
			return nil
		}
	}
	if len(gives) == 0 {
		return nil
	}
	return &problem{Status: http.StatusNotAcceptable, Type: "not-acceptable", Detail: "the answer is " + strings.Join(gives, " or ") + ", which the request's Accept does not take"}
}

// accepts reports whether a list of media ranges takes a type. Of the ranges that
// fit the most specific one decides, and q=0 is no. What cannot be read is left out,
// as if it were not there.
func accepts(ranges, mediaType string) bool {
	kind, _, _ := strings.Cut(mediaType, "/")
	best, takes, read := -1, false, false
	for part := range strings.SplitSeq(ranges, ",") {
		name, parameters, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		read = true
		fit := -1
		switch name {
		case mediaType:
			fit = 2
		case kind + "/*":
			fit = 1
		case "*/*", "*": // QUIRK: Java's URLConnection sends a bare star
			fit = 0
		}
		if fit > best {
			q, err := strconv.ParseFloat(parameters["q"], 64)
			best, takes = fit, err != nil || q > 0
		}
	}
	return takes || !read
}
