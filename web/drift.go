package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/compare"
	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/journal"
)

// maxCompared bounds the payloads compared while somebody waits, in bytes.
const maxCompared = 32 << 20

var driftFilters = append([]Parameter{
	{"partner", Text, nil},
	{"message_id", Text, nil},
	{"state", Text, []string{"open", "in_review", "awaiting_approval", "resolved", "auto_resolved"}},
	{"kind", Text, []string{dedup.KindTransport, dedup.KindInterchange, dedup.KindDocument}},
	{"class", Text, []string{string(compare.Formatting), string(compare.Envelope), string(compare.Business), string(compare.DifferentDocument), string(compare.Unparseable), string(compare.OriginalPurged)}},
	{"severity", Text, []string{string(compare.Info), string(compare.Low), string(compare.Medium), string(compare.High), string(compare.Critical)}},
}, paging...)

// alert is a drift in the list: what changed stands in words.
type alert struct {
	*dedup.Alert
	Original string   `json:"original_sha256,omitempty"`
	Digests  []string `json:"digests"`
	Seen     int      `json:"digests_seen"` // how many drifted; of very many the first and the last are listed
	Self     string   `json:"alert"`        // where to read more
	Message  string   `json:"message"`      // the key's own page
}

func alertOf(a *dedup.Alert) alert {
	out := alert{Alert: a, Digests: []string{}, Seen: a.DigestsSeen(), Self: Prefix + "/drift/" + a.ID.String(), Message: messagePath(a.Partner, a.MessageID)}
	if len(a.Original) == 32 {
		out.Original = hexOf([32]byte(a.Original))
	}
	for _, d := range a.Digests {
		if len(d) == 32 {
			out.Digests = append(out.Digests, hexOf([32]byte(d)))
		}
	}
	a.Opened, a.Updated = a.Opened.UTC(), a.Updated.UTC()
	return out
}

func (c *call) listDrift() error {
	before, err := c.cursorID()
	if err != nil {
		return err
	}
	list, err := c.api.Alerts.List(c.ctx(), dedup.AlertFilter{
		Partner: c.text["partner"], MessageID: c.text["message_id"], State: c.text["state"], Kind: c.text["kind"],
		Class: c.text["class"], Severity: c.text["severity"], Before: before, Limit: c.limit + 1,
	})
	if err != nil {
		return err
	}
	items := make([]alert, len(list))
	for i, a := range list {
		items[i] = alertOf(a)
	}
	return c.reply(http.StatusOK, pageOf(&c.query, items, func(a alert) string { return a.ID.String() }))
}

// driftDetail is a drift with the comparison of what came with what was there.
type driftDetail struct {
	alert
	Compared   string          `json:"compared_sha256"`           // of the digests, the one compared
	With       *ref            `json:"compared_with,omitempty"`   // the original; absent where it is not known
	Comparison *compare.Result `json:"comparison,omitempty"`      // absent where there is nothing to compare
	Note       string          `json:"comparison_note,omitempty"` // why
	Withheld   bool            `json:"values_withheld,omitempty"` // the comparison says what changed and where, not from what to what
	Copies     []delivery      `json:"copies"`                    // of every digest, the latest first
	Omitted    bool            `json:"copies_omitted,omitempty"`
}

// valuesFrom is the least role that sees values of a payload, here as in
// rawMessage.
const valuesFrom = accounts.Operator

// showDrift compares the last digest that drifted, or the one asked for, with
// the original. What stands in the payloads only operators see, and that they
// looked is audited before the answer leaves.
func (c *call) showDrift() error {
	id, err := c.pathID("alert_id")
	if err != nil {
		return err
	}
	a, err := c.api.Alerts.Get(c.ctx(), "", id)
	if err != nil {
		return err
	}
	k, err := c.api.Inbox.Get(c.ctx(), dedup.Ref{Partner: a.Partner, ID: a.MessageID})
	if err != nil {
		return err
	}
	digest := a.Digests[len(a.Digests)-1]
	if c.digest != nil {
		if !drifted(a, k, c.digest) {
			return &problem{Status: http.StatusNotFound, Type: "not-found", Detail: fmt.Sprintf("no payload of the digest %x drifted here; the alert lists those that did", c.digest)}
		}
		digest = c.digest
	}
	out := driftDetail{alert: alertOf(a), Compared: fmt.Sprintf("%x", digest)}
	if k == nil { // purged after it was decided
		out.Note, out.Copies = "the key is no longer kept", []delivery{}
		return c.reply(http.StatusOK, out)
	}
	if err := c.compareDrift(a, k, [32]byte(digest), &out); err != nil {
		return err
	}
	if err := c.mayCompare(a, &out); err != nil {
		return err
	}
	var m message
	if err := c.receptions(k, &m); err != nil {
		return err
	}
	out.Copies, out.Omitted = m.Receptions, m.ReceptionsOmitted
	return c.reply(http.StatusOK, out)
}

