-- +goose NO TRANSACTION
-- +goose Up
-- Deliveries that made no key, which are counted when one more of them is to be kept:
-- anybody can send them under a partner's name, and among all of that partner's day
-- they would be sought at the cost of the day. Partitions that are made from now on
-- have it; migrations.IndexPartitions gives it to those that were there.
create index if not exists delivery_refused on only delivery (partner_id, delivery_id) include (received_at, bytes, payload_id)
  where verdict = 'refused' or message_id is null and transport_id is null;
create index concurrently if not exists delivery_default_refused on delivery_default (partner_id, delivery_id) include (received_at, bytes, payload_id)
  where verdict = 'refused' or message_id is null and transport_id is null;
create index concurrently if not exists delivery_held_refused on delivery_held (partner_id, delivery_id) include (received_at, bytes, payload_id)
  where verdict = 'refused' or message_id is null and transport_id is null;
alter index delivery_refused attach partition delivery_default_refused;
alter index delivery_refused attach partition delivery_held_refused;

-- +goose Down
drop index delivery_refused;
