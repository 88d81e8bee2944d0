package web

import (
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/edigw/edigw/outbox"
)

// acceptances are what a partner's answer says: edi.Acceptance.
var acceptances = []string{"unknown", "received", "accepted", "accepted with errors", "partly accepted", "rejected"}

var acknowledgementFilters = append([]Parameter{
	{"partner", Text, nil},
	{"message_id", Text, nil},
	{"reference", Text, nil},
	{"acceptance", Text, acceptances},
	{"answer_message_id", Text, nil},
}, paging...)

// sentAcknowledgement is a functional acknowledgement that leaves by another way than
// the response.
type sentAcknowledgement struct {
	*outbox.Acknowledgement
	State string `json:"state"`
}

// listAcknowledgements gives them, the latest first.
func (c *call) listAcknowledgements() error {
	f := outbox.AcknowledgementFilter{Partner: c.text["partner"], MessageID: c.text["message_id"], Reference: c.text["reference"], Acceptance: c.text["acceptance"], AnswerID: c.text["answer_message_id"], Limit: c.limit + 1}
	if c.cursor != "" {
		id, partner, _ := strings.Cut(c.cursor, "\t")
		event, err := uuid.Parse(id)
		if err != nil {
			return badCursor()
		}
		f.Before = &outbox.Acknowledgement{Event: event, Partner: partner}
	}
	items, err := c.acknowledgements(f)
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, pageOf(&c.query, items, func(a sentAcknowledgement) string { return a.Event.String() + "\t" + a.Partner }))
}

func (c *call) acknowledgements(f outbox.AcknowledgementFilter) ([]sentAcknowledgement, error) {
	list, err := c.api.Acknowledgements.List(c.ctx(), f)
	if err != nil {
		return nil, err
	}
	items := make([]sentAcknowledgement, len(list))
	for i, a := range list {
		items[i] = sentAcknowledgement{a, a.State.String()}
	}
	return items, nil
}

// sentAbout gives what was sent of the key by another way than the response, and what
// was sent that the key's interchange answers.
func (c *call) sentAbout(m *message) (err error) {
	if m.Sent, err = c.acknowledgements(outbox.AcknowledgementFilter{Partner: m.Partner, MessageID: m.MessageID, Limit: maxSentShown}); err != nil {
		return err
	}
	m.Answers, err = c.acknowledgements(outbox.AcknowledgementFilter{Partner: m.Partner, AnswerID: m.MessageID, Limit: maxSentShown})
	return err
}

// maxSentShown bounds them beside a message; the list has all.
const maxSentShown = 50
