package outbox

import "github.com/jackc/pgx/v5"

// Acknowledged is an interchange that a partner sent again.
type Acknowledged struct {
	Partner   string
	MessageID string // its key
	SHA256    []byte // of it
}

// QueueAcknowledgeAgain has the latest functional acknowledgement of each interchange, and
// the latest application advice on it, sent again, with the bytes it had, where its last delivery is not confirmed: it was
// given up, or nobody knows what became of it. One that is still on its way goes on as
// it was. What somebody else is about to change is left to him.
func QueueAcknowledgeAgain(b *pgx.Batch, list []Acknowledged) {
	if len(list) == 0 {
		return
	}
	partner, message, digest := make([]string, len(list)), make([]string, len(list)), make([][]byte, len(list))
	for i, a := range list {
		partner[i], message[i], digest[i] = a.Partner, a.MessageID, a.SHA256
	}
	b.Queue(`
		with again as materialized (
			select e.partner_id, e.event_id, e.target
			from unnest($1::text[], $2::text[], $3::bytea[]) as k (partner_id, message_id, payload_sha256)
				join functional_acknowledgement a on a.partner_id = k.partner_id collate "C" and a.message_id = k.message_id collate "C"
					and a.payload_sha256 = k.payload_sha256
				join effect e on e.partner_id = a.partner_id and e.event_id = a.event_id
			where e.state in (4, 5) and e.target like 'acknowledgement-%'
				and not exists (
					select from functional_acknowledgement later
					where later.partner_id = a.partner_id and later.message_id = a.message_id and later.payload_sha256 = a.payload_sha256
						and (later.type in ('APERAK', '824')) = (a.type in ('APERAK', '824'))
						and (later.created_at, later.event_id) > (a.created_at, a.event_id))
			order by e.partner_id, e.event_id, e.target
			for update of e skip locked)
		update effect e set state = 1, attempts = 0, due_at = now(), lease_id = null, place = '', ended_at = null
		from again
		where e.partner_id = again.partner_id and e.event_id = again.event_id and e.target = again.target`, partner, message, digest)
}
