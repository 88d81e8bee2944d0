-- +goose NO TRANSACTION
-- +goose Up
-- Whose payload stands in the partition held: when the last of them needs it no
-- more, it moves to the month of its purge (gateway.Release). Few rows are in it,
-- and none of a message that is received without a fault.
drop index concurrently if exists inbox_payload_held; -- one that was broken off is not valid
create index concurrently inbox_payload_held on inbox (partner_id, payload_id) where payload_month = '9999-01-01';
drop index concurrently if exists variant_payload_held; -- one that was broken off is not valid
create index concurrently variant_payload_held on variant (partner_id, payload_id) where payload_month = '9999-01-01';

-- Keys with refused or dead messages, by the state of their first variant: what an
-- operator has judged again after a change of settings (dedup.Inbox.Unfinished).
-- Further variants are found by variant_standing.
drop index concurrently if exists inbox_unfinished; -- one that was broken off is not valid
create index concurrently inbox_unfinished on inbox (partner_id, message_id) where state in (3, 4, 5);

-- +goose Down
drop index inbox_unfinished, inbox_payload_held, variant_payload_held;
