package main

import (
	"net/http"
	"strconv"
	"time"
)

type acknowledgementsCommand struct {
	List   acknowledgementsList   `cmd:"" help:"What was sent, how far it is, and what the partner said of it."`
	Resend acknowledgementsResend `cmd:"" help:"Send one again, or an MDN, as it was and however it stands."`
}

type acknowledgementsList struct {
	Partner    string `placeholder:"ID" help:"Only to this partner."`
	MessageID  string `name:"message-id" placeholder:"KEY" help:"Only of the interchange with this key."`
	Reference  string `placeholder:"REFERENCE" help:"Only with this control reference of ours."`
	AnswerID   string `name:"answer-message-id" placeholder:"KEY" help:"Only those that the interchange with this key answers."`
	Acceptance string `placeholder:"WORD" help:"Only those of which the partner's latest answer says so: rejected, accepted, received and so on."`
	listing
}

// sentAcknowledgement is one as the API lists it.
type sentAcknowledgement struct {
	Partner    string    `json:"partner"`
	Event      string    `json:"event_id"`
	Reference  string    `json:"reference"`
	Type       string    `json:"type"`
	By         string    `json:"by"`
	MessageID  string    `json:"message_id"`
	Created    time.Time `json:"created_at"`
	State      string    `json:"state"`
	Attempts   int       `json:"attempts"`
	Failure    string    `json:"failure"`
	AnsweredBy string    `json:"answered_by"`
	Acceptance string    `json:"acceptance"`
}

func (c *acknowledgementsList) Run(a *app) error {
	return list(a, c.listing, "/acknowledgements", c.filters("partner", c.Partner, "message_id", c.MessageID, "reference", c.Reference, "acceptance", c.Acceptance, "answer_message_id", c.AnswerID),
		sentTitles, sentAcknowledgement.row)
}

var sentTitles = []string{"CREATED", "PARTNER", "TYPE", "REFERENCE", "BY", "STATE", "FAILED", "ANSWER", "ID", "FAILURE"}

func (s sentAcknowledgement) row() []string {
	answer := s.AnsweredBy
	if s.Acceptance != "" {
		answer += " " + s.Acceptance
	}
	return []string{clock(s.Created), s.Partner, s.Type, s.Reference, s.By, s.State, strconv.Itoa(s.Attempts), answer, s.Event, s.Failure}
}

type acknowledgementsResend struct {
	Partner string `arg:"" help:"The partner's id."`
	ID      string `arg:"" help:"The acknowledgement's id, as a list shows it."`
	Note    string `required:"" placeholder:"TEXT" help:"Why; it stands in the audit log."`
	connection
}

func (c *acknowledgementsResend) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	asked := map[string]string{"partner": c.Partner, "event_id": c.ID, "as": "repeat", "note": c.Note}
	_, err = api.ask(a, http.MethodPost, "/effects/resolve", nil, asked, nil)
	return err
}
