package gateway

import (
	"context"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/journal"
)

// Exhibit is a piece of what proves who sent a delivery. Its Stretches are bytes of the
// delivery's payload that are not held, nor stored, a second time.
type Exhibit = journal.Exhibit

// RequestExhibit is the name of a request that could not be opened, with its header.
const RequestExhibit = "request.eml"

// AsRequest is what a Delivery with a Fault has for evidence: its payload behind the
// header that it came with, which alone says how it is read.
func AsRequest(header []byte, payload *edi.Payload) Exhibit {
	return Exhibit{Name: RequestExhibit, MediaType: "message/rfc822", Body: edi.Bytes(header),
		Stretches: []journal.Stretch{{At: int64(len(header)), Offset: 0, Length: payload.Size()}}}
}

// exhibitBytes is the size of all exhibits.
func (d *Delivery) exhibitBytes() (n int64) {
	for i := range d.Evidence {
		n += d.Evidence[i].Body.Size()
	}
	return n
}

// evidence gives what proves a payload that is kept of this delivery: that of the
// partner who sent it. Of a VAN's delivery an owner of an interchange has no proof but
// the VAN's.
func (pl *plan) evidence() *journal.Evidence {
	in := pl.in
	if len(in.Evidence) == 0 {
		return nil
	}
	for _, p := range pl.payloads {
		if p.ref.ID == in.payloadID && p.partner == in.Partner.ID {
			return &journal.Evidence{Partner: p.partner, Payload: p.ref.ID, Month: p.ref.Month, Exhibits: in.Evidence}
		}
	}
	return nil
}

// writeEvidence keeps it: what is small goes with the batch.
func (pl *plan) writeEvidence(ctx context.Context, s *session) error {
	e := pl.evidence()
	if e == nil {
		return nil
	}
	if pl.in.exhibitBytes() <= groupPayload {
		return journal.QueueEvidence(s.batch, []*journal.Evidence{e})
	}
	if err := s.flush(ctx); err != nil {
		return err
	}
	return journal.WriteEvidence(ctx, s.conn, e)
}
