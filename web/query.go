package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// Kind is what a query parameter holds.
type Kind int

// The kinds of query parameters.
const (
	Text    Kind = iota // any text, or one of Values
	Time                // RFC 3339
	Day                 // CCYY-MM-DD
	Decimal             // like 119.00
	Digest              // SHA-256, 64 hex digits
	ID                  // a UUID
	Cursor              // "next" of the page before
	Limit               // 1 to 500 items, default 50
)

// Parameter is a query parameter that a route understands.
type Parameter struct {
	Name   string
	Kind   Kind
	Values []string // all that are allowed; nil: any
}

// The size of a page, in items.
const (
	defaultLimit = 50
	maxLimit     = 500
)

var paging = []Parameter{{"cursor", Cursor, nil}, {"limit", Limit, nil}}

// query holds the parameters of a request, each checked.
type query struct {
	text   map[string]string // of kinds Text, Day, Decimal and ID
	times  map[string]time.Time
	digest []byte // the one parameter of kind Digest
	list   string // whose cursors are taken and given: the path that was asked
	cursor string // decoded
	limit  int
}

// parseQuery checks every parameter sent against those understood. A name that
// is not known, given twice or empty is refused: a filter that does nothing
// would show more than was asked for.
func parseQuery(path, raw string, known []Parameter) (query, error) {
	q := query{text: map[string]string{}, times: map[string]time.Time{}, list: path, limit: defaultLimit}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return q, badParameter("the query cannot be read: %v", err)
	}
	for name, sent := range values {
		i := slices.IndexFunc(known, func(p Parameter) bool { return p.Name == name })
		switch {
		case i < 0:
			return q, unknownParameter(name, known)
		case len(sent) > 1:
			return q, badParameter("parameter %q is given %d times; give it once", name, len(sent))
		case sent[0] == "":
			return q, badParameter("parameter %q is empty; leave it out or give it a value", name)
		}
		if err := q.set(known[i], sent[0]); err != nil {
			return q, err
		}
	}
	return q, nil
}

func (q *query) set(p Parameter, v string) error {
	switch p.Kind {
	case Time:
		t, err := time.Parse(time.RFC3339, v)
		if err != nil {
			return badParameter("parameter %q must be a time like 2026-11-28T09:14:00Z, not %q", p.Name, v)
		}
		q.times[p.Name] = t
	case Day:
		if t, err := time.Parse(time.DateOnly, v); err != nil || t.Year() < 1 {
			return badParameter("parameter %q must be a day like 2026-11-28, not %q", p.Name, v)
		}
		q.text[p.Name] = v
	case Decimal:
		if !isDecimal.MatchString(v) {
			return badParameter("parameter %q must be a number like 119.00, not %q", p.Name, v)
		}
		q.text[p.Name] = v
	case ID:
		id, err := uuid.Parse(v)
		if err != nil {
			return badParameter("parameter %q must be an id like 01a22d9b-c3ad-7b87-a21a-781afc700000, not %q", p.Name, v)
		}
		q.text[p.Name] = id.String()
	case Digest:
		b, err := hex.DecodeString(v)
		if err != nil || len(b) != 32 {
			return badParameter("parameter %q must be a SHA-256, 64 hex digits, not %q", p.Name, v)
		}
		q.digest = b
	case Cursor:
		if strings.Trim(v, base64URL) != "" {
			return badParameter("parameter %q holds what no cursor does: take \"next\" of the page before, or leave it out", p.Name)
		}
		b, err := base64.RawURLEncoding.DecodeString(v)
		if err != nil || !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
			return badCursor()
		}
		q.cursor = string(b)
		if p.Name == "cursor" { // after is a place in the feed, which has no pages
			own := false
			if q.cursor, own = strings.CutPrefix(q.cursor, q.mark()); !own || q.cursor == "" {
				return badCursor()
			}
		}
	case Limit:
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > maxLimit {
			return badParameter("parameter %q must be a number from 1 to %d, not %q", p.Name, maxLimit, v)
		}
		q.limit = n
	case Text:
		if p.Values != nil && !slices.Contains(p.Values, v) {
			return badParameter("parameter %q must be one of %s, not %q", p.Name, strings.Join(p.Values, ", "), v)
		}
		if !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
			return badParameter("parameter %q is no text", p.Name)
		}
		q.text[p.Name] = v
	}
	return nil
}

// isDecimal is what a parameter of kind Decimal looks like.
var isDecimal = regexp.MustCompile(`^-?[0-9]{1,20}(\.[0-9]{1,15})?$`)

func unknownParameter(name string, known []Parameter) error {
	names := make([]string, len(known))
	for i, p := range known {
		names[i] = p.Name
	}
	detail := fmt.Sprintf("parameter %q is not known here; none is", name)
	if len(names) > 0 {
		detail = fmt.Sprintf("parameter %q is not known here; these are: %s", name, strings.Join(names, ", "))
	}
	return &problem{Status: http.StatusBadRequest, Type: "unknown-parameter", Detail: detail}
}

func badParameter(format string, args ...any) error {
	return &problem{Status: http.StatusBadRequest, Type: "bad-parameter", Detail: fmt.Sprintf(format, args...)}
}

// base64URL is what a cursor is written in (RFC 4648 §5).
const base64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// unfitParameter refuses one that is as described, and cannot be answered.
func unfitParameter(format string, args ...any) error {
	return &problem{Status: http.StatusUnprocessableEntity, Type: "bad-parameter", Detail: fmt.Sprintf(format, args...)}
}

// badCursor refuses one that looks like a cursor and is none of this list's.
func badCursor() error {
	return unfitParameter("parameter \"cursor\" is not one that this list gave: take \"next\" of the page before, or leave it out")
}

// mark begins the cursors of a list: one that another list gave would be a place in
// this one too, and pass items over without a word.
func (q *query) mark() string {
	sum := sha256.Sum256([]byte(q.list))
	return hex.EncodeToString(sum[:4]) + "\t"
}

// after is the cursor that goes on behind a place in the list.
func (q *query) after(place string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(q.mark() + place))
}

// page is a list and where it goes on.
type page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"` // cursor of the following page; absent on the last
}

// pageOf cuts what was read with one item more than asked for.
func pageOf[T any](q *query, items []T, place func(T) string) page[T] {
	if items == nil {
		items = []T{}
	}
	if len(items) <= q.limit {
		return page[T]{Items: items}
	}
	items = items[:q.limit]
	return page[T]{Items: items, Next: q.after(place(items[q.limit-1]))}
}

// pageByName cuts a page out of a list that is held whole, by its names, each
// of which is there once, in the order of their bytes.
func pageByName[T any](q *query, all []T, name func(T) string) page[T] {
	slices.SortFunc(all, func(a, b T) int { return strings.Compare(name(a), name(b)) })
	from := 0
	if q.cursor != "" {
		from, _ = slices.BinarySearchFunc(all, q.cursor+"\x00", func(t T, after string) int { return strings.Compare(name(t), after) })
	}
	return pageOf(q, all[from:], name)
}

// cursorID reads a cursor that is one id; the zero id where none was sent.
func (q *query) cursorID() (uuid.UUID, error) {
	if q.cursor == "" {
		return uuid.UUID{}, nil
	}
	id, err := uuid.Parse(q.cursor)
	if err != nil {
		return uuid.UUID{}, badCursor()
	}
	return id, nil
}
