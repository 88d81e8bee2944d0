package gateway

import (
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/outbox"
)

// queueRepeats has the functional acknowledgements of duplicates sent again whose last
// delivery is not confirmed.
func (pl *plan) queueRepeats(b *pgx.Batch) {
	var repeats []outbox.Acknowledged
	for _, r := range pl.results {
		if r.verdict == Duplicate && r.key != nil && r.p != nil {
			repeats = append(repeats, outbox.Acknowledged{Partner: r.key.Partner, MessageID: r.key.ID, SHA256: r.p.ic.PayloadSHA256[:]})
		}
	}
	outbox.QueueAcknowledgeAgain(b, repeats)
}

// queueRepeated is queueRepeats for plain duplicates, whose journal rows are written
// behind the answer.
func queueRepeated(b *pgx.Batch, ds []*journal.Delivery) {
	var repeats []outbox.Acknowledged
	for _, d := range ds {
		if d.MessageID != "" && Verdict(d.Verdict) == Duplicate {
			repeats = append(repeats, outbox.Acknowledged{Partner: d.Partner, MessageID: d.MessageID, SHA256: d.SHA256})
		}
	}
	outbox.QueueAcknowledgeAgain(b, repeats)
}
