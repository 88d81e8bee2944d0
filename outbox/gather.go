package outbox

import "context"

// gatherMost is how many events are looked at for one batch of a sink that rests.
const gatherMost = 10_000

// gather reads the next events. For a sink that rests it reads on until they fill a
// batch, past what nobody wants: what lies between shall not make many small batches of
// one. full: there may be more than one batch holds, and a rest would fall behind.
func (p *passing) gather(ctx context.Context, types []string) (list []*Record, full bool, err error) {
	s := p.streams
	limit, size := max(s.Sink.Batch, readAhead), max(s.Sink.Batch, 1)
	for at, wanted := p.at, 0; ; {
		part, err := readAfter(ctx, s.Pool, p.partner, at, types, limit)
		if err != nil {
			return nil, false, err
		}
		for _, r := range part {
			if r.Body != nil {
				wanted++
			}
		}
		list = append(list, part...)
		full = wanted >= size || len(list) >= gatherMost
		if s.Sink.Rest == 0 || full || len(part) < limit {
			return list, full, nil
		}
		at = part[len(part)-1].Place
	}
}
