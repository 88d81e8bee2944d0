package web

import (
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/journal"
)

// What one message tells at most; the rest is counted.
const (
	maxReceptions = 100
	maxMessages   = 200
	maxDocuments  = 100
)

// message is a key with all that is known under it.
type message struct {
	Partner            string         `json:"partner"`
	MessageID          string         `json:"message_id"`
	Kind               string         `json:"kind"` // transport, interchange
	Epoch              int32          `json:"epoch"`
	FirstAt            time.Time      `json:"first_at"`
	LastAt             time.Time      `json:"last_at"` // to the day
	PurgeOn            string         `json:"purge_on"`
	KeptBy             []string       `json:"kept_by"`           // what forbids purging it
	Carried            []ref          `json:"carried,omitempty"` // transport keys: the interchanges under it
	Variants           []variant      `json:"variants"`
	Receptions         []delivery     `json:"receptions"` // the latest first
	ReceptionsOmitted  bool           `json:"receptions_omitted,omitempty"`
	Alerts             []alert        `json:"alerts"`
	Documents          []documentItem `json:"documents"`
	DocumentsContinued string         `json:"documents_continued,omitempty"` // where the rest is

	Sent    []sentAcknowledgement `json:"sent_acknowledgements,omitempty"` // by another way than the response, the latest first
	Answers []sentAcknowledgement `json:"answers,omitempty"`               // those of ours that it says something of
}

// ref names another message.
type ref struct {
	Partner   string `json:"partner"`
	MessageID string `json:"message_id"`
	SHA256    string `json:"payload_sha256,omitempty"`
	Self      string `json:"message"`
}

// variant is one digest seen under a key.
type variant struct {
	SHA256          string          `json:"payload_sha256,omitempty"` // absent: imported without one
	Content         string          `json:"content_sha256,omitempty"`
	State           string          `json:"state"`
	Current         bool            `json:"current"`
	Epoch           int32           `json:"epoch"`
	Answer          string          `json:"answer"` // outcome that the partner was told
	Delivery        uuid.UUID       `json:"delivery_id"`
	Bytes           int64           `json:"bytes"`
	Raw             string          `json:"raw,omitempty"` // where the payload is read; absent where none was stored
	Alert           *uuid.UUID      `json:"alert_id,omitempty"`
	Messages        []messageFate   `json:"messages"`
	MessagesOmitted int             `json:"messages_omitted,omitempty"`
	Pending         *pendingWork    `json:"pending,omitempty"`
	Acknowledgement *acknowledgment `json:"acknowledgement,omitempty"` // absent where it is no longer kept
}

// messageFate is where one message of an interchange stands.
type messageFate struct {
	SHA256   string `json:"message_sha256"`
	State    string `json:"state"`
	Attempts uint8  `json:"attempts,omitempty"`
}

// acknowledgment is what was answered, as it was stored.
type acknowledgment struct {
	Status      int16           `json:"status,omitempty"`
	ContentType string          `json:"content_type,omitempty"`
	Receipt     string          `json:"receipt,omitempty"` // the bytes as sent
	Answer      json.RawMessage `json:"answer,omitempty"`  // an interchange's part of the receipt
	Functional  string          `json:"functional,omitempty"`
}

// showMessage gathers what the owners know of one key.
func (c *call) showMessage() error {
	k, err := c.key()
	if err != nil {
		return err
	}
	m := message{
		Partner: k.Partner, MessageID: k.ID, Kind: "interchange", Epoch: k.Epoch, FirstAt: k.FirstAt.UTC(), LastAt: k.LastAt.UTC(),
		PurgeOn: k.PurgeOn.Format(time.DateOnly), KeptBy: keptBy(k.Hold()), Variants: []variant{}, Alerts: []alert{}, Documents: []documentItem{},
	}
	if k.Kind == dedup.Transport {
		m.Kind = "transport"
	}
	for _, carried := range k.Carried {
		m.Carried = append(m.Carried, ref{carried.Partner, carried.ID, hexOf(carried.SHA256), messagePath(carried.Partner, carried.ID)})
	}
	if m.Variants, err = c.variants(k); err != nil {
		return err
	}
	if err := c.receptions(k, &m); err != nil {
		return err
	}
	alerts, err := c.api.Alerts.List(c.ctx(), dedup.AlertFilter{Partner: k.Partner, MessageID: k.ID, Limit: maxLimit})
	if err != nil {
		return err
	}
	for _, a := range alerts {
		m.Alerts = append(m.Alerts, alertOf(a))
	}
	if err := c.brought(k, &m); err != nil {
		return err
	}
	if err := c.sentAbout(&m); err != nil {
		return err
	}
	return c.reply(http.StatusOK, m)
}

