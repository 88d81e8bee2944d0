package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/columns"
	"github.com/edigw/edigw/edi"
)

// Answer is what a partner said of a functional acknowledgement that we sent.
type Answer struct {
	Partner    string    `json:"-"`
	Event      uuid.UUID `json:"-"` // the acknowledgement's
	Kind       string    `json:"kind"`
	Acceptance string    `json:"acceptance"` // edi.Acceptance in words
	Told       Told      `json:"told"`
	MessageID  string    `json:"message_id"`     // key of the interchange that held it
	SHA256     [32]byte  `json:"-"`              // of that interchange
	Seq        int       `json:"-"`              // among what that interchange answers
	Part       string    `json:"part,omitempty"` // of ours that it is about: "" the interchange, GS06 a group, GS06/ST02 a set
	At         time.Time `json:"at"`
}

// Told is an answer in the partner's words.
type Told struct {
	Number     string          `json:"number,omitempty"` // the answer's own
	Level      string          `json:"level"`            // what was judged: interchange, group, message or document
	Action     string          `json:"action,omitempty"` // the code as sent
	Text       string          `json:"text,omitempty"`
	Objections []edi.Objection `json:"objections,omitempty"`
	Omitted    int             `json:"objections_omitted,omitempty"`
	Doubts     []string        `json:"doubts,omitempty"` // codes of what is wrong with the answer itself
}

// Sent is what is known of an acknowledgement that an answer may be about.
type Sent struct {
	Event     uuid.UUID
	Reference string // control reference of our interchange
	Group     string // GS06 of its first group; ""
	Message   string // 0062, ST02 of what stands first in it; ""
	Groups    []SentGroup
	Type      string
	MessageID string // key of the interchange that it is about
}

// SentAs gives the acknowledgements that went to the partner under any of our control
// references, which are numbers without leading zeros, the latest of each.
func SentAs(ctx context.Context, pool *pgxpool.Pool, partner string, references []string) (map[string]Sent, error) {
	rows, err := pool.Query(ctx, `
		select distinct on (reference) event_id, reference, group_reference, message_reference, type, message_id, groups
		from functional_acknowledgement
		where partner_id = $1 and reference = any($2)
		order by reference, created_at desc, event_id desc`, partner, references)
	if err != nil {
		return nil, fmt.Errorf("look for what was sent to %s: %w", partner, err)
	}
	found := map[string]Sent{}
	var s Sent
	var groups []byte
	if _, err := pgx.ForEachRow(rows, []any{&s.Event, &s.Reference, &s.Group, &s.Message, &s.Type, &s.MessageID, &groups}, func() error {
		s.Groups = nil
		if groups != nil {
			if err := json.Unmarshal(groups, &s.Groups); err != nil {
				return err
			}
		}
		found[s.Reference] = s
		return nil
	}); err != nil {
		return nil, fmt.Errorf("look for what was sent to %s: %w", partner, err)
	}
	return found, nil
}

// AnswersNoted gives the answers that an interchange holds and that are noted, by
// Answer.Seq.
func AnswersNoted(ctx context.Context, pool *pgxpool.Pool, partner, messageID string, sha256 [32]byte) (map[int]bool, error) {
	rows, err := pool.Query(ctx, `
		select seq from functional_answer
		where partner_id = $1 and answer_id = $2 and answer_sha256 = $3`, partner, messageID, sha256[:])
	if err != nil {
		return nil, fmt.Errorf("look for answers of %s: %w", messageID, err)
	}
	noted := map[int]bool{}
	var seq int
	if _, err := pgx.ForEachRow(rows, []any{&seq}, func() error {
		noted[seq] = true
		return nil
	}); err != nil {
		return nil, fmt.Errorf("look for answers of %s: %w", messageID, err)
	}
	return noted, nil
}

