-- +goose Up
-- Which of its partner's certificates a delivery was signed by, by its label: during a
-- roll-over it shows who still signs with the old one. Null where nothing was signed,
-- and of what came before.
alter table delivery add column signer text;

-- +goose Down
alter table delivery drop column signer;
