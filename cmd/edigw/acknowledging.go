package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/lease"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/targets"
)

// acknowledgementWorkers send at once, half of them for one partner at most. A target that
// hangs has one for half a minute in each quarter of an hour: a hundred of ten thousand
// partners' are three of them all the time.
const acknowledgementWorkers = 16

// prepareAcknowledgements makes what brings functional acknowledgements to partners
// who do not take them in the response, and application advices.
func (s *started) prepareAcknowledgements(c workFlags, secrets targets.Secrets, guard *targets.Guard, directory *partners.Directory, clock *gateway.Clock) error {
	posts := &targets.Acknowledgements{Secret: secrets.Secret, Guard: guard, Now: clock.Now, Address: func(id string) (string, string, error) {
		p := directory.Partner(id)
		if p == nil || p.Policy.AcknowledgeURL == "" {
			return "", "", targets.ErrNoAddress
		}
		return p.Policy.AcknowledgeURL, p.Policy.AcknowledgeSecret, nil
	}}
	s.relayAcknowledgements(c, posts.Target(), clock)
	pushes := &as4.Acknowledgements{Type: targets.MediaType, Partner: directory.Partner, Signers: (keyring{s.admin.ring, clock.Now}).as4Signers, Private: guard.Private, HTTP: guard.Client(time.Minute), Now: clock.Now}
	s.relayAcknowledgements(c, pushes.Target(), clock)
	if c.AcknowledgementDir == "" {
		if waiting := acknowledgedBy(directory.Partners(), "folder"); len(waiting) > 0 {
			s.log.Warn("this process puts no acknowledgements into a folder: another has to, with --acknowledgement-dir", "partners", waiting)
		}
		return nil
	}
	folder := &targets.Folder{Dir: c.AcknowledgementDir, Name: outbox.AcknowledgementFolder, Ending: ".edi", Content: acknowledgementText}
	if err := folder.Open(); err != nil {
		return fmt.Errorf("the folder for acknowledgements: %w", err)
	}
	s.relayAcknowledgements(c, folder.Target(), clock)
	return nil
}

func (s *started) relayAcknowledgements(c workFlags, target outbox.Target, clock *gateway.Clock) {
	target.Failed = func(step *outbox.Step) *outbox.Event { return acknowledgementFailed(step, clock.NewID()) }
	relay := &outbox.Relay{Pool: s.database.pool, Target: target, NewID: clock.NewID, Log: s.log, Share: acknowledgementWorkers / 2}
	s.workers = append(s.workers, &lease.Workers{Source: relay.Source(), Count: acknowledgementWorkers, Term: c.WorkLease, Log: s.log})
}

func acknowledgedBy(list []*partners.Partner, by string) (ids []string) {
	for _, p := range list {
		if p.Policy.Acknowledge == by || p.Policy.Advise == by {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// acknowledgementText is what a file of an acknowledgement holds: the interchange.
func acknowledgementText(_ context.Context, s *outbox.Step) ([]byte, error) {
	var body outbox.AcknowledgementBody
	if err := json.Unmarshal(s.Body, &body); err != nil {
		return nil, fmt.Errorf("acknowledgement %s: %w", s.Event, err)
	}
	return body.Bytes(), nil
}

// acknowledgementFailed tells that one did not reach the partner.
func acknowledgementFailed(s *outbox.Step, id uuid.UUID) *outbox.Event {
	var body outbox.AcknowledgementBody
	if json.Unmarshal(s.Body, &body) != nil { // it is told without
		body = outbox.AcknowledgementBody{}
	}
	month := s.Month
	if month.IsZero() {
		month = journal.Held
	}
	return &outbox.Event{Partner: s.Partner, ID: id, Month: month, Kind: outbox.KindEvent, Type: outbox.AcknowledgementFailed, Subject: s.Subject,
		Data: map[string]any{"acknowledgement_id": s.Event, "type": body.Type, "reference": body.Reference, "message_id": body.MessageID, "attempts": s.Attempts + 1}}
}