// QueueAnswers notes answers of one partner's, each once, beside each other, and with the
// acknowledgement that they are about the worst of what was last said of its parts. A
// later word on the same part, or on what it stands in, takes the place of an earlier
// one, and so does any later word on a part that of the whole; "received" judges
// nothing, and takes no other's place. The acknowledgements are locked in
// their order, so that two deliveries of answers never wait for each other.
func QueueAnswers(b *pgx.Batch, partner string, list []Answer) error {
	if len(list) == 0 {
		return nil
	}
	var event, digest, id, kind, acceptance, told columns.Column
	var seq, part columns.Column
	var locked pgtype.FlatArray[pgtype.UUID]
	for i := range list {
		a := &list[i]
		id.Text(a.MessageID)
		digest.Bytes(a.SHA256[:])
		seq.Int4(int32(a.Seq))
		event.UUID(a.Event)
		kind.Text(a.Kind)
		part.Text(a.Part)
		acceptance.Text(a.Acceptance)
		told.Marshal(a.Told)
		locked = append(locked, pgtype.UUID{Bytes: a.Event, Valid: true})
	}
	if err := columns.Err(&id, &told); err != nil {
		return fmt.Errorf("note answers: %w", err)
	}
	b.Queue(`
		select 1 from functional_acknowledgement
		where partner_id = $1 and event_id = any($2)
		order by event_id for update`, partner, locked)
	columns.Queue(b, `
		insert into functional_answer (partner_id, answer_id, answer_sha256, seq, event_id, kind, acceptance, told, part)
		select $1, unnest($2::text[]), unnest($3::bytea[]), unnest($4::int4[]), unnest($5::uuid[]), unnest($6::text[]), unnest($7::text[]), unnest($8::jsonb[]), unnest($9::text[])
		on conflict do nothing`, partner, &id, &digest, &seq, &event, &kind, &acceptance, &told, &part)
	b.Queue(`
		with said as materialized ( -- of each part the latest word, and the latest that only says received
			select distinct on (event_id, part, acceptance = 'received') event_id, part, kind, acceptance, answer_id, created_at, seq
			from functional_answer where partner_id = $1 and event_id = any($2)
			order by event_id, part, acceptance = 'received', created_at desc, answer_id desc, seq desc),
		held as ( -- an equality in each, so that many answers are compared by hash and not each with each
			select event_id, part, kind, acceptance, answer_id, created_at, seq from said s
			where not exists ( -- on the same part
					select from said l
					where l.event_id = s.event_id and l.part = s.part and (l.created_at, l.answer_id, l.seq) > (s.created_at, s.answer_id, s.seq)
						and (l.acceptance <> 'received' or s.acceptance = 'received'))
				and not exists ( -- on the group of a set
					select from said l
					where l.event_id = s.event_id and l.part = split_part(s.part, '/', 1) and (l.created_at, l.answer_id, l.seq) > (s.created_at, s.answer_id, s.seq)
						and (l.acceptance <> 'received' or s.acceptance = 'received'))
				and not exists ( -- on the whole
					select from (select event_id, acceptance, created_at, answer_id, seq from said where part = '') as l
					where l.event_id = s.event_id and (l.created_at, l.answer_id, l.seq) > (s.created_at, s.answer_id, s.seq)
						and (l.acceptance <> 'received' or s.acceptance = 'received'))
				and not (s.part = '' and exists ( -- on any part
					select from said l
					where l.event_id = s.event_id and (l.created_at, l.answer_id, l.seq) > (s.created_at, s.answer_id, s.seq)
						and (l.acceptance <> 'received' or s.acceptance = 'received')))),
		worst as (
			select distinct on (event_id) event_id, kind, acceptance, answer_id, created_at from held
			order by event_id, array_position(array['received', 'accepted', 'accepted with errors', 'unknown', 'partly accepted', 'rejected'], acceptance) desc,
				created_at desc, answer_id desc, seq desc)
		update functional_acknowledgement a
		set answered_by = w.kind, acceptance = w.acceptance, answer_id = w.answer_id, answered_at = w.created_at
		from worst w
		where a.partner_id = $1 and a.event_id = w.event_id`, partner, locked)
	return nil
}

// answersOf reads what was said of the acknowledgements of a page, the latest first,
// maxAnswersListed of each.
func (s Acknowledgements) answersOf(ctx context.Context, page []*Acknowledgement) error {
	var partner []string
	var event pgtype.FlatArray[pgtype.UUID]
	by := map[uuid.UUID]*Acknowledgement{}
	for _, a := range page {
		if a.AnsweredBy == "" {
			continue
		}
		partner, event = append(partner, a.Partner), append(event, pgtype.UUID{Bytes: a.Event, Valid: true})
		by[a.Event] = a
	}
	if len(by) == 0 {
		return nil
	}
	rows, err := s.Pool.Query(ctx, `
		select x.event_id, x.kind, x.acceptance, x.told, x.answer_id, x.created_at, x.part
		from unnest($1::text[], $2::uuid[]) as a (partner_id, event_id)
			cross join lateral (
				select event_id, kind, acceptance, told, answer_id, created_at, seq, part from functional_answer
				where partner_id = a.partner_id and event_id = a.event_id
				order by created_at desc, seq desc limit $3) as x
		order by x.event_id, x.created_at desc, x.seq desc`, partner, event, maxAnswersListed)
	if err != nil {
		return fmt.Errorf("list answers: %w", err)
	}
	var x Answer
	var told json.RawMessage
	_, err = pgx.ForEachRow(rows, []any{&x.Event, &x.Kind, &x.Acceptance, &told, &x.MessageID, &x.At, &x.Part}, func() error {
		x.Told = Told{}
		if err := json.Unmarshal(told, &x.Told); err != nil {
			return err
		}
		by[x.Event].Answers = append(by[x.Event].Answers, x)
		return nil
	})
	if err != nil {
		return fmt.Errorf("list answers: %w", err)
	}
	return nil
}

const maxAnswersListed = 20
