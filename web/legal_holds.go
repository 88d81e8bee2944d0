package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/purge"
)

var holdFilters = append([]Parameter{{"partner", Text, nil}}, paging...)

// listLegalHolds lists messages that a person keeps from being purged.
func (c *call) listLegalHolds() error {
	var after dedup.Ref
	after.Partner, after.ID, _ = strings.Cut(c.cursor, "\t")
	list, err := c.api.Inbox.LegalHolds(c.ctx(), c.text["partner"], after, c.limit+1)
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, pageOf(&c.query, list, func(h dedup.LegalHold) string { return h.Partner + "\t" + h.MessageID }))
}

// held names a message and says why something is done about it.
type held struct {
	Partner   string `json:"partner"`
	MessageID string `json:"message_id"`
	Reason    string `json:"reason"`
}

func (c *call) heldAsAsked() (h held, err error) {
	if err := c.decode(&h); err != nil {
		return h, err
	}
	switch {
	case strings.TrimSpace(h.Reason) == "":
		return h, notAsAsked("reason must say why; it is shown with the message, and stands in the audit log")
	case h.Partner == "" || h.MessageID == "":
		return h, notAsAsked("partner and message_id must name a message, as GET /messages lists it")
	}
	return h, nil
}

// addLegalHold holds a message, with all that is its own.
func (c *call) addLegalHold() error {
	h, err := c.heldAsAsked()
	if err != nil {
		return err
	}
	hold := dedup.LegalHold{Partner: h.Partner, MessageID: h.MessageID, Reason: h.Reason, By: c.who.Person}
	err = c.api.Change(c.ctx(), c.who, accounts.Entry{Action: "legal_hold.added", Subject: h.MessageID, Partner: h.Partner}, map[string]string{"reason": h.Reason}, dedup.Hold(hold))
	return c.holdsOr(err, h.Partner)
}

// endLegalHold releases a message: it may go when its retention has passed.
func (c *call) endLegalHold() error {
	h, err := c.heldAsAsked()
	if err != nil {
		return err
	}
	err = c.api.Change(c.ctx(), c.who, accounts.Entry{Action: "legal_hold.ended", Subject: h.MessageID, Partner: h.Partner}, map[string]string{"reason": h.Reason},
		dedup.Release(dedup.Ref{Partner: h.Partner, ID: h.MessageID}))
	return c.holdsOr(err, h.Partner)
}

// holdsOr answers with the partner's holds as they are then.
func (c *call) holdsOr(err error, partner string) error {
	switch {
	case errors.Is(err, dedup.ErrHeldAlready), errors.Is(err, dedup.ErrNotHeld):
		return &problem{Status: http.StatusConflict, Type: "not-decided", Detail: "nothing was changed: " + err.Error()}
	case errors.Is(err, dedup.ErrNoSuchKey):
		return &problem{Status: http.StatusNotFound, Type: "not-found", Detail: err.Error()}
	case err != nil:
		return err
	}
	list, err := c.api.Inbox.LegalHolds(c.ctx(), partner, dedup.Ref{}, c.limit+1)
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, pageOf(&c.query, list, func(h dedup.LegalHold) string { return h.Partner + "\t" + h.MessageID }))
}

// partnerRetention is how long what is kept of a partner is kept.
type partnerRetention struct {
	Partner string                 `json:"partner"`
	Set     partners.RetentionSpec `json:"set"`             // as the configuration says
	InForce partners.RetentionSpec `json:"in_force"`        // by which is purged: a shorter window has its grace
	From    string                 `json:"from,omitempty"`  // when all that is set is in force
	Origin  map[string]string      `json:"origin"`          // of each window: default or partner
	Grace   string                 `json:"grace,omitempty"` // how long a window that was made shorter goes on
}

// showRetention gives a partner's windows, with their origin and what is in force.
func (c *call) showRetention() error {
	id, err := c.path("partner")
	if err != nil {
		return err
	}
	all, err := c.api.Partners.Retentions(c.ctx())
	if err != nil {
		return err
	}
	p := all.Partners[id]
	if p == nil {
		return &problem{Status: http.StatusNotFound, Type: "not-found", Detail: "there is no partner " + id}
	}
	told := partnerRetention{Partner: id, Set: p.Set.Spec(), InForce: p.InForce.Spec(), Origin: p.Origins(), Grace: partners.Days(partners.WindowChange.Hours() / 24).String()}
	if !p.From.IsZero() {
		told.From = p.From.UTC().Format("2006-01-02T15:04:05Z")
	}
	return c.reply(http.StatusOK, told)
}

// previewRetention counts what would go if a partner's windows were changed so, without
// changing them.
func (c *call) previewRetention() error {
	id, err := c.path("partner")
	if err != nil {
		return err
	}
	var windows map[string]any
	if err := c.decode(&windows); err != nil {
		return err
	}
	patch, err := json.Marshal(windows)
	if err != nil {
		return err
	}
	set, err := c.api.Partners.RetentionWith(c.ctx(), id, patch)
	if err != nil {
		return err
	}
	now, err := c.foreseePurge(nil)
	if err != nil {
		return err
	}
	then, err := c.foreseePurge(map[string]partners.Retention{id: set})
	if err != nil {
		return err
	}
	own := func(steps []purge.Step) []purge.Step {
		list := []purge.Step{}
		for _, s := range steps {
			if s.Partner == id {
				list = append(list, s)
			}
		}
		return list
	}
	return c.reply(http.StatusOK, retentionPreview{Partner: id, At: then.At.UTC().Format("2006-01-02T15:04:05Z"), Set: set.Spec(), Now: own(now.Steps), Then: own(then.Steps)})
}

// retentionPreview is what a purge would do as it is, and what under the windows asked for,
// their grace left out.
type retentionPreview struct {
	Partner string                 `json:"partner"`
	At      string                 `json:"at"`
	Set     partners.RetentionSpec `json:"set"`
	Now     []purge.Step           `json:"now"`
	Then    []purge.Step           `json:"then"`
}
