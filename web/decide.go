package web

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/gateway"
)

// person is who asks: identity is the person, not the token.
func (c *call) person() gateway.Person {
	return gateway.Person{Name: c.who.Person, Role: string(c.who.Role)}
}

// assignDrift gives an alert to a person, or back to everybody.
func (c *call) assignDrift() error {
	id, err := c.pathID("alert_id")
	if err != nil {
		return err
	}
	var asked struct {
		Person string `json:"person"`
	}
	if err := c.decode(&asked); err != nil {
		return err
	}
	to := ""
	if asked.Person != "" {
		u, err := c.api.Accounts.User(c.ctx(), asked.Person)
		if errors.Is(err, accounts.ErrUnknown) || err == nil && u.Disabled != nil {
			return &problem{Status: http.StatusUnprocessableEntity, Type: "not-as-asked", Detail: fmt.Sprintf("there is no user %q who could look at it; `edigw users list` shows who is there", asked.Person)}
		}
		if err != nil {
			return err
		}
		to = u.Person
	}
	return c.ruled(c.api.Gateway.Assign(c.ctx(), id, to, c.person()))
}

// decideDrift takes a decision, or keeps it for a second person.
func (c *call) decideDrift() error {
	id, err := c.pathID("alert_id")
	if err != nil {
		return err
	}
	var asked struct {
		Decision string `json:"decision"`
		SHA256   string `json:"payload_sha256"`
		Reason   string `json:"reason"`
		Note     string `json:"note"`
	}
	if err := c.decode(&asked); err != nil {
		return err
	}
	d := gateway.Decision{Alert: id, Choice: gateway.Choice(asked.Decision), Reason: asked.Reason, Note: asked.Note, By: c.person()}
	if d.Digest, err = digestOf(asked.SHA256); err != nil {
		return err
	}
	return c.ruled(c.api.Gateway.Decide(c.ctx(), d))
}

// approveDrift applies what another person proposed.
func (c *call) approveDrift() error {
	id, err := c.pathID("alert_id")
	if err != nil {
		return err
	}
	return c.ruled(c.api.Gateway.Approve(c.ctx(), id, c.person()))
}

// withdrawDrift drops a proposal.
func (c *call) withdrawDrift() error {
	id, err := c.pathID("alert_id")
	if err != nil {
		return err
	}
	var asked struct {
		Note string `json:"note"`
	}
	if err := c.decode(&asked); err != nil {
		return err
	}
	return c.ruled(c.api.Gateway.Withdraw(c.ctx(), id, asked.Note, c.person()))
}

func (c *call) ruled(r *gateway.Ruling, err error) error {
	if err != nil {
		return err
	}
	status := http.StatusOK
	if r.State == "awaiting_approval" {
		status = http.StatusAccepted
	}
	return c.reply(status, r)
}

// digestOf reads 64 hex digits; none are no digest.
func digestOf(text string) ([]byte, error) {
	if text == "" {
		return nil, nil
	}
	d, err := hex.DecodeString(text)
	if err != nil || len(d) != 32 {
		return nil, &problem{Status: http.StatusBadRequest, Type: "bad-body", Detail: "payload_sha256 must be 64 hex digits"}
	}
	return d, nil
}

// refused tells why nothing was changed.
func refused(r *gateway.Refusal) *problem {
	p := &problem{Status: http.StatusConflict, Type: "not-decided", Detail: "nothing was changed: " + r.Error()}
	switch r.Code {
	case gateway.NotApplicable, gateway.NoReason, gateway.WhichPayload:
		p.Status = http.StatusUnprocessableEntity
	case gateway.SamePerson:
		p.Status = http.StatusForbidden
	}
	for _, why := range r.Why {
		p.Faults = append(p.Faults, fault{Key: string(r.Code), Detail: why})
	}
	return p
}

var deadLetterFilters = append([]Parameter{{"partner", Text, nil}, {"message_id", Text, nil}}, paging...)

// deadLetter is a payload of which a message is dead.
type deadLetter struct {
	Partner   string `json:"partner"`
	MessageID string `json:"message_id"`
	SHA256    string `json:"payload_sha256"`
	State     string `json:"state"`
	Told      string `json:"told"` // outcome, as the partner was answered
	Messages  int    `json:"messages"`
	Dead      int    `json:"dead"`
	Attempts  int    `json:"attempts"` // of the worst, by the partner's copies
	LastAt    string `json:"last_at"`
	Message   string `json:"message"` // where to read more
}

