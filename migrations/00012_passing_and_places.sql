-- +goose Up
-- Runs in a row that failed on what passes. A job that goes on failing so while
-- others commit is one that does not pass: its runs are counted then.
alter table job add column passing smallint not null default 0;

-- Where an effect was started: of a folder, its own id. Elsewhere nobody can say what
-- became of it. '' is nowhere yet, or a program before this.
alter table effect add column place text not null default '';

-- +goose Down
alter table effect drop column place;
alter table job drop column passing;
