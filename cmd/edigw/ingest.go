package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/edigw/edigw/edi"
)

// ingestCommand sends files as a partner does, over plain HTTP.
type ingestCommand struct {
	Source       string `arg:"" help:"A file, a folder with files, or - for standard input."`
	Partner      string `required:"" placeholder:"ID" help:"The partner who sends."`
	MessageID    string `name:"message-id" placeholder:"ID" help:"Idempotency-Key of one file; without it the interchange's own reference is its key."`
	Ingress      string `setting:"" placeholder:"URL" help:"Address of the gateway's ingress, like http://127.0.0.1:8080; the one on this machine if left out."`
	PartnerToken string `setting:"" secret:"" placeholder:"TOKEN" help:"The partner's token; with a token of the API one is made for this run."`
	Jobs         int    `default:"4" help:"Files of a folder sent at a time."`
	Retries      int    `default:"5" help:"How often to come back where the gateway says to."`
	Output       string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	connection
}

// sent is what came of one file.
type sent struct {
	File    string          `json:"file"`
	Status  int             `json:"status,omitempty"`
	Verdict string          `json:"verdict,omitempty"`
	Outcome string          `json:"outcome,omitempty"`
	Error   string          `json:"error,omitempty"`
	Answer  json.RawMessage `json:"answer,omitempty"` // the receipt, or the problem
}

func (s sent) ok() bool { return s.Status >= 200 && s.Status < 300 }

// Run sends. Some files refused and some taken is partly done.
func (c *ingestCommand) Run(a *app) (err error) {
	files, err := filesOf(c.Source)
	if err != nil {
		return err
	}
	if c.MessageID != "" && len(files) > 1 {
		return usage("--message-id names one message; %s holds %d files", c.Source, len(files))
	}
	to, done, err := c.target(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	results := c.sendAll(a, to, files)
	refused := 0
	for _, s := range results {
		if !s.ok() {
			refused++
		}
	}
	if err := c.tell(a, results, refused); err != nil {
		return err
	}
	switch {
	case refused == 0:
		return nil
	case refused < len(results):
		return &exit{exitPartly, nil}
	}
	return &exit{exitFailed, nil}
}

// filesOf lists what is to be sent, in the order of names. Hidden files are
// other programs' business.
func filesOf(source string) ([]string, error) {
	if source == "-" {
		return []string{source}, nil
	}
	var files []string
	err := filepath.WalkDir(source, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := path != source && strings.HasPrefix(d.Name(), ".")
		switch {
		case d.IsDir() && hidden:
			return filepath.SkipDir
		case !d.IsDir() && !hidden:
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, usage("there is no file in %s", source)
	}
	return files, nil
}

// ingress is where to send and with which token.
type ingress struct {
	url, token string
	http       *http.Client
}

// target finds the ingress and a token of the partner. done takes back a token
// that was made for this run.
func (c *ingestCommand) target(a *app) (to ingress, done func() error, err error) {
	done = func() error { return nil }
	local, err := readLocalAccess(a.grammar.DataDir)
	here := err == nil
	if err != nil && (!errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission)) {
		return to, done, err
	}
	to = ingress{url: c.Ingress, token: c.PartnerToken}
	certificate := ""
	if to.url == "" {
		if !here {
			return to, done, fmt.Errorf("no gateway found on this machine; start one with `edigw serve`, name its data folder with --data-dir, or give --ingress and --partner-token")
		}
		to.url, certificate = local.Ingress, local.IngressCertificate
	}
	if to.http, err = httpClient(certificate); err != nil {
		return to, done, err
	}
	to.http.Transport = unstalled{to.http.Transport, mostStill}
	if to.token != "" {
		return to, done, nil
	}
	api, err := a.client(c.connection)
	if err != nil {
		return to, done, fmt.Errorf("a token of the partner is needed: give --partner-token, or let one be made: %w", err)
	}
	label := "ingest " + time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
	if _, to.token, err = api.partnerToken(a, c.Partner, label, 24*time.Hour); err != nil {
		return to, done, err
	}
	return to, func() error {
		// A run that was interrupted takes its token back as well.
		after := *a
		ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), 10*time.Second)
		defer cancel()
		after.ctx = ctx
		_, err := api.ask(&after, http.MethodDelete, "/partners/"+url.PathEscape(c.Partner)+"/tokens/"+url.PathEscape(label), nil, nil, nil)
		return err
	}, nil
}