func keptBy(hold int16) []string {
	out := []string{}
	for _, h := range []struct {
		bit  int16
		word string
	}{{dedup.HoldDrift, "open_drift"}, {dedup.HoldMessage, "held_message"}, {dedup.HoldPending, "pending"}, {dedup.HoldDead, "dead"}} {
		if hold&h.bit != 0 {
			out = append(out, h.word)
		}
	}
	return out
}

func (c *call) variants(k *dedup.Key) ([]variant, error) {
	var refs []journal.AckRef
	for _, v := range k.Variants {
		if v.Ack.ID != uuid.Nil {
			refs = append(refs, journal.AckRef{Partner: k.Partner, ID: v.Ack.ID, Month: v.Ack.Month})
		}
	}
	acks, err := c.api.Journal.Acknowledgements(c.ctx(), refs)
	if err != nil {
		return nil, err
	}
	list := make([]variant, len(k.Variants))
	for i, v := range k.Variants {
		list[i] = variantOf(k, v)
		if a := acks[v.Ack.ID]; a != nil {
			list[i].Acknowledgement = &acknowledgment{a.Status, a.ContentType, string(a.Receipt), a.Answer, string(a.Functional)}
		}
	}
	return list, c.addPending(k, list)
}

func variantOf(k *dedup.Key, v *dedup.Variant) variant {
	out := variant{
		State: v.State.String(), Current: k.Current() == v, Epoch: v.Epoch, Answer: gateway.Answer(v.Answer).Told().Word,
		Delivery: v.DeliveryID, Bytes: v.Length, Messages: []messageFate{},
	}
	if !v.NoDigest {
		out.SHA256 = hexOf(v.SHA256)
		if v.Payload.ID != uuid.Nil {
			out.Raw = messagePath(k.Partner, k.ID) + "/raw?sha256=" + out.SHA256
		}
	}
	if v.ContentVersion != 0 {
		out.Content = hexOf(v.Content)
	}
	if v.AlertID != uuid.Nil {
		out.Alert = &v.AlertID
	}
	if k.Kind == dedup.Transport {
		return out // its records are of interchanges, which have keys of their own
	}
	for i := range v.Messages {
		if i == maxMessages {
			out.MessagesOmitted = len(v.Messages) - i
			break
		}
		m := &v.Messages[i]
		state := "undecided" // of a drift
		if m.Fate != 0 {
			state = m.Fate.String()
		}
		out.Messages = append(out.Messages, messageFate{hexOf(m.SHA256), state, m.Attempts})
	}
	return out
}

// receptions are the deliveries under the key, each copy and its answer.
func (c *call) receptions(k *dedup.Key, m *message) error {
	f := journal.Filter{Partners: []string{k.Partner}, Limit: maxReceptions + 1}
	for _, carried := range k.Carried { // a VAN's delivery is journalled with each owner
		f.Partners = append(f.Partners, carried.Partner)
	}
	slices.Sort(f.Partners)
	f.Partners = slices.Compact(f.Partners)
	underKey(&f, k)
	list, err := c.api.Journal.List(c.ctx(), f)
	if err != nil {
		return err
	}
	m.Receptions = []delivery{}
	for i, d := range list {
		if i == maxReceptions {
			m.ReceptionsOmitted = true
			break
		}
		m.Receptions = append(m.Receptions, deliveryOf(d))
	}
	return nil
}

func hexOf(d [32]byte) string { return hex.EncodeToString(d[:]) }
