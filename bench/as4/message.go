package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// message is what phase4's client is told to send: one line of JSON.
type message struct {
	URL          string `json:"url"`
	Suite        string `json:"suite"`        // rsa, rsa384, rsa512, ed25519, p256
	Token        string `json:"token"`        // how the signer is named: bst, pkipath, issuer-serial, ski
	KeyReference string `json:"keyReference"` // how the recipient's key is named, where encrypted
	Encrypted    bool   `json:"encrypted"`
	Compressed   bool   `json:"compressed"`
	Unsigned     bool   `json:"unsigned"`

	From         string    `json:"from"`
	To           string    `json:"to"`
	PartyType    string    `json:"partyType,omitempty"`
	Agreement    string    `json:"agreement,omitempty"`
	Service      string    `json:"service"`
	ServiceType  string    `json:"serviceType,omitempty"`
	Action       string    `json:"action"`
	Conversation string    `json:"conversation"`
	MessageID    string    `json:"messageId"`
	Payloads     []payload `json:"payloads"`
	Dump         string    `json:"dump,omitempty"` // file that the request is written to as well
}

// payload is a part of a message.
type payload struct {
	File      string `json:"file"`
	Type      string `json:"type"`
	Charset   string `json:"charset,omitempty"`
	ContentID string `json:"contentId,omitempty"`

	lines        bool // a line break follows every segment
	copies       int  // interchanges in it, 1 where 0
	content      []byte
	interchanges [][]byte // those in it, from UNA or UNB through the last terminator
}

// answer is what phase4's client tells of what came back.
type answer struct {
	Status     int     `json:"status"`
	Result     string  `json:"result"`     // phase4's own word
	Failure    string  `json:"failure"`    // why the answer could not be read or believed
	Receipt    bool    `json:"receipt"`    // a receipt came
	Signed     bool    `json:"signed"`     // the answer is signed and the signature holds
	References string  `json:"references"` // "equal" where the receipt has those of the message as sent
	Ref        string  `json:"ref"`        // RefToMessageId
	SignalID   string  `json:"signalId"`
	Errors     []fault `json:"errors"`
}

// fault is an eb:Error (ebMS 3.0 core §6.2).
type fault struct {
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Detail   string `json:"detail"`
}

// acknowledged holds an answer to be a signed receipt of the message, as the
// profiles demand it, for exactly what was signed.
func (a answer) acknowledged(id string) error {
	switch {
	case a.Failure != "":
		return errors.New("phase4 does not take the answer: " + a.Failure)
	case len(a.Errors) > 0:
		return fmt.Errorf("refused: %v", a.Errors)
	case a.Status != 200 || !a.Receipt:
		return fmt.Errorf("no receipt: status %d, %s", a.Status, a.Result)
	case !a.Signed:
		return errors.New("the receipt is not signed")
	case a.References != "equal":
		return errors.New("the receipt is for something else: " + a.References)
	case a.Ref != id:
		return fmt.Errorf("RefToMessageId is %q", a.Ref)
	}
	return nil
}

// refused holds an answer to be an ebMS error of that code.
func (a answer) refused(code string) error {
	if a.Failure != "" {
		return errors.New("phase4 does not take the answer: " + a.Failure)
	}
	if !slices.ContainsFunc(a.Errors, func(f fault) bool { return f.Code == code }) {
		return fmt.Errorf("no %s: receipt %v, errors %v", code, a.Receipt, a.Errors)
	}
	return nil
}

// arrival is what a receiver understood of a message.
type arrival struct {
	MessageID    string   `json:"messageId"`
	From         string   `json:"from"`
	Service      string   `json:"service"`
	Action       string   `json:"action"`
	Conversation string   `json:"conversation"`
	Signed       bool     `json:"signed"`
	Encrypted    bool     `json:"encrypted"`
	Types        []string `json:"types"` // of the payloads, in their order

	payloads [][]byte
}

// of holds an arrival to be what was sent.
func (a arrival) of(m message) error {
	var types []string
	for i, p := range m.Payloads {
		types = append(types, p.Type)
		if i < len(a.payloads) && string(a.payloads[i]) != string(p.content) {
			return fmt.Errorf("payload %d has arrived changed: %d bytes, %d were sent", i, len(a.payloads[i]), len(p.content))
		}
	}
	got := fmt.Sprint(a.MessageID, a.From, a.Service, a.Action, a.Conversation, a.Signed, a.Encrypted, len(a.payloads), strings.Join(a.Types, " "))
	want := fmt.Sprint(m.MessageID, m.From, m.Service, m.Action, m.Conversation, !m.Unsigned, m.Encrypted, len(m.Payloads), strings.Join(types, " "))
	if got != want {
		return fmt.Errorf("arrived as %s, sent as %s", got, want)
	}
	return nil
}
