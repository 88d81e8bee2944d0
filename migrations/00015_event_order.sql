-- +goose NO TRANSACTION
-- +goose Up
-- The order in which subscriptions and the feed read a partner's events: by the id of
-- the transaction that wrote them, which tells what may still be committed before
-- them. Partitions that are made from now on have it; migrations.IndexPartitions gives it
-- to those that were there.
create index if not exists outbox_order on only outbox (partner_id, xid, event_id);
create index concurrently if not exists outbox_default_order on outbox_default (partner_id, xid, event_id);
create index concurrently if not exists outbox_held_order on outbox_held (partner_id, xid, event_id);
alter index outbox_order attach partition outbox_default_order;
alter index outbox_order attach partition outbox_held_order;

-- +goose Down
drop index outbox_order;
