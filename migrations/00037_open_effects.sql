-- +goose NO TRANSACTION
-- +goose Up
-- Whether an event of a month is still needed is asked while the month is locked to be
-- dropped, when who receives waits.
drop index concurrently if exists effect_open_month;
create index concurrently effect_open_month on effect (event_month) where state <> 3;

-- +goose Down
drop index effect_open_month;
