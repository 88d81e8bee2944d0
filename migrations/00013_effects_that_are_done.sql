-- +goose NO TRANSACTION
-- +goose Up
-- What is done is deleted when the month of its event is purged.
create index concurrently if not exists effect_done on effect (event_month) where state = 3;

-- +goose Down
drop index effect_done;
