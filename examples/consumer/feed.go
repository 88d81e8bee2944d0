package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// gateway asks edigw's API.
type gateway struct {
	url, token string
	http       *http.Client
}

// get reads the JSON at path into v.
func (g *gateway) get(ctx context.Context, path string, v any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(g.url, "/")+"/api/v1"+path, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+g.token)
	resp, err := g.http.Do(r)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		var p problem
		if json.Unmarshal(text, &p) == nil && strings.HasPrefix(p.Type, problemBase) {
			return fmt.Errorf("GET %s: %s: %w", path, resp.Status, &p)
		}
		return fmt.Errorf("GET %s: %s: %.300s", path, resp.Status, text)
	}
	return json.Unmarshal(text, v)
}

// problem is what edigw itself says is wrong (RFC 9457); a proxy's page before it, which
// may have the same status, is none.
type problem struct {
	Type   string `json:"type"`
	Detail string `json:"detail"`
}

const problemBase = "https://edigw.dev/problems/"

// Error gives the detail.
func (p *problem) Error() string { return p.Detail }

// says reports whether err is edigw's problem of that name.
func says(err error, name string) bool {
	p, ok := errors.AsType[*problem](err)
	return ok && p.Type == problemBase+name
}

// document reads one document; errNotKept where its retention has passed.
func (g *gateway) document(ctx context.Context, id string) (d document, err error) {
	err = g.get(ctx, "/documents/"+url.PathEscape(id), &d)
	if says(err, "not-found") || says(err, "no-longer-kept") {
		return d, fmt.Errorf("%w: %w", errNotKept, err)
	}
	return d, err
}

// page is what the feed gives at once.
type page struct {
	Items []json.RawMessage `json:"items"`
	Next  string            `json:"next"` // to ask with, whether there were items or not
	More  bool              `json:"more"` // at once
}

// events asks for those after a place; "" is the beginning.
func (g *gateway) events(ctx context.Context, after string) (p page, err error) {
	q := url.Values{"type": {"document.*"}}
	if after != "" {
		q.Set("after", after)
	}
	return p, g.get(ctx, "/events?"+q.Encode(), &p)
}

// How long the feed is left alone when it has nothing new, and when it failed.
const (
	pause     = time.Second
	afterFail = 5 * time.Second
)

// follow takes events until ctx ends. What fails is tried again from the place
// that is kept: what was done of it is not done twice.
func follow(ctx context.Context, c *consumer, g *gateway) error {
	for ctx.Err() == nil {
		more, err := step(ctx, c, g)
		wait := pause
		if err != nil && ctx.Err() == nil {
			slog.Warn("the feed is asked again", "in", afterFail, "err", err)
			wait = afterFail
		}
		if more && err == nil {
			continue
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
	return nil
}

// step takes one page. The place goes on in the transaction of its last event; if it
// breaks off before, the page is read again.
func step(ctx context.Context, c *consumer, g *gateway) (more bool, err error) {
	var after string
	err = c.pool.QueryRow(ctx, `select after from feed_place`).Scan(&after)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return false, err
	}
	p, err := g.events(ctx, after)
	if after != "" && says(err, "bad-parameter") {
		// edigw's database was restored from a backup, and the place is ahead of it, or it
		// is of another edigw. What comes again has its id here, and causes nothing.
		slog.Warn("the feed does not know the place, and is read from its beginning", "place", after, "err", err)
		_, err = c.pool.Exec(ctx, `delete from feed_place`)
		return err == nil, err
	}
	if err != nil {
		return false, err
	}
	keep := func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
			insert into feed_place (after) values ($1)
			on conflict (only_one) do update set after = excluded.after`, p.Next)
		return err
	}
	for i, text := range p.Items {
		e, err := readEvent(text)
		if err != nil {
			return false, err
		}
		also := keep
		if i < len(p.Items)-1 {
			also = nil
		}
		if err := c.consume(ctx, e, also); err != nil {
			return false, err
		}
	}
	if len(p.Items) == 0 && p.Next != after { // events of other types were passed
		err = pgx.BeginFunc(ctx, c.pool, keep)
	}
	return p.More, err
}
