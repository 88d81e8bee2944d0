package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/edigw/edigw/accounts"
)

// people are those who decide: the second approves what the first proposes.
var people = []string{"anna", "bert"}

// hire gives the people their tokens, and the purge its table, from the database,
// before anything fails.
func (r *run) hire() error {
	if _, err := r.machine.site.Pool.Exec(r.ctx, purged); err != nil {
		return fmt.Errorf("make room for what is purged: %w", err)
	}
	store := &accounts.Store{Pool: r.machine.site.Pool}
	by := accounts.Identity{Person: "torture", Role: accounts.Admin}
	for _, person := range people {
		if _, err := store.AddUser(r.ctx, by, person, accounts.Approver); err != nil {
			return err
		}
		plain, _, err := store.CreateToken(r.ctx, by, accounts.NewToken{Person: person, Role: accounts.Approver, Label: "torture"})
		if err != nil {
			return err
		}
		r.tokens = append(r.tokens, plain)
	}
	return nil
}

// posting are the decisions by which something may be posted.
var posting = map[string]bool{"replace": true, "process_as_new": true, "complete": true, "process": true}

// ruled is what the API says of a decision, or of a replay.
type ruled struct {
	Type  string `json:"type"`
	State string `json:"state"`
	Items []struct {
		Verdict string `json:"verdict"`
		State   string `json:"state"`
		Refused *struct {
			Code string `json:"code"`
		} `json:"refused_because"`
	} `json:"items"`
}

// decide takes a decision on an alert and has it approved where a second person
// is needed. It asks again until it is told how it ended.
func (r *run) decide(rng *rand.Rand, alert string, key ref, digest [32]byte, choice string, person int) {
	a := act{alert: alert, decision: choice, key: key, person: people[person], posts: posting[choice]}
	body := map[string]string{"decision": choice, "reason": "confirmed_with_partner"}
	if digest != ([32]byte{}) {
		a.digest = hexOf(digest)
		body["payload_sha256"] = a.digest
	}
	got := r.insist(rng, a, "/drift/"+alert+"/decide", body, person)
	if got == nil || got.status != http.StatusAccepted {
		return
	}
	a.person = people[1-person]
	r.insist(rng, a, "/drift/"+alert+"/approve", nil, 1-person)
}

// replay has a dead payload run again, or given up.
func (r *run) replay(rng *rand.Rand, c *content, discard bool) {
	key := c.key()
	a := act{key: key, digest: hexOf(c.digest), person: people[0], letter: true, replayed: !discard, discard: discard, posts: !discard, decision: "replay"}
	path, body := "/deadletters/replay", map[string]any{"letters": []map[string]string{{"partner": key.partner, "message_id": key.id, "payload_sha256": a.digest}}}
	if discard {
		path, a.decision, body["reason"] = "/deadletters/discard", "discard", "our_fault"
	}
	r.insist(rng, a, path, body, 0)
}

// insist asks until there is an answer that ends it. Every try is a line of the
// ledger, since one whose answer was lost may have been done.
func (r *run) insist(rng *rand.Rand, a act, path string, body any, person int) *act {
	for range 12 {
		once := a
		once.asked = time.Now()
		r.ledger.ask(&once)
		said, err := r.ask(&once, path, body, person)
		once.answered = time.Now()
		if err == nil {
			again := once.status >= 500 || strings.HasSuffix(said.Type, "/busy")
			for _, it := range said.Items {
				again = again || it.Refused != nil && it.Refused.Code == "busy"
			}
			if !again {
				return &once
			}
		}
		select {
		case <-r.ctx.Done():
			return nil
		case <-time.After(time.Duration(100+rng.IntN(400)) * time.Millisecond):
		}
	}
	return nil
}

func (r *run) ask(a *act, path string, body any, person int) (*ruled, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(r.ctx, http.MethodPost, "http://"+r.machine.operations.address()+"/api/v1"+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+r.tokens[person])
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	var said ruled
	if err := json.Unmarshal(answer, &said); err != nil {
		return nil, fmt.Errorf("the answer to %s is no JSON: %w", path, err)
	}
	a.status, a.state = response.StatusCode, said.State
	if len(said.Items) > 0 && said.Items[0].Refused == nil {
		a.state = said.Items[0].State
	}
	switch response.StatusCode {
	case 200, 202, 403, 404, 409, 410, 422, 503:
	case 500: // ours and passing, which the API does not tell apart
	default:
		r.findings.add("answers", a.key, "the API answered %d to %s: %s", response.StatusCode, path, cutText(string(answer)))
	}
	return &said, nil
}
