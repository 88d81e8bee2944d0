package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/edigw/edigw/partners"
)

// revisionTold is one revision as the API tells it.
type revisionTold struct {
	Number  int32                  `json:"revision"`
	Cause   string                 `json:"cause"`
	By      string                 `json:"applied_by"`
	Applied time.Time              `json:"applied_at"`
	Fields  []partners.FieldChange `json:"fields"`
}

// undone looks at files that were exported, edited, and are to be applied: where
// others have changed the same settings since, the old values in the file would undo
// that without anybody's having meant it. It refuses, and says who changed what; a
// value that both have changed is told, and the file's is taken. overwrite tells all
// of it and refuses nothing.
func (c *client) undone(a *app, specs []partners.Spec, changes partners.Changes, overwrite bool) error {
	var undone, told []string
	for _, ch := range changes {
		i := slices.IndexFunc(specs, func(s partners.Spec) bool {
			return s.Revision > 0 && s.Revision < ch.Revision-1 &&
				(ch.Kind == "Partner" && s.Partner != nil && s.Partner.ID == ch.ID || ch.Kind == "Organisation" && s.Organisation != nil && s.Organisation.ID == ch.ID)
		})
		if i < 0 {
			continue
		}
		since, err := c.revisionsSince(a, ch.Kind, ch.ID, specs[i])
		if err != nil {
			return err
		}
		for _, f := range ch.Fields {
			first, last := touched(since, f.Key)
			if last == nil {
				continue
			}
			line := fmt.Sprintf("%s %s: %s (revision %d by %s, %s, changed it; the file is of revision %d)", strings.ToLower(ch.Kind), ch.ID, f, last.Number, orSomebody(last.By), clock(last.Applied), specs[i].Revision)
			if undoes(first.Before, f.Before, f.After) {
				undone = append(undone, line)
			} else {
				told = append(told, line)
			}
		}
	}
	if len(undone) > 0 && !overwrite {
		return errors.New("nothing was changed: it would undo what was changed since the file was exported\n  " + printableLines(strings.Join(undone, "\n  ")) +
			"\nexport it again and make the change on that, or say --overwrite")
	}
	for _, line := range append(undone, told...) {
		a.progress("overwritten: %s", printable(line))
	}
	return nil
}

// revisionsSince gives the revisions after the one that a spec is an export of, the
// latest first; none where that is another gateway's of the same number, or not kept
// any more.
func (c *client) revisionsSince(a *app, kind, id string, of partners.Spec) ([]revisionTold, error) {
	path := "/partners/"
	if kind == "Organisation" {
		path = "/organisations/"
	}
	var since []revisionTold
	for cursor := ""; ; {
		var page struct {
			Items []revisionTold `json:"items"`
			Next  string         `json:"next"`
		}
		if _, err := c.ask(a, http.MethodGet, path+url.PathEscape(id)+"/revisions", filters("cursor", cursor), nil, &page); err != nil {
			return nil, err
		}
		for _, r := range page.Items {
			switch {
			case r.Number == of.Revision && r.Applied.Equal(of.Applied):
				return since, nil
			case r.Number <= of.Revision:
				return nil, nil
			}
			since = append(since, r)
		}
		if cursor = page.Next; cursor == "" {
			return nil, nil
		}
	}
}

// touched gives the first change of a key in revisions, the latest of which come
// first, and the last revision that changed it; nil if none did.
func touched(since []revisionTold, key string) (first partners.FieldChange, last *revisionTold) {
	for i, r := range since {
		for _, f := range r.Fields {
			if f.Key != key {
				continue
			}
			if first = f; last == nil {
				last = &since[i]
			}
		}
	}
	return first, last
}

// undoes reports whether after takes back what changed between base and now: it is
// what stood there before, or, of a list, it lacks what was added or has what was
// taken out.
func undoes(base, now, after string) bool {
	if after == base {
		return true
	}
	was, is, will := items(base), items(now), items(after)
	if was == nil || is == nil || will == nil {
		return false
	}
	for _, item := range is {
		if !slices.Contains(was, item) && !slices.Contains(will, item) {
			return true
		}
	}
	return slices.ContainsFunc(was, func(item string) bool { return !slices.Contains(is, item) && slices.Contains(will, item) })
}

// items are those of a list in JSON, of nothing none; nil if text is no list.
func items(text string) []string {
	list := []json.RawMessage{}
	if text != "" && json.Unmarshal([]byte(text), &list) != nil {
		return nil
	}
	words := []string{}
	for _, item := range list {
		words = append(words, string(item))
	}
	return words
}

func orSomebody(by string) string {
	if by == "" {
		return "somebody"
	}
	return by
}
