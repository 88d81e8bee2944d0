package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/edigw/edigw/habits"
	"github.com/edigw/edigw/partners"
)

type partnersHabits struct {
	Partner string `arg:"" help:"The partner's id."`
	Output  string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	connection
}

// Run says what a partner usually does: first what is to be looked at.
func (c *partnersHabits) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	var r habits.Report
	body, err := api.ask(a, http.MethodGet, "/partners/"+url.PathEscape(c.Partner)+"/habits", nil, nil, &r)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return a.rawJSON(body)
	}
	if err := a.table([]string{"WHAT", "SEEN"}, habitRows(&r)); err != nil {
		return err
	}
	if len(r.Series) > 0 {
		rows := make([][]string, len(r.Series))
		for i, s := range r.Series {
			rows[i] = []string{s.Series, yes(s.Counts), s.Last, strconv.Itoa(s.Numbers), (time.Duration(s.Settle) * time.Second).String()}
		}
		if _, err := fmt.Fprintln(a.stdout); err != nil {
			return err
		}
		if err := a.table([]string{"SERIES", "COUNTS", "LAST", "NUMBERS", "MAY BE LATE"}, rows); err != nil {
			return err
		}
	}
	for _, w := range r.Warnings {
		if _, err := fmt.Fprintf(a.stdout, "\nwarning: %s: %s\n", printable(w.Setting), printable(w.Text)); err != nil {
			return err
		}
	}
	for _, x := range r.Advice {
		if _, err := fmt.Fprintf(a.stdout, "\nadvice: %s: %s in place of %s, since %s\n", printable(x.Setting), printable(x.Suggest), printable(x.Now), printable(x.Because)); err != nil {
			return err
		}
	}
	return nil
}

func habitRows(r *habits.Report) [][]string {
	repeats := func(x habits.RepeatsReport) string {
		if x.Count == 0 {
			return "none"
		}
		return fmt.Sprintf("%d, the longest after %s, %s", x.Count, time.Duration(x.Longest)*time.Second, clockOrNone(x.At))
	}
	again := "none"
	if r.Reused.Soon+r.Reused.Later > 0 {
		again = fmt.Sprintf("%d within a week, %d later", r.Reused.Soon, r.Reused.Later)
		if r.Reused.Later > 0 {
			again += fmt.Sprintf(", the soonest of these after %s", time.Duration(r.Reused.Shortest)*time.Second)
		}
	}
	rows := [][]string{
		{"evidence", r.Rests},
		{"repeats of transport ids", repeats(r.Transport)},
		{"repeats of interchanges", repeats(r.Interchange)},
		{"references used again", again},
		{"silence", r.Silence.Setting},
	}
	for _, x := range []struct {
		what string
		at   *time.Time
	}{{"last heard", r.Silence.Heard}, {"expected", r.Silence.ExpectedAt}, {"silent from", r.Silence.ExpectedBy}, {"silent since", r.Silence.SilentSince}} {
		if x.at != nil {
			rows = append(rows, []string{x.what, clock(*x.at)})
		}
	}
	return rows
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

type gapsCommand struct {
	List    gapsList    `cmd:"" help:"Control references that did not come."`
	Dismiss gapsDismiss `cmd:"" help:"Close a gap by hand, with a reason."`
}

type gapsList struct {
	Partner string `placeholder:"ID" help:"Only this partner's."`
	State   string `default:"open" enum:"open,closed,any" placeholder:"WORD" help:"open, closed or any."`
	listing
}

func (c *gapsList) Run(a *app) error {
	state := c.State
	if state == "any" {
		state = ""
	}
	return list(a, c.listing, "/gaps", c.filters("partner", c.Partner, "state", state),
		[]string{"SINCE", "PARTNER", "BEFORE", "MISSING", "AFTER", "ENDED", "SERIES", "GAP"}, func(g habits.Gap) []string {
			missing := strings.Join(g.Missing, " ")
			if g.Closed != nil {
				missing = strings.Join(g.References, " ")
			}
			return []string{clock(g.Since), g.Partner, g.Before, shorten(missing, 60), g.After, g.Cause, g.Series, g.ID.String()}
		})
}

type gapsDismiss struct {
	Partner string `arg:"" help:"The partner's id."`
	Gap     string `arg:"" help:"The gap's id, as a list shows it."`
	Reason  string `required:"" placeholder:"TEXT" help:"What became of the numbers; it stands in the gap and in the audit log."`
	connection
}

func (c *gapsDismiss) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	_, err = api.ask(a, http.MethodPost, "/gaps/"+url.PathEscape(c.Partner)+"/"+url.PathEscape(c.Gap)+"/dismiss", nil, map[string]string{"reason": c.Reason}, nil)
	return err
}

// habitCollector tells who is silent and whose numbers are missing, in the words of all
// processes.
type habitCollector struct {
	store    habits.Store
	partners func() []*partners.Partner
	fail     func(error)
}

var (
	partnerSilent     = prometheus.NewDesc("edigw_partner_silent", "1 while the partner is silent for longer than is usual.", []string{"partner"}, nil)
	partnerExpectedBy = prometheus.NewDesc("edigw_partner_expected_by_timestamp_seconds", "By when the partner is to be heard so as not to be silent, Unix time.", []string{"partner"}, nil)
	sequenceGaps      = prometheus.NewDesc("edigw_sequence_gaps", "Gaps in the partner's control references that are open.", []string{"partner"}, nil)
)

// Describe implements prometheus.Collector.
func (c habitCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{partnerSilent, partnerExpectedBy, sequenceGaps} {
		to <- d
	}
}

// Collect implements prometheus.Collector. Where the database does not answer the series are
// missing. Who is not known yet is not silent, so that an alarm has something to compare.
func (c habitCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTime)
	defer cancel()
	standings, err := c.store.Standings(ctx)
	if err != nil {
		c.fail(err)
		return
	}
	of := map[string]habits.Standing{}
	for _, s := range standings {
		of[s.Partner] = s
	}
	gauge := func(d *prometheus.Desc, v float64, partner string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, partner)
	}
	for _, p := range c.partners() {
		s := of[p.ID]
		silent := 0.0
		if s.Silent {
			silent = 1
		}
		gauge(partnerSilent, silent, p.ID)
		gauge(sequenceGaps, float64(s.Gaps), p.ID)
		if s.ExpectedBy != nil {
			gauge(partnerExpectedBy, float64(s.ExpectedBy.Unix()), p.ID)
		}
	}
}
