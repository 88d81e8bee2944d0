package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/outbox"
)

// sentEvidence is a functional acknowledgement that left, or is to leave, by another way
// than the response: how far it is, what the partner said of it, and its file.
type sentEvidence struct {
	sentAcknowledgement
	// Configured is the address in the partner's settings at the time of the export,
	// where it goes by webhook: each attempt goes to the one that is set then. It is
	// without its query, as theirs are: that may be a secret, and evidence is passed on.
	Configured string                 `json:"address_at_export,omitempty"`
	Tries      []outbox.EffectAttempt `json:"tries,omitempty"` // each with the address or path of its time
	File       string                 `json:"file,omitempty"`
}

// sentAcknowledgements writes the functional acknowledgements of the key that leave by
// webhook or folder, and those of the interchanges that a transport id carried.
func (e *evidence) sentAcknowledgements() error {
	about := []dedup.Ref{{Partner: e.key.Partner, ID: e.key.ID}}
	for _, c := range e.key.Carried {
		about = append(about, dedup.Ref{Partner: c.Partner, ID: c.ID})
	}
	slices.SortFunc(about, func(a, b dedup.Ref) int {
		return bytes.Compare([]byte(a.Partner+"\t"+a.ID), []byte(b.Partner+"\t"+b.ID))
	})
	var list []sentEvidence
	for _, ref := range slices.Compact(about) {
		f := outbox.AcknowledgementFilter{Partner: ref.Partner, MessageID: ref.ID, Limit: evidencePage}
		for {
			page, err := e.api.Acknowledgements.List(e.ctx(), f)
			if err != nil {
				return err
			}
			for _, a := range page {
				s := sentEvidence{sentAcknowledgement: sentAcknowledgement{a, a.State.String()}}
				if err := e.sentAcknowledgement(&s); err != nil {
					return err
				}
				list = append(list, s)
				f.Before = a
			}
			if len(page) < f.Limit {
				break
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	return e.json("acknowledgements.json", "functional acknowledgements that leave by another way than the response: where to, attempts, state, and what the partner said of them", list)
}

// withoutQuery is an address as it may be shown.
func withoutQuery(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// sentAcknowledgement writes the bytes of one, where they are still kept.
func (e *evidence) sentAcknowledgement(s *sentEvidence) error {
	if s.By == "webhook" {
		p, err := e.api.Partners.Get(e.ctx(), s.Partner)
		if err != nil {
			return err
		}
		s.Configured = withoutQuery(p.Policy.AcknowledgeURL)
	}
	var err error
	ref := outbox.EffectRef{Partner: s.Partner, Event: s.Event, Target: outbox.AcknowledgementTargets[s.By]}
	if s.Tries, err = e.api.Effects.Attempts(e.ctx(), ref); err != nil {
		return err
	}
	event, err := e.api.Feed.Event(e.ctx(), s.Partner, s.Event)
	if errors.Is(err, outbox.ErrNoSuchEvent) {
		e.gap("the bytes of the %s %s that left by %s are no longer kept: their retention has passed", s.Type, s.Reference, s.By)
		return nil
	}
	if err != nil {
		return err
	}
	var body outbox.AcknowledgementBody
	if err := json.Unmarshal(event.Body, &body); err != nil {
		return fmt.Errorf("acknowledgement %s: %w", s.Event, err)
	}
	s.File = "acknowledgements/" + s.Event.String() + ".edi"
	return e.file(s.File, fmt.Sprintf("functional acknowledgement %s %s, byte for byte as it leaves by %s, %s", s.Type, s.Reference, s.By, s.State), bytes.NewReader(body.Bytes()))
}
