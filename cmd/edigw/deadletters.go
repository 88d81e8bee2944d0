package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

type deadlettersCommand struct {
	List    deadlettersList    `cmd:"" help:"Payloads of which a message is dead."`
	Replay  deadlettersReplay  `cmd:"" help:"Run dead messages again; under new settings also refused ones."`
	Discard deadlettersDiscard `cmd:"" help:"Give dead messages up; a partner who was told positively gets a notice."`
}

type deadlettersList struct {
	Partner   string `placeholder:"ID" help:"Only this partner's."`
	MessageID string `name:"message-id" placeholder:"KEY" help:"Only under this key."`
	listing
}

// deadLetter is one as the API lists it.
type deadLetter struct {
	Partner   string    `json:"partner"`
	MessageID string    `json:"message_id"`
	SHA256    string    `json:"payload_sha256"`
	State     string    `json:"state"`
	Told      string    `json:"told"`
	Messages  int       `json:"messages"`
	Dead      int       `json:"dead"`
	Attempts  int       `json:"attempts"`
	Last      time.Time `json:"last_at"`
}

func (c *deadlettersList) Run(a *app) error {
	return list(a, c.listing, "/deadletters", c.filters("partner", c.Partner, "message_id", c.MessageID),
		[]string{"LAST", "PARTNER", "STATE", "TOLD", "DEAD", "MESSAGES", "ATTEMPTS", "MESSAGE ID"}, func(d deadLetter) []string {
			return []string{clock(d.Last), d.Partner, d.State, d.Told, strconv.Itoa(d.Dead), strconv.Itoa(d.Messages), strconv.Itoa(d.Attempts), d.MessageID}
		})
}

// letterChoice says which letters: one, or all that a list holds.
type letterChoice struct {
	Partner string `arg:"" optional:"" help:"The partner."`
	Key     string `arg:"" optional:"" help:"The message id; left out, every one of the partner's."`
	All     bool   `help:"Every one, of every partner."`
	Digest  string `placeholder:"DIGEST" help:"Which payload under the key; the current one if left out."`
	DryRun  bool   `help:"Tell what would come of it and change nothing."`
	ruled
}

type deadlettersReplay struct {
	letterChoice
}

type deadlettersDiscard struct {
	letterChoice
	Reason string `required:"" placeholder:"CODE" help:"A reason, as for a decision on a drift."`
	Note   string `placeholder:"TEXT" help:"What else is to be known; needed with the reason other."`
}

func (c *deadlettersReplay) Run(a *app) error {
	return c.each(a, "/deadletters", "/deadletters/replay", map[string]any{})
}

func (c *deadlettersDiscard) Run(a *app) error {
	return c.each(a, "/deadletters", "/deadletters/discard", map[string]any{"reason": c.Reason, "note": c.Note})
}

// letterResult is what came of one letter.
type letterResult struct {
	Partner   string `json:"partner,omitempty"`
	MessageID string `json:"message_id,omitempty"`
	SHA256    string `json:"payload_sha256,omitempty"`
	State     string `json:"state,omitempty"`
	Posted    int    `json:"posted"`
	Held      int    `json:"held"`
	Refused   int    `json:"refused"`
	Dead      int    `json:"dead"`
	Discarded int    `json:"discarded"`
	Notices   int    `json:"notices"`
	Because   *struct {
		Partner   string   `json:"partner"`
		MessageID string   `json:"message_id"`
		Code      string   `json:"code"`
		Why       []string `json:"why"`
	} `json:"refused_because,omitempty"`
}

// each does one letter after the other, those that list gives where none is named,
// and tells how far it is. One that is refused does not keep the others; what
// breaks off does not hide what was done before. Both end in exit code 5, unless
// nothing was done at all.
func (c *letterChoice) each(a *app, list, act string, body map[string]any) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	letters, err := c.letters(a, api, list)
	if err != nil {
		return err
	}
	body["dry_run"] = c.DryRun
	progress := a.progressOf(len(letters))
	results := []letterResult{}
	done := 0
	var broke error
	for _, l := range letters {
		body["letters"] = []map[string]any{{"partner": l.Partner, "message_id": l.MessageID, "payload_sha256": l.SHA256}}
		var did struct {
			Items []letterResult `json:"items"`
		}
		if _, err := api.ask(a, http.MethodPost, act, nil, body, &did); err != nil {
			broke = fmt.Errorf("%s of %s: %w", printable(l.MessageID), printable(l.Partner), err)
			break
		}
		for _, r := range did.Items {
			if r.Because == nil {
				done++
			}
			progress.done(r.Because == nil)
			results = append(results, r)
		}
	}
	progress.end()
	if err := c.show(a, results); err != nil {
		return err
	}
	switch {
	case broke != nil && done > 0:
		return &exit{code: exitPartly, err: fmt.Errorf("%d of %d were done: %w", done, len(letters), broke)}
	case broke != nil:
		return broke
	case done == len(letters):
		return nil
	case done > 0:
		return &exit{code: exitPartly}
	}
	return &exit{code: exitFailed}
}

// letters names the letters to take.
func (c *letterChoice) letters(a *app, api *client, list string) (letters []deadLetter, err error) {
	switch {
	case c.Key != "":
		return []deadLetter{{Partner: c.Partner, MessageID: c.Key, SHA256: c.Digest}}, nil
	case c.Partner == "" && !c.All:
		return nil, usage("name a partner and a message id, a partner alone for all of his, or --all")
	}
	q := url.Values{"limit": {"500"}}
	if c.Partner != "" {
		q.Set("partner", c.Partner)
	}
	for {
		var page struct {
			Items []deadLetter `json:"items"`
			Next  string       `json:"next"`
		}
		if _, err := api.ask(a, http.MethodGet, list, q, nil, &page); err != nil {
			return nil, err
		}
		letters = append(letters, page.Items...)
		if page.Next == "" {
			return letters, nil
		}
		q.Set("cursor", page.Next)
	}
}

func (c *letterChoice) show(a *app, results []letterResult) error {
	if c.Output == "json" {
		return a.json(map[string]any{"items": results})
	}
	rows := make([][]string, len(results))
	for i, r := range results {
		if b := r.Because; b != nil {
			rows[i] = []string{b.Partner, b.Code, "", "", "", "", "", "", b.MessageID}
			for _, why := range b.Why {
				a.progress("%s of %s: %s", printable(b.MessageID), printable(b.Partner), printable(why))
			}
			continue
		}
		rows[i] = []string{r.Partner, r.State, strconv.Itoa(r.Posted), strconv.Itoa(r.Held), strconv.Itoa(r.Refused), strconv.Itoa(r.Dead), strconv.Itoa(r.Discarded), strconv.Itoa(r.Notices), r.MessageID}
	}
	return a.table([]string{"PARTNER", "STATE", "POSTED", "HELD", "REFUSED", "DEAD", "DISCARDED", "NOTICES", "MESSAGE ID"}, rows)
}
