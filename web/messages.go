package web

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/journal"
)

var messageFilters = append([]Parameter{
	{"partner", Text, nil},
	{"message_id", Text, nil},
	{"transport", Text, []string{"http", "as2", "as4", "worker"}},
	{"verdict", Text, verdicts},
	{"outcome", Text, outcomes},
	{"document", Text, nil},
	{"after", Time, nil},
	{"before", Time, nil},
}, paging...)

// verdicts and outcomes are the words of the outcome table, and of what failed verification.
var (
	verdicts = []string{string(gateway.First), string(gateway.Duplicate), string(gateway.Retry), string(gateway.Reevaluation),
		string(gateway.Correction), string(gateway.Completion), string(gateway.Reuse), string(gateway.Drift), "refused"}
	outcomes = []string{"accepted", "partly", "rejected", "quarantined", "received", "dead"}
)

// delivery is a line of the journal: an interchange of a delivery.
type delivery struct {
	*journal.Delivery
	SHA256 string `json:"payload_sha256,omitempty"`
	Self   string `json:"message,omitempty"` // where to read more; "" of what failed verification

	NextTry *time.Time `json:"next_try,omitempty"` // of what is pending still
}

func deliveryOf(d *journal.Delivery) delivery {
	out := delivery{Delivery: d, SHA256: hex.EncodeToString(d.SHA256)}
	switch {
	case d.Verdict == "refused": // it took no key: there is nothing to read but the delivery
	case d.MessageID != "":
		out.Self = messagePath(d.Partner, d.MessageID)
	case d.TransportID != "":
		out.Self = messagePath(d.Partner, d.TransportID)
	case len(d.SHA256) == 32: // came without any key: the payload's digest is one
		out.Self = messagePath(d.Partner, dedup.DigestKey([32]byte(d.SHA256)))
	}
	return out
}

func messagePath(partner, messageID string) string {
	return Prefix + "/messages/" + url.PathEscape(partner) + "/" + url.PathEscape(messageID)
}

// listMessages gives the journal, the latest first.
func (c *call) listMessages() error {
	f := journal.Filter{
		Transport: c.text["transport"], Verdict: c.text["verdict"], Outcome: c.text["outcome"],
		After: c.times["after"], Before: c.times["before"], Limit: c.limit + 1,
	}
	var err error
	if f.Partners, err = c.partners(); err != nil {
		return err
	}
	if f.From, err = position(c.cursor); err != nil {
		return err
	}
	if id := c.text["message_id"]; id != "" {
		if err := c.under(&f, id); err != nil {
			return err
		}
	}
	if number := c.text["document"]; number != "" {
		brought, err := c.messagesOf(f.Partners, number)
		if err != nil {
			return err
		}
		f.MessageIDs = both(f.MessageIDs, brought)
	}
	var list []*journal.Delivery
	if f.MessageIDs == nil || len(f.MessageIDs) > 0 {
		if list, err = c.api.Journal.List(c.ctx(), f); err != nil {
			return err
		}
	}
	items := make([]delivery, len(list))
	for i, d := range list {
		items[i] = deliveryOf(d)
	}
	if err := c.addNextTries(items); err != nil {
		return err
	}
	return c.reply(http.StatusOK, pageOf(&c.query, items, func(d delivery) string {
		return d.ID.String() + "." + strconv.Itoa(int(d.Seq))
	}))
}

// partners gives the one asked for, else all: every statement names them.
func (c *call) partners() ([]string, error) {
	if p := c.text["partner"]; p != "" {
		return []string{p}, nil
	}
	list, err := c.api.Partners.List(c.ctx())
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(list))
	for i, p := range list {
		ids[i] = p.ID
	}
	return ids, nil
}

// under narrows f to what came under a key, or names it. The journal is indexed
// by interchange keys: which came under a transport key is known to that key.
func (c *call) under(f *journal.Filter, id string) error {
	f.MessageIDs = []string{id}
	for _, partner := range f.Partners {
		k, err := c.api.Inbox.Get(c.ctx(), dedup.Ref{Partner: partner, ID: id})
		if err != nil {
			return err
		}
		if k != nil && k.Kind == dedup.Transport {
			underKey(f, k)
			return nil
		}
	}
	return nil
}

func underKey(f *journal.Filter, k *dedup.Key) {
	f.MessageIDs = []string{k.ID}
	if k.Kind == dedup.Interchange {
		return
	}
	for _, carried := range k.Carried {
		f.MessageIDs = append(f.MessageIDs, carried.ID)
	}
	if strings.HasPrefix(k.ID, "sha256:") { // no id was sent
		for _, v := range k.Variants {
			f.Unkeyed = append(f.Unkeyed, v.SHA256[:])
		}
		return
	}
	f.Under = k.ID
}

// messagesOf gives the keys of the interchanges that brought documents of that
// number.
func (c *call) messagesOf(partners []string, number string) ([]string, error) {
	ids := []string{}
	for _, partner := range partners {
		list, err := c.documentsOf(partner, number)
		if err != nil {
			return nil, err
		}
		for _, d := range list {
			ids = append(ids, d.MessageID)
		}
	}
	return ids, nil
}

// both gives what stands in a and b; a nil list is everything.
func both(a, b []string) []string {
	if a == nil {
		return b
	}
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !slices.Contains(b, s) })
}

func position(cursor string) (*journal.Position, error) {
	if cursor == "" {
		return nil, nil
	}
	id, seq, _ := strings.Cut(cursor, ".")
	u, err := uuid.Parse(id)
	n, err2 := strconv.ParseInt(seq, 10, 32)
	if err != nil || err2 != nil {
		return nil, badCursor()
	}
	return &journal.Position{ID: u, Seq: int32(n)}, nil
}

// key reads the key that the path names.
func (c *call) key() (*dedup.Key, error) {
	partner, err := c.path("partner")
	if err != nil {
		return nil, err
	}
	id, err := c.path("message_id")
	if err != nil {
		return nil, err
	}
	k, err := c.api.Inbox.Get(c.ctx(), dedup.Ref{Partner: partner, ID: id})
	if err != nil {
		return nil, err
	}
	if k == nil {
		return nil, &problem{Status: http.StatusNotFound, Type: "not-found",
			Detail: fmt.Sprintf("partner %s has no message %q; keys are those of message_id in a list, escaped for a path", partner, id)}
	}
	return k, nil
}
