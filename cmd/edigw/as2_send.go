package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/as2"
	"github.com/edigw/edigw/partners/keys"
	"github.com/edigw/edigw/targets"
)

// as2Command works on the database itself, as keys does: it signs with our keys.
type as2Command struct {
	Send as2Send `cmd:"" help:"Send a file to a partner over AS2, and judge his MDN."`
}

type as2Send struct {
	Partner      string        `arg:"" help:"The partner's id; its settings as2.send say where to and how."`
	File         string        `arg:"" help:"What is sent, or - for standard input."`
	MessageID    string        `name:"message-id" placeholder:"ID" help:"The message's id; give the one of the first try when you send again. One is made if left out."`
	Type         string        `placeholder:"TYPE" help:"Media type of the content; if left out, by what it begins with."`
	Timeout      time.Duration `default:"5m" placeholder:"TIME" help:"How long the partner may take to answer."`
	AllowTargets []string      `setting:"" placeholder:"HOST,…" help:"Hosts, addresses and networks inside your own network that may be sent to, like as2.south.example,10.1.0.0/16."`
	Output       string        `short:"o" enum:"table,json" default:"table" help:"table or json."`
	keyFlags
}

// sentTold is what came of it.
type sentTold struct {
	Partner     string   `json:"partner"`
	MessageID   string   `json:"message_id"`
	URL         string   `json:"url"`
	Status      int      `json:"status,omitempty"`
	Accepted    bool     `json:"accepted"`
	Disposition string   `json:"disposition,omitempty"`
	MIC         string   `json:"mic"`
	TheirMIC    string   `json:"received_content_mic,omitempty"`
	SignedBy    string   `json:"signed_by,omitempty"` // the partner's certificate
	Errors      []string `json:"errors,omitempty"`
	Failure     string   `json:"failure,omitempty"`
	Again       bool     `json:"may_be_sent_again"` // under the same id
}

// Run sends once. It ends with 1 where the partner did not accept the message, or
// nothing is known.
func (c *as2Send) Run(a *app) error {
	text, err := a.whole(c.File)
	if err != nil {
		return err
	}
	guard, err := targets.NewGuard(c.AllowTargets)
	if err != nil {
		return usage("--allow-targets: %v", err)
	}
	if c.MessageID == "" {
		c.MessageID = uuid.Must(uuid.NewV7()).String() + "@edigw"
	}
	told := &sentTold{Partner: c.Partner, MessageID: strings.Trim(c.MessageID, "<>")}
	err = c.with(a, func(store *keys.Store) error {
		p, ring, err := partnerOf(a, store, c.Partner)
		if err != nil {
			return err
		}
		told.URL = p.AS2.Send.URL
		if err := signedByHand(a, store, "as2.sent", p.ID, told.URL, told.MessageID); err != nil {
			return err
		}
		s := &as2.Sender{Keys: keyring{ring, time.Now}.as2Keys, Client: guard.Client(c.Timeout)}
		sent, err := s.Send(a.ctx, p, as2.Outgoing{MessageID: told.MessageID, Type: c.mediaType(text), Filename: c.filename(), Subject: c.filename(), Content: text})
		if errors.Is(err, as2.ErrNotConfigured) {
			return err
		}
		told.of(sent, err)
		return nil
	})
	if err != nil {
		return err
	}
	if err := told.show(a, c.Output); err != nil {
		return err
	}
	if !told.Accepted {
		return errors.New("the message was not acknowledged: " + told.Failure)
	}
	return nil
}

func (c *as2Send) filename() string {
	if c.File == "-" {
		return ""
	}
	return filepath.Base(c.File)
}

// mediaType is that of RFC 1767.
func (c *as2Send) mediaType(text []byte) string {
	switch head := strings.TrimSpace(string(text[:min(len(text), 100)])); {
	case c.Type != "":
		return c.Type
	case strings.HasPrefix(head, "ISA"):
		return targets.MediaType("x12")
	case strings.HasPrefix(head, "UNA"), strings.HasPrefix(head, "UNB"):
		return targets.MediaType("edifact")
	}
	return "application/octet-stream"
}

func (t *sentTold) of(sent *as2.Sent, err error) {
	t.Accepted = err == nil
	if err != nil {
		t.Failure = err.Error()
		t.Again = !errors.Is(err, as2.ErrRefused) && !errors.Is(err, as2.ErrUnexplained)
	}
	if sent == nil {
		return
	}
	t.Status, t.MIC, t.SignedBy = sent.Status, sent.MIC.String(), sent.Certificate
	if n := sent.Notification; n != nil {
		t.Disposition, t.TheirMIC, t.Errors = n.Disposition.String(), n.MIC.String(), n.Errors
	}
}

func (t *sentTold) show(a *app, output string) error {
	if output == "json" {
		return a.json(t)
	}
	rows := [][2]string{{"message id", t.MessageID}, {"sent to", t.URL}, {"check", t.MIC}, {"MDN", t.Disposition}, {"its check", t.TheirMIC}, {"signed by", t.SignedBy}}
	if t.Status != 0 {
		rows = append(rows, [2]string{"status", fmt.Sprint(t.Status)})
	}
	for _, e := range t.Errors {
		rows = append(rows, [2]string{"error", e})
	}
	for _, r := range rows {
		if r[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(a.stdout, "%-11s %s\n", r[0], r[1]); err != nil {
			return err
		}
	}
	return nil
}
