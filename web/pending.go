package web

import (
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/dedup"
)

// pendingWork is the work that pending messages of a payload wait for.
type pendingWork struct {
	Since    time.Time `json:"since"`
	NextTry  time.Time `json:"next_try"`
	Running  bool      `json:"running"` // a worker has it; the next try is the end of its lease
	Failures int       `json:"failures"`
	Passing  int       `json:"passing"`           // runs in a row that failed on what passes
	Failure  string    `json:"failure,omitempty"` // the last one
}

func pendingOf(j *dedup.Job) *pendingWork {
	return &pendingWork{Since: j.Since.UTC(), NextTry: j.DueAt.UTC(), Running: j.Lease != uuid.Nil, Failures: j.Failures, Passing: j.Passing, Failure: j.Failure}
}

// addPending says of each payload under k what it waits for.
func (c *call) addPending(k *dedup.Key, list []variant) error {
	if k.Hold()&dedup.HoldPending == 0 {
		return nil
	}
	jobs, err := c.api.Jobs.Of(c.ctx(), k.Partner, []string{k.ID})
	if err != nil {
		return err
	}
	for _, j := range jobs {
		for i := range list {
			if list[i].SHA256 == hexOf(j.SHA256) {
				list[i].Pending = pendingOf(j)
			}
		}
	}
	return nil
}

// addNextTries says of lines of the journal what was received then and is pending
// still.
func (c *call) addNextTries(lines []delivery) error {
	received := map[string][]string{} // keys, by partner
	for _, d := range lines {
		if d.Outcome == dedup.Received.String() && d.MessageID != "" {
			received[d.Partner] = append(received[d.Partner], d.MessageID)
		}
	}
	for partner, ids := range received {
		jobs, err := c.api.Jobs.Of(c.ctx(), partner, ids)
		if err != nil {
			return err
		}
		for _, j := range jobs {
			for i := range lines {
				if d := &lines[i]; d.Partner == partner && d.MessageID == j.ID && d.Delivery.SHA256 != nil && [32]byte(d.Delivery.SHA256) == j.SHA256 {
					at := j.DueAt.UTC()
					d.NextTry = &at
				}
			}
		}
	}
	return nil
}
