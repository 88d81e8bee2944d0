package dedup

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// LetterFilter narrows Dead and Unfinished; empty fields do not.
type LetterFilter struct {
	Partner, MessageID string
	After              Ref // cursor: keys after this one
	Limit              int
}

// Dead gives the keys under which a message is dead, with all their variants, in
// the order of partner and key.
func (s Inbox) Dead(ctx context.Context, f LetterFilter) ([]*Key, error) {
	rows, err := s.Pool.Query(ctx, `
		select partner_id, message_id
		from inbox
		where (hold & 8) <> 0 and ($1 = '' or partner_id = $1) and ($2 = '' or message_id = $2) and (partner_id, message_id) > ($3, $4)
		order by partner_id, message_id limit $5`, f.Partner, f.MessageID, f.After.Partner, f.After.ID, f.Limit)
	if err != nil {
		return nil, fmt.Errorf("list dead letters: %w", err)
	}
	list, err := s.keys(ctx, rows)
	if err != nil {
		return nil, fmt.Errorf("list dead letters: %w", err)
	}
	return list, nil
}

// Unfinished gives the keys under which a payload is partly, rejected or dead,
// with all their variants, in the order of partner and key.
func (s Inbox) Unfinished(ctx context.Context, f LetterFilter) ([]*Key, error) {
	rows, err := s.Pool.Query(ctx, `
		select partner_id, message_id
		from inbox
		where state in (3, 4, 5) and ($1 = '' or partner_id = $1) and ($2 = '' or message_id = $2) and (partner_id, message_id) > ($3, $4)
		union
		select partner_id, message_id
		from variant
		where state in (3, 4, 5) and state not in (6, 7) and ($1 = '' or partner_id = $1) and ($2 = '' or message_id = $2) and (partner_id, message_id) > ($3, $4)
		order by partner_id, message_id limit $5`, f.Partner, f.MessageID, f.After.Partner, f.After.ID, f.Limit)
	if err != nil {
		return nil, fmt.Errorf("list unfinished messages: %w", err)
	}
	list, err := s.keys(ctx, rows)
	if err != nil {
		return nil, fmt.Errorf("list unfinished messages: %w", err)
	}
	return list, nil
}

// keys reads the keys that rows name, in their order.
func (s Inbox) keys(ctx context.Context, rows pgx.Rows) ([]*Key, error) {
	refs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Ref, err error) {
		return r, row.Scan(&r.Partner, &r.ID)
	})
	if err != nil {
		return nil, err
	}
	keys, err := Load(ctx, s.Pool, refs)
	if err != nil {
		return nil, err
	}
	list := make([]*Key, 0, len(refs))
	for _, r := range refs {
		if k := keys[r]; k != nil { // purged meanwhile
			list = append(list, k)
		}
	}
	return list, nil
}

// Dead counts the dead messages of a variant, and how often the handler of the
// worst of them has failed.
func (v *Variant) Dead() (messages int, attempts uint8) {
	for i := range v.Messages {
		if v.Messages[i].Fate.IsDead() {
			messages++
			attempts = max(attempts, v.Messages[i].Attempts)
		}
	}
	return messages, attempts
}
