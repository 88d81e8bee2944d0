package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// listing is what a list of the API takes that may be long: a page, unless all are
// asked for.
type listing struct {
	Limit  int    `default:"50" help:"Items of a page, 1 to 500."`
	Cursor string `placeholder:"CURSOR" help:"Where the page before ended: its \"next\"."`
	All    bool   `help:"Every item, page after page; --limit is then the size of those pages."`
	Output string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	connection
}

func (l listing) filters(pairs ...string) url.Values {
	q := filters(pairs...)
	q.Set("limit", strconv.Itoa(l.Limit))
	if l.Cursor != "" {
		q.Set("cursor", l.Cursor)
	}
	return q
}

// wholeListing is what a list takes of which one wants to see all: partners, people.
type wholeListing struct {
	Limit  int    `placeholder:"N" help:"One page of so many items, 1 to 500; all, page after page, if left out."`
	Cursor string `placeholder:"CURSOR" help:"Where the page before ended: its \"next\"."`
	Output string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	connection
}

// listing asks for all in the largest pages that there are.
func (l wholeListing) listing() listing {
	out := listing{Limit: l.Limit, Cursor: l.Cursor, All: l.Limit == 0, Output: l.Output, connection: l.connection}
	if out.All {
		out.Limit = largestPage
	}
	return out
}

const largestPage = 500

// list asks for a page, or for all of them, and shows them: as the API gave them, or
// as rows. All of them as JSON are one answer without "next"; where a page fails it
// stays unfinished, which no reader takes for the whole.
func list[T any](a *app, l listing, path string, query url.Values, titles []string, row func(T) []string) error {
	c, err := a.client(l.connection)
	if err != nil {
		return err
	}
	if l.Output == "json" {
		return listJSON(a, c, l, path, query)
	}
	var rows [][]string
	next, err := eachPage(a, c, l, path, query, func(items []json.RawMessage, _ []byte) error {
		for _, text := range items {
			var item T
			if err := json.Unmarshal(text, &item); err != nil {
				return err
			}
			rows = append(rows, row(item))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := a.table(titles, rows); err != nil {
		return err
	}
	if next != "" {
		a.progress("there are more: add --cursor %s, or --all", next)
	}
	return nil
}

func listJSON(a *app, c *client, l listing, path string, query url.Values) error {
	if !l.All {
		_, err := eachPage(a, c, l, path, query, func(_ []json.RawMessage, body []byte) error { return a.rawJSON(body) })
		return err
	}
	lead := `{"items":[`
	if _, err := eachPage(a, c, l, path, query, func(items []json.RawMessage, _ []byte) error {
		for _, item := range items {
			if _, err := io.WriteString(a.stdout, lead+string(item)); err != nil {
				return err
			}
			lead = ",\n"
		}
		return nil
	}); err != nil {
		return err
	}
	if lead[0] == '{' {
		_, err := io.WriteString(a.stdout, lead+"]}\n")
		return err
	}
	_, err := io.WriteString(a.stdout, "]}\n")
	return err
}

// eachPage gives the items of a page and its text, and goes on with the following
// ones where all are asked for; else it gives where they go on, "" at the end.
func eachPage(a *app, c *client, l listing, path string, query url.Values, do func(items []json.RawMessage, body []byte) error) (next string, err error) {
	if query == nil {
		query = l.filters()
	}
	for {
		var page struct {
			Items []json.RawMessage `json:"items"`
			Next  string            `json:"next"`
		}
		body, err := c.ask(a, http.MethodGet, path, query, nil, &page)
		if err != nil {
			return "", err
		}
		if err := do(page.Items, body); err != nil {
			return "", err
		}
		if page.Next == "" || !l.All {
			return page.Next, nil
		}
		query.Set("cursor", page.Next)
	}
}
