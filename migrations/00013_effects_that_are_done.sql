-- +goose NO TRANSACTION
-- +goose Up
-- What is done is deleted when the month of its event is purged.
drop index concurrently if exists effect_done; -- one that was broken off is not valid
create index concurrently effect_done on effect (event_month) where state = 3;

-- +goose Down
drop index effect_done;
