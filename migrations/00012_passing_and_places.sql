-- +goose Up
-- Runs in a row that failed on what passes. A job that goes on failing so while
-- others commit is one that does not pass: its runs are counted then.
alter table job add column passing smallint not null default 0;

-- Where an effect was started: of a folder, its own id. Elsewhere nobody can say what
-- became of it. '' is nowhere yet, or a program before this.
alter table effect add column place text not null default '';

-- What is done is deleted when its event's month is purged, by month.
create index effect_done on effect (event_month) where state = 3;

-- +goose Down
drop index effect_done;
alter table effect drop column place;
alter table job drop column passing;