// sendAll sends several files at a time and gives what came of them in order.
func (c *ingestCommand) sendAll(a *app, to ingress, files []string) []sent {
	results := make([]sent, len(files))
	next := make(chan int)
	var wg sync.WaitGroup
	how := a.progressOf(len(files))
	for range max(1, min(c.Jobs, len(files))) {
		wg.Go(func() {
			for i := range next {
				results[i] = c.send(a, to, files[i])
				how.done(results[i].ok())
			}
		})
	}
	for i := range files {
		next <- i
	}
	close(next)
	wg.Wait()
	how.end()
	return results
}

// send sends one file, and comes back as often as the gateway asks for it.
func (c *ingestCommand) send(a *app, to ingress, name string) sent {
	s := sent{File: name}
	p, closeSource, err := a.source(name)
	if err != nil {
		s.Error = err.Error()
		return s
	}
	for try := 0; ; try++ {
		wait, err := c.post(a, to, p, &s)
		if s.Error = ""; err != nil {
			s.Error = err.Error()
		}
		if wait < 0 || try >= c.Retries || a.ctx.Err() != nil {
			break
		}
		select {
		case <-time.After(wait):
		case <-a.ctx.Done():
		}
	}
	if err := closeSource(); err != nil && s.Error == "" {
		s.Error = err.Error()
	}
	return s
}

// post sends a payload once. wait is how long to wait before it is tried again,
// negative if that would not help.
func (c *ingestCommand) post(a *app, to ingress, p *edi.Payload, s *sent) (wait time.Duration, err error) {
	const never = -1
	r, err := http.NewRequestWithContext(a.ctx, http.MethodPost, strings.TrimRight(to.url, "/")+"/in/"+url.PathEscape(c.Partner), p.Reader(0, p.Size()))
	if err != nil {
		return never, err
	}
	r.ContentLength = p.Size()
	r.Header.Set("Authorization", "Bearer "+to.token)
	r.Header.Set("Content-Type", "application/octet-stream")
	if s.File != "-" {
		r.Header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": filepath.Base(s.File)}))
	}
	if c.MessageID != "" {
		r.Header.Set("Idempotency-Key", c.MessageID)
	}
	resp, err := to.http.Do(r)
	if err != nil {
		if a.ctx.Err() != nil {
			return never, err
		}
		return time.Second, err // the same bytes again are safe: that is what the gateway is for
	}
	text, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return time.Second, fmt.Errorf("read the answer: %w", err)
	}
	s.Status, s.Verdict, s.Answer = resp.StatusCode, resp.Header.Get("Edigw-Verdict"), nil
	var answer struct {
		Outcome string `json:"outcome"`
		Title   string `json:"title"`
		Detail  string `json:"detail"`
	}
	if json.Unmarshal(text, &answer) != nil {
		return never, fmt.Errorf("%s answered %s, which is no answer of edigw: is the address right?", resp.Request.URL.Host, resp.Status)
	}
	s.Answer, s.Outcome = text, answer.Outcome
	if s.ok() {
		return never, nil
	}
	err = errors.New(strings.TrimSuffix(answer.Title+": "+answer.Detail, ": "))
	seconds, e := strconv.Atoi(resp.Header.Get("Retry-After"))
	if (resp.StatusCode != http.StatusConflict && resp.StatusCode != http.StatusServiceUnavailable) || e != nil {
		return never, err
	}
	return time.Duration(min(max(seconds, 1), 60)) * time.Second, err
}

func (c *ingestCommand) tell(a *app, results []sent, refused int) error {
	if c.Output == "json" {
		return a.json(struct {
			Files   []sent `json:"files"`
			Sent    int    `json:"sent"`
			Refused int    `json:"refused"`
		}{results, len(results) - refused, refused})
	}
	rows := make([][]string, len(results))
	for i, s := range results {
		rows[i] = []string{s.File, strconv.Itoa(s.Status), s.Verdict, s.Outcome, s.Error}
	}
	if err := a.table([]string{"FILE", "STATUS", "VERDICT", "OUTCOME", "WHY"}, rows); err != nil {
		return err
	}
	if len(results) > 1 {
		counts := map[string]int{}
		for _, s := range results {
			if s.Verdict != "" {
				counts[s.Verdict]++
			}
		}
		var words []string
		for w, n := range counts {
			words = append(words, fmt.Sprintf("%d %s", n, w))
		}
		slices.Sort(words)
		a.progress("%s: %d taken, %d refused (%s)", plural(len(results), "file"), len(results)-refused, refused, strings.Join(words, ", "))
	}
	return nil
}
