-- +goose Up
-- What the program behind the gateway says it did with a document: a decision does
-- not replace or cancel what is in the books.
alter table document
  add column report      text not null default '', -- documents.Reported
  add column reported_at timestamptz,
  add column reported_by text not null default '', -- person
  add column report_note text not null default '';

-- There is a further role, of whoever reports. accounts.ParseRole checks it, and the
-- person's, which bounds a token's, has a check of its own.
alter table api_token drop constraint api_token_role_check;

-- +goose Down
update api_token set role = 'viewer' where role = 'consumer';
alter table api_token add constraint api_token_role_check check (role in ('viewer', 'operator', 'approver', 'admin'));
alter table document drop column report, drop column reported_at, drop column reported_by, drop column report_note;
