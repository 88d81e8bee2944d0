package targets

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/outbox"
)

// owedFor is how long those who could not be sent a mail hold back the ones that follow
// it: servers that know no sender yet ask him to come again after some minutes (RFC 6647
// §3), and a full mailbox may stay so.
const owedFor = 15 * time.Minute

// owed are mails that some have and others do not yet. It is of this process: another
// that goes on with the partner's events sends such a mail to all.
type owed struct {
	mu sync.Mutex
	by map[string]*debt // by partner
}

// debt is one of them.
type debt struct {
	events []uuid.UUID
	to     []*mail.Address
	until  time.Time
}

// owe notes who does not have the mail yet.
func (o *owed) owe(batch []*outbox.Record, later []unready, at time.Time) {
	d := &debt{until: at.Add(owedFor)}
	for _, r := range batch {
		d.events = append(d.events, r.ID)
	}
	for _, l := range later {
		d.to = append(d.to, l.to)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.by == nil {
		o.by = map[string]*debt{}
	}
	o.by[batch[0].Partner] = d
}

// of gives what is owed of the first events of the batch. What another process went past
// is owed no more.
func (o *owed) of(batch []*outbox.Record) *debt {
	o.mu.Lock()
	defer o.mu.Unlock()
	d := o.by[batch[0].Partner]
	if d == nil {
		return nil
	}
	if len(batch) >= len(d.events) {
		same := true
		for i, id := range d.events {
			same = same && batch[i].ID == id
		}
		if same {
			return d
		}
	}
	delete(o.by, batch[0].Partner)
	return nil
}

func (o *owed) settled(partner string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.by, partner)
}

// sendOwed sends a mail to those who do not have it yet, and what follows it to all. Whom
// the server has not taken it for after some minutes is left out of it, as one is whom it
// does not know.
func (m *Mail) sendOwed(ctx context.Context, batch []*outbox.Record, d *debt) (sent int, log []outbox.Attempt, err error) {
	head, at, began := batch[:len(d.events)], m.Now(), time.Now()
	omitted, later, err := m.deliver(ctx, d.to, m.text(head, at))
	if ctx.Err() != nil {
		return 0, nil, ctx.Err()
	}
	if err == nil && len(later) > 0 {
		d.to = nil
		for _, l := range later {
			d.to = append(d.to, l.to)
		}
		err = notYet(later)
	}
	switch over := !at.Before(d.until) || errors.Is(err, outbox.ErrRefused) || errors.Is(err, errNobody); {
	case err != nil && !over:
		return 0, mailLog(head, at, time.Since(began), omitted, err), err
	case err != nil:
		for _, to := range d.to {
			omitted = append(omitted, "not sent to "+to.Address+": "+err.Error())
		}
	}
	m.owed.settled(batch[0].Partner)
	log = mailLog(head, at, time.Since(began), omitted, nil)
	if len(batch) == len(head) {
		return len(head), log, nil
	}
	sent, more, err := m.send(ctx, batch[len(head):])
	return len(head) + sent, append(log, more...), err
}

// notYet says for whom the server takes no mail now.
func notYet(later []unready) error {
	names := make([]string, len(later))
	for i, l := range later {
		names[i] = l.to.Address
	}
	return fmt.Errorf("not sent to %s yet, to the others it is: %w", strings.Join(names, ", "), later[0].err)
}
