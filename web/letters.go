package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/gateway"
)

var letterFilters = append([]Parameter{{"partner", Text, nil}, {"message_id", Text, nil}}, paging...)

// letter is a payload with messages that an operator may have judged again.
type letter struct {
	Partner   string `json:"partner"`
	MessageID string `json:"message_id"`
	SHA256    string `json:"payload_sha256"`
	State     string `json:"state"`
	Told      string `json:"told"` // outcome, as the partner was answered
	Messages  int    `json:"messages"`
	LastAt    string `json:"last_at"`
	Message   string `json:"message"` // where to read more
}

func letterOf(k *dedup.Key, v *dedup.Variant) letter {
	return letter{Partner: k.Partner, MessageID: k.ID, SHA256: hexOf(v.SHA256), State: v.State.String(),
		Told: gateway.Answer(v.Answer).Told().Word, Messages: len(v.Messages),
		LastAt: k.LastAt.UTC().Format("2006-01-02T15:04:05Z"), Message: messagePath(k.Partner, k.ID)}
}

// deadLetter is a payload of which a message is dead.
type deadLetter struct {
	letter
	Dead     int `json:"dead"`
	Attempts int `json:"attempts"` // of the worst, by the partner's copies
}

func (c *call) listDeadLetters() error {
	return listLetters(c, c.api.Inbox.Dead, func(k *dedup.Key, v *dedup.Variant) (deadLetter, bool) {
		dead, attempts := v.Dead()
		return deadLetter{letterOf(k, v), dead, int(attempts)}, dead > 0
	})
}

// listLetters answers with a page of keys: those of their variants that are letters.
func listLetters[T any](c *call, list func(context.Context, dedup.LetterFilter) ([]*dedup.Key, error), is func(*dedup.Key, *dedup.Variant) (T, bool)) error {
	keys, next, err := c.letterKeys(list)
	if err != nil {
		return err
	}
	out := page[T]{Items: []T{}, Next: next}
	for _, k := range keys {
		for _, v := range k.Variants {
			if x, ok := is(k, v); ok {
				out.Items = append(out.Items, x)
			}
		}
	}
	return c.reply(http.StatusOK, out)
}

// letterKeys reads a page of keys, and gives the cursor of the next one.
func (c *call) letterKeys(list func(context.Context, dedup.LetterFilter) ([]*dedup.Key, error)) (keys []*dedup.Key, next string, err error) {
	f := dedup.LetterFilter{Partner: c.text["partner"], MessageID: c.text["message_id"], Limit: c.limit + 1}
	f.After.Partner, f.After.ID, _ = strings.Cut(c.cursor, "\t")
	if keys, err = list(c.ctx(), f); err != nil || len(keys) <= c.limit {
		return keys, "", err
	}
	keys = keys[:c.limit]
	last := keys[len(keys)-1]
	return keys, c.after(last.Partner + "\t" + last.ID), nil
}

// refusedLetter is a payload of which messages are refused that would be judged
// again: the settings have changed since.
type refusedLetter struct {
	letter
	Refused int `json:"refused"`
}

func (c *call) listRefused() error {
	return listLetters(c, c.api.Inbox.Unfinished, func(k *dedup.Key, v *dedup.Variant) (refusedLetter, bool) {
		refused, again := c.api.Gateway.Judged(k, v)
		return refusedLetter{letterOf(k, v), refused}, again
	})
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

// replayLetters runs dead messages again, and judges refused ones again: both in
// one, as row I4 takes them together.
func (c *call) replayLetters() error {
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
// refused, or fails, does not keep the others, nor what came of them from being told.
func (c *call) eachLetter(do func(gateway.Letter, *letters) (*gateway.Replayed, error)) error {
	var asked letters
	if err := c.decode(&asked); err != nil {
		return err
	}
	if n := len(asked.Letters); n == 0 || n > maxLetters {
		return &problem{Status: http.StatusUnprocessableEntity, Type: "not-as-asked", Detail: fmt.Sprintf("name 1 to %d letters, as /deadletters and /messages/refused list them", maxLetters)}
	}
	list := make([]gateway.Letter, len(asked.Letters))
	for i, x := range asked.Letters { // each of them before the first is done
		digest, err := digestOf(x.SHA256)
		if err != nil {
			return err
		}
		list[i] = gateway.Letter{Partner: x.Partner, MessageID: x.MessageID, Digest: digest}
	}
	out := page[replayResult]{Items: []replayResult{}}
	for _, l := range list {
		did, err := do(l, &asked)
		var no *gateway.Refusal
		switch {
		case errors.As(err, &no):
			out.Items = append(out.Items, replayResult{Refused: &letterRefusal{l.Partner, l.MessageID, string(no.Code), no.Why}})
		case errors.Is(err, gateway.ErrBusy):
			out.Items = append(out.Items, replayResult{Refused: &letterRefusal{l.Partner, l.MessageID, "busy", []string{"the key is being worked on; try again"}}})
		case err != nil: // of this letter: the ones before it are done, and must be told
			c.api.Log.ErrorContext(c.ctx(), "a letter failed", "partner", l.Partner, "message_id", l.MessageID, "err", err)
			out.Items = append(out.Items, replayResult{Refused: &letterRefusal{l.Partner, l.MessageID, "failed", []string{"it failed on our side, the log says why; look at the message before it is tried again"}}})
		default:
			out.Items = append(out.Items, replayResult{Replayed: did})
		}
	}
	return c.reply(http.StatusOK, out)
}
