-- +goose Up
-- The stamp of the interchange that cancelled a document, or that a decision put in
-- the place of its own. What was sent later is not a late copy of it: it is posted.
alter table document add column cancelled_stamp text collate "C"; -- null: not cancelled, or before this

-- +goose Down
alter table document drop column cancelled_stamp;