// drifted reports whether d is a digest of a. The alert lists the first and the
// last of very many; the key knows each.
func drifted(a *dedup.Alert, k *dedup.Key, d []byte) bool {
	if slices.ContainsFunc(a.Digests, func(known []byte) bool { return string(known) == string(d) }) {
		return true
	}
	if k == nil {
		return false
	}
	v := k.Find([32]byte(d))
	return v != nil && v.AlertID == a.ID
}

// mayCompare takes the values out for those who may not see them, and notes in
// the audit log who does.
func (c *call) mayCompare(a *dedup.Alert, out *driftDetail) error {
	if out.Comparison == nil {
		return nil
	}
	if !c.who.Role.AtLeast(valuesFrom) {
		out.Comparison, out.Withheld = out.Comparison.WithoutValues(), true
		if out.Note == "" {
			out.Note = fmt.Sprintf("what changed and where; the values need the role %s", valuesFrom)
		}
		return nil
	}
	read := map[string]any{"alert_id": a.ID, "payload_sha256": out.Compared}
	if out.With != nil {
		read["compared_with"] = map[string]string{"message_id": out.With.MessageID, "payload_sha256": out.With.SHA256}
	}
	detail, err := json.Marshal(read)
	if err != nil {
		return err
	}
	return c.api.Record(c.ctx(), accounts.Entry{Who: c.who.Person, Role: c.who.Role, Action: "payload.read", Subject: a.MessageID, Partner: a.Partner, Detail: detail})
}

func (c *call) compareDrift(a *dedup.Alert, k *dedup.Key, digest [32]byte, out *driftDetail) error {
	later := k.Find(digest)
	if later == nil {
		out.Note = "the payload that drifted is no longer known"
		return nil
	}
	if later.Length > maxCompared {
		out.Note = fmt.Sprintf("too large to compare here: save both with `messages raw` and use `edigw diff`; at most %d bytes are compared", maxCompared)
		return nil
	}
	text, err := c.payload(k.Partner, later)
	if err != nil {
		return err
	}
	if text == nil {
		out.Note = "the payload that drifted is no longer kept"
		return nil
	}
	original, of, err := c.original(a, k)
	if err != nil {
		return err
	}
	if original != nil {
		out.With = &ref{of.Partner, of.ID, hexOf(original.SHA256), messagePath(of.Partner, of.ID)}
	}
	before, err := c.payload(k.Partner, original)
	if err != nil {
		return err
	}
	out.Comparison = c.api.Compare(before, text)
	if before == nil {
		out.Note = "the original's payload is not kept: only its digest can be compared"
	}
	return nil
}

// original finds what an alert's digest differs from: the variant it names, or,
// where a document came again, the interchange that brought it first.
func (c *call) original(a *dedup.Alert, k *dedup.Key) (*dedup.Variant, dedup.Ref, error) {
	if len(a.Original) == 32 {
		return k.Find([32]byte(a.Original)), k.Ref, nil
	}
	if a.Kind != dedup.KindDocument || len(a.Documents) == 0 {
		return nil, dedup.Ref{}, nil
	}
	list, err := c.documentsOf(a.Partner, a.Documents[0])
	if err != nil {
		return nil, dedup.Ref{}, err
	}
	for _, d := range slices.Backward(list) { // the oldest first
		if d.MessageID == a.MessageID {
			continue
		}
		other, err := c.api.Inbox.Get(c.ctx(), dedup.Ref{Partner: a.Partner, ID: d.MessageID})
		if err != nil {
			return nil, dedup.Ref{}, err
		}
		if other != nil && other.Current() != nil {
			return other.Current(), other.Ref, nil
		}
	}
	return nil, dedup.Ref{}, nil
}

func isPurged(err error) bool { return errors.Is(err, journal.ErrPurged) }

func documentsPath(partner, messageID string) string {
	return Prefix + "/documents?partner=" + url.QueryEscape(partner) + "&message_id=" + url.QueryEscape(messageID)
}
