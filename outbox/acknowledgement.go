package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// AcknowledgementDue is the type of the outbox row that holds a functional
// acknowledgement on its way; nobody subscribes to it.
const AcknowledgementDue = "acknowledgement.due"

// Targets of functional acknowledgements, by acknowledge_by.
const (
	AcknowledgementWebhook = "acknowledgement-webhook"
	AcknowledgementFolder  = "acknowledgement-folder"
	AcknowledgementAS2     = "acknowledgement-as2"
	AcknowledgementAS4     = "acknowledgement-as4"
)

// AcknowledgementTargets says where acknowledge_by leads.
var AcknowledgementTargets = map[string]string{"webhook": AcknowledgementWebhook, "folder": AcknowledgementFolder,
	"as2": AcknowledgementAS2, "as4": AcknowledgementAS4}

// AcknowledgementBody is the outbox row's body.
type AcknowledgementBody struct {
	Type      string `json:"type"`      // CONTRL, TA1, 997 or 999; APERAK or 824
	Syntax    string `json:"syntax"`    // edifact or x12
	Reference string `json:"reference"` // control reference of our interchange
	MessageID string `json:"message_id"`
	Content   string `json:"content,omitempty"`
	Base64    []byte `json:"content_base64,omitempty"` // where it is no UTF-8

	Checks   []string `json:"checks,omitempty"`   // what the partner's answer has to say of it: Awaited.Expect
	Refusals int      `json:"refusals,omitempty"` // without a reason, since it was begun with: ErrUnexplained
}

// Bytes are those that leave.
func (b *AcknowledgementBody) Bytes() []byte {
	if b.Base64 != nil {
		return b.Base64
	}
	return []byte(b.Content)
}

// Acknowledgement is a functional acknowledgement, or an application advice, that was
// sent, or is being sent, by another way than the response.
type Acknowledgement struct {
	Partner    string     `json:"partner"`
	Event      uuid.UUID  `json:"event_id"`
	Month      time.Time  `json:"-"`
	Reference  string     `json:"reference"`
	Type       string     `json:"type"`
	By         string     `json:"by"`
	MessageID  string     `json:"message_id"`
	SHA256     [32]byte   `json:"-"`
	Created    time.Time  `json:"created_at"`
	State      State      `json:"-"`
	Attempts   int        `json:"attempts"`
	Failure    string     `json:"failure,omitempty"`
	Ended      *time.Time `json:"sent_at,omitempty"`
	AnsweredBy string     `json:"answered_by,omitempty"`
	Acceptance string     `json:"acceptance,omitempty"`
	AnswerID   string     `json:"answer_message_id,omitempty"`
	Answered   *time.Time `json:"answered_at,omitempty"`
	Answers    []Answer   `json:"answers,omitempty"` // all there are, the latest first; the fields before are of that one

	Binding []byte `json:"-"` // of a transport's receipt: what its bytes are tied to

	Group  string      `json:"group_reference,omitempty"`   // GS06 of its first group
	Number string      `json:"message_reference,omitempty"` // 0062, ST02 of what stands first in it
	Groups []SentGroup `json:"-"`                           // of X12
}

// SentGroup is a group FA of ours: one for each version of X12 that the acknowledgement
// answers, with a set for each group that it does; or the group AG of an 824.
type SentGroup struct {
	Reference string `json:"reference"` // GS06
	Form      string `json:"form"`      // 997, 999 or 824
	Sets      int    `json:"sets"`      // ST02 counts them from 0001
}

// QueueAcknowledgements writes what is to be remembered of acknowledgements beside the
// events that carry them.
func QueueAcknowledgements(b *pgx.Batch, list []Acknowledgement) {
	if len(list) == 0 {
		return
	}
	var partner, reference, typ, by, message, group, number []string
	var id pgtype.FlatArray[pgtype.UUID]
	var month pgtype.FlatArray[pgtype.Date]
	var digest, binding [][]byte
	var groups []any
	for _, a := range list {
		partner, reference, typ, by, message = append(partner, a.Partner), append(reference, a.Reference), append(typ, a.Type), append(by, a.By), append(message, a.MessageID)
		id, month = append(id, pgtype.UUID{Bytes: a.Event, Valid: true}), append(month, pgtype.Date{Time: a.Month, Valid: true})
		digest = append(digest, a.SHA256[:])
		group, number, binding = append(group, a.Group), append(number, a.Number), append(binding, a.Binding)
		if len(a.Groups) > 0 {
			groups = append(groups, a.Groups)
		} else {
			groups = append(groups, nil)
		}
	}
	b.Queue(`
		insert into functional_acknowledgement (partner_id, event_id, event_month, reference, type, by, message_id, payload_sha256, group_reference, message_reference, groups, binding)
		select unnest($1::text[]), unnest($2::uuid[]), unnest($3::date[]), unnest($4::text[]), unnest($5::text[]), unnest($6::text[]), unnest($7::text[]), unnest($8::bytea[]),
			unnest($9::text[]), unnest($10::text[]), unnest($11::jsonb[]), unnest($12::bytea[])`,
		partner, id, month, reference, typ, by, message, digest, group, number, groups, binding)
}

// AcknowledgementFilter narrows Acknowledgements.List; empty fields do not.
type AcknowledgementFilter struct {
	Partner, MessageID, Reference, Acceptance string
	AnswerID                                  string           // key of an interchange that answers them
	Before                                    *Acknowledgement // cursor: those before it
	Limit                                     int
}

// Acknowledgements reads functional acknowledgements that leave by another way than the
// response.
type Acknowledgements struct {
	Pool *pgxpool.Pool
}

// List gives them, the latest first, with how far they are.
func (s Acknowledgements) List(ctx context.Context, f AcknowledgementFilter) ([]*Acknowledgement, error) {
	if f.Before == nil {
		f.Before = &Acknowledgement{Event: uuid.Max, Partner: "\U0010ffff"}
	}
	rows, err := s.Pool.Query(ctx, `
		select a.partner_id, a.event_id, a.reference, a.type, a.by, a.message_id, a.created_at,
			coalesce(e.state, 3), coalesce(e.attempts, 0), coalesce(e.failure, ''), e.ended_at,
			a.answered_by, a.acceptance, a.answer_id, a.answered_at, a.group_reference, a.message_reference
		from functional_acknowledgement a left join effect e on e.partner_id = a.partner_id and e.event_id = a.event_id
		where ($1 = '' or a.partner_id = $1) and ($2 = '' or a.message_id = $2) and ($3 = '' or a.reference = $3) and ($7 = '' or a.acceptance = $7)
			and ($8 = '' or exists (select from functional_answer x where x.partner_id = a.partner_id and x.answer_id = $8 and x.event_id = a.event_id))
			and (a.event_id, a.partner_id) < ($4, $5)
		order by a.event_id desc, a.partner_id desc limit $6`, f.Partner, f.MessageID, f.Reference, f.Before.Event, f.Before.Partner, f.Limit, f.Acceptance, f.AnswerID)
	if err != nil {
		return nil, fmt.Errorf("list acknowledgements: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*Acknowledgement, error) {
		var a Acknowledgement
		return &a, row.Scan(&a.Partner, &a.Event, &a.Reference, &a.Type, &a.By, &a.MessageID, &a.Created, &a.State, &a.Attempts, &a.Failure, &a.Ended,
			&a.AnsweredBy, &a.Acceptance, &a.AnswerID, &a.Answered, &a.Group, &a.Number)
	})
	if err != nil {
		return nil, fmt.Errorf("list acknowledgements: %w", err)
	}
	return list, s.answersOf(ctx, list)
}
