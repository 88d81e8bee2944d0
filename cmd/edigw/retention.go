package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/edigw/edigw/purge"
)

type retentionCommand struct {
	Status       retentionStatus       `cmd:"" help:"How the purge stands, and what its last run did."`
	Runs         retentionRuns         `cmd:"" help:"Runs of the purge, the latest first."`
	Preview      retentionPreview      `cmd:"" help:"What a purge would remove now, and what would stay and why."`
	Purge        retentionPurge        `cmd:"" help:"Purge now what its retention has passed."`
	Pause        retentionPause        `cmd:"" help:"Stop the purge, and let none begin."`
	Resume       retentionResume       `cmd:"" help:"End a pause."`
	Hold         retentionHold         `cmd:"" help:"Keep a message from being purged, with all that is its own."`
	Release      retentionRelease      `cmd:"" help:"End the hold of a message."`
	Holds        retentionHolds        `cmd:"" help:"Messages that a person keeps from being purged."`
	Show         retentionShow         `cmd:"" help:"How long what is kept of a partner is kept; with --with, what would go under other windows."`
	ConfirmClock retentionConfirmClock `cmd:"" help:"Say that the database's clock is right, which had jumped."`
}

// purgeStanding is how the purge stands, as the API tells it.
type purgeStanding struct {
	purge.State
	Refuses bool          `json:"refuses"`
	Success *time.Time    `json:"last_success_at"`
	Last    *purge.Report `json:"last_run"`
}

func (s *purgeStanding) tell(a *app) error {
	text := "No run is at work.\n"
	switch {
	case s.Run != nil:
		text = fmt.Sprintf("Run %s is at work on %s.\n", s.Run, printable(s.Node))
	case s.JumpedFrom != nil && s.JumpedTo != nil:
		text = fmt.Sprintf("Nothing is purged: the database's clock jumped from %s to %s. Where it is right: `edigw retention confirm-clock`.\n", clock(*s.JumpedFrom), clock(*s.JumpedTo))
	case s.Refuses && s.Last != nil:
		text = "Nothing is purged: " + printable(s.Last.Reason) + ".\n"
	}
	if s.PausedAt != nil {
		text += fmt.Sprintf("It is paused, since %s, by %s: %s.\n", clock(*s.PausedAt), printable(s.PausedBy), printable(s.PausedFor))
	}
	if s.OldestDue != nil {
		text += "Due longest: a key whose day was " + day(s.OldestDue) + ".\n"
	}
	if s.Success == nil {
		text += "No run has done all that was due yet.\n"
	} else {
		text += "The last run that did all that was due ended " + clock(*s.Success) + ".\n"
	}
	if _, err := fmt.Fprint(a.stdout, text); err != nil || s.Last == nil {
		return err
	}
	return tellRun(a, s.Last)
}

// tellRun writes a report.
func tellRun(a *app, r *purge.Report) error {
	text := fmt.Sprintf("\nRun %s of %s by %s: %s", r.ID, clock(r.Started), printable(cmp.Or(r.By, "the gateway")), r.State)
	if r.Ended != nil {
		text += " after " + r.Ended.Sub(r.Started).Round(time.Second).String()
	}
	if r.Reason != "" {
		text += ": " + printable(r.Reason)
	}
	if r.Resumes != nil {
		text += fmt.Sprintf("; it went on with run %s, which ended without a word", r.Resumes)
	}
	if _, err := fmt.Fprintln(a.stdout, text+"."); err != nil {
		return err
	}
	return tellSteps(a, r.Steps)
}

// tellSteps writes what went and what stayed; partners only where they are named.
func tellSteps(a *app, steps []purge.Step) error {
	if len(steps) == 0 {
		_, err := fmt.Fprintln(a.stdout, "Nothing was due.")
		return err
	}
	named := false
	for _, s := range steps {
		named = named || s.Partner != ""
	}
	titles := []string{"KIND", "ROWS", "BYTES", "STAYS BECAUSE"}
	if named {
		titles = append([]string{"PARTNER"}, titles...)
	}
	var rows [][]string
	for _, s := range steps {
		row := []string{s.Kind, strconv.FormatInt(s.Rows, 10), strconv.FormatInt(s.Bytes, 10), s.Reason}
		if named {
			row = append([]string{s.Partner}, row...)
		}
		rows = append(rows, row)
	}
	return a.table(titles, rows)
}

type retentionStatus struct {
	Output string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	connection
}

func (c *retentionStatus) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	var s purgeStanding
	text, err := api.ask(a, http.MethodGet, "/retention/status", nil, nil, &s)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return a.rawJSON(text)
	}
	return s.tell(a)
}