func (c *call) listDeadLetters() error {
	f := dedup.DeadFilter{Partner: c.text["partner"], MessageID: c.text["message_id"], Limit: c.limit + 1}
	f.After.Partner, f.After.ID, _ = strings.Cut(c.cursor, "\t")
	keys, err := c.api.Inbox.Dead(c.ctx(), f)
	if err != nil {
		return err
	}
	out := page[deadLetter]{Items: []deadLetter{}}
	for i, k := range keys {
		if i == c.limit {
			out.Next = base64.RawURLEncoding.EncodeToString([]byte(keys[i-1].Partner + "\t" + keys[i-1].ID))
			break
		}
		for _, v := range k.Variants {
			dead, attempts := v.Dead()
			if dead == 0 {
				continue
			}
			out.Items = append(out.Items, deadLetter{Partner: k.Partner, MessageID: k.ID, SHA256: hexOf(v.SHA256), State: v.State.String(),
				Told: gateway.Answer(v.Answer).Told().Word, Messages: len(v.Messages), Dead: dead, Attempts: int(attempts),
				LastAt: k.LastAt.UTC().Format("2006-01-02T15:04:05Z"), Message: messagePath(k.Partner, k.ID)})
		}
	}
	return c.reply(http.StatusOK, out)
}

// maxLetters bounds what one request replays: each is a transaction.
const maxLetters = 100

// letters is the body that names what to replay or to give up.
type letters struct {
	Letters []struct {
		Partner   string `json:"partner"`
		MessageID string `json:"message_id"`
		SHA256    string `json:"payload_sha256"`
	} `json:"letters"`
	Reason string `json:"reason"`
	Note   string `json:"note"`
	Dry    bool   `json:"dry_run"`
}

// replayResult is what came of one letter: either of the two.
type replayResult struct {
	*gateway.Replayed
	Refused *letterRefusal `json:"refused_because,omitempty"`
}

type letterRefusal struct {
	Partner   string   `json:"partner"`
	MessageID string   `json:"message_id"`
	Code      string   `json:"code"`
	Why       []string `json:"why"`
}

func (c *call) replayDeadLetters() error {
	return c.eachLetter(func(l gateway.Letter, asked *letters) (*gateway.Replayed, error) {
		return c.api.Gateway.Replay(c.ctx(), l, c.person(), asked.Dry)
	})
}

func (c *call) discardDeadLetters() error {
	return c.eachLetter(func(l gateway.Letter, asked *letters) (*gateway.Replayed, error) {
		return c.api.Gateway.Discard(c.ctx(), l, asked.Reason, asked.Note, c.person(), asked.Dry)
	})
}

// eachLetter does one after the other, each in its own transaction; one that is
// refused does not keep the others.
func (c *call) eachLetter(do func(gateway.Letter, *letters) (*gateway.Replayed, error)) error {
	var asked letters
	if err := c.decode(&asked); err != nil {
		return err
	}
	if n := len(asked.Letters); n == 0 || n > maxLetters {
		return &problem{Status: http.StatusUnprocessableEntity, Type: "not-as-asked", Detail: fmt.Sprintf("name 1 to %d letters, as /deadletters lists them", maxLetters)}
	}
	out := page[replayResult]{Items: []replayResult{}}
	for _, x := range asked.Letters {
		l := gateway.Letter{Partner: x.Partner, MessageID: x.MessageID}
		var err error
		if l.Digest, err = digestOf(x.SHA256); err != nil {
			return err
		}
		did, err := do(l, &asked)
		var no *gateway.Refusal
		switch {
		case errors.As(err, &no):
			out.Items = append(out.Items, replayResult{Refused: &letterRefusal{l.Partner, l.MessageID, string(no.Code), no.Why}})
		case errors.Is(err, gateway.ErrBusy):
			out.Items = append(out.Items, replayResult{Refused: &letterRefusal{l.Partner, l.MessageID, "busy", []string{"the key is being worked on; try again"}}})
		case err != nil:
			return err
		default:
			out.Items = append(out.Items, replayResult{Replayed: did})
		}
	}
	return c.reply(http.StatusOK, out)
}
