-- +goose Up
-- Receipts of AS2 and AS4 have header fields of their own, and are tied to what the
-- sender signed: on a retry that he signed anew the same outcome is told in other bytes.
alter table acknowledgement
  add column fields  text,   -- of its header, a line each
  add column binding bytea;  -- null: its bytes fit every copy

-- A receipt that leaves later by itself (an asynchronous MDN) goes the way of
-- functional acknowledgements, under its transport key.
alter table functional_acknowledgement add column binding bytea;

-- What proves who sent a payload: the entity as it was signed, its signature, the
-- certificate that it was checked with. Stretches of an exhibit that are the payload's
-- own bytes are not stored a second time.
create table evidence (
  partner_id  text collate "C" not null,
  payload_id  uuid not null,                       -- whose evidence it is, and how long it is kept
  exhibit     smallint not null,
  seq         integer not null,                    -- of a chunk of 1 MiB
  purge_month date not null,
  name        text not null,
  media_type  text not null,
  stretches   jsonb,                               -- of the payload: where in the exhibit, from where, how long
  body        bytea compression lz4 not null,
  primary key (partner_id, payload_id, exhibit, seq, purge_month)
) partition by range (purge_month);
create table evidence_default partition of evidence default;
create table evidence_held partition of evidence for values from ('9999-01-01') to (maxvalue);

-- +goose Down
drop table evidence;
alter table functional_acknowledgement drop column binding;
alter table acknowledgement drop column fields, drop column binding;