type retentionRuns struct {
	RunID string `arg:"" optional:"" name:"run" help:"One run, with what it did of each partner."`
	listing
}

func (c *retentionRuns) Run(a *app) error {
	if c.RunID == "" {
		return list(a, c.listing, "/retention/runs", c.filters(), []string{"RUN", "STARTED", "STATE", "BY", "WENT", "BYTES", "STAYED", "REASON"}, func(r purge.Report) []string {
			var rows, bytes, stayed int64
			for _, s := range r.Steps {
				if s.Reason == "" {
					rows, bytes = rows+s.Rows, bytes+s.Bytes
				} else {
					stayed += s.Rows
				}
			}
			return []string{r.ID.String(), clock(r.Started), r.State, cmp.Or(r.By, "the gateway"), strconv.FormatInt(rows, 10), strconv.FormatInt(bytes, 10), strconv.FormatInt(stayed, 10), shorten(r.Reason, 80)}
		})
	}
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	var r purge.Report
	text, err := api.ask(a, http.MethodGet, "/retention/runs/"+url.PathEscape(c.RunID), nil, nil, &r)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return a.rawJSON(text)
	}
	return tellRun(a, &r)
}

type retentionPreview struct {
	Output string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	connection
}

func (c *retentionPreview) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	// It is answered when all that is due has been counted.
	api.patient(purge.PreviewEnds + 30*time.Second)
	var f purge.Foreseen
	text, err := api.ask(a, http.MethodGet, "/retention/preview", nil, nil, &f)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return a.rawJSON(text)
	}
	if _, err := fmt.Fprintf(a.stdout, "A purge at %s would do this:\n", clock(f.At)); err != nil {
		return err
	}
	return tellSteps(a, f.Steps)
}

type retentionPurge struct {
	NoWait bool   `help:"Begin it and do not wait for its end; edigw retention status tells how it stands."`
	Output string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	connection
}

// purgePoll is how often a command that waits for a run asks for it.
const purgePoll = 200 * time.Millisecond

func (c *retentionPurge) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	var r purge.Report
	text, err := api.ask(a, http.MethodPost, "/retention/purge", nil, nil, &r)
	if err != nil {
		return err
	}
	poll := purgePoll
	for told := time.Now(); r.State == purge.Running && !c.NoWait; {
		select {
		case <-a.ctx.Done():
			return fmt.Errorf("no longer waited for: run %s goes on; `edigw retention pause` stops it: %w", r.ID, context.Cause(a.ctx))
		case <-time.After(poll):
		}
		poll = min(2*poll, 5*time.Second)
		id := r.ID
		r = purge.Report{}
		if text, err = api.ask(a, http.MethodGet, "/retention/runs/"+id.String(), nil, nil, &r); err != nil {
			return err
		}
		if time.Since(told) > 10*time.Second {
			told = time.Now()
			var rows int64
			for _, s := range r.Steps {
				if s.Reason == "" {
					rows += s.Rows
				}
			}
			a.progress("%d rows are gone", rows)
		}
	}
	if c.Output == "json" {
		err = a.rawJSON(text)
	} else {
		err = tellRun(a, &r)
	}
	switch {
	case err != nil:
		return err
	case r.State == purge.Refused, r.State == purge.Failed:
		return &exit{exitFailed, nil}
	case r.State == purge.Stopped:
		return &exit{exitPartly, nil}
	}
	return nil
}

type retentionPause struct {
	Reason string `required:"" placeholder:"TEXT" help:"Why; it is shown, and stands in the audit log."`
	connection
}

func (c *retentionPause) Run(a *app) error {
	return changePurge(a, c.connection, "/retention/pause", map[string]string{"reason": c.Reason})
}

type retentionResume struct{ connection }

func (c *retentionResume) Run(a *app) error {
	return changePurge(a, c.connection, "/retention/resume", nil)
}

type retentionConfirmClock struct {
	Note string `required:"" placeholder:"TEXT" help:"How you know that it is right; it stands in the audit log."`
	connection
}

func (c *retentionConfirmClock) Run(a *app) error {
	return changePurge(a, c.connection, "/retention/confirm-clock", map[string]string{"note": c.Note})
}

func changePurge(a *app, at connection, path string, send any) error {
	api, err := a.client(at)
	if err != nil {
		return err
	}
	var s purgeStanding
	if _, err := api.ask(a, http.MethodPost, path, nil, send, &s); err != nil {
		return err
	}
	return s.tell(a)
}
