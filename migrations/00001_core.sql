-- +goose Up
-- Keys, variants, drift, the journal, acknowledgements and the outbox.
-- partner_id leads every key so that the schema can be distributed by it; no
-- sequences, no foreign keys across partners, no code in the database.
-- The states are those of docs/reference/outcomes.md, as numbers of dedup.State
-- and dedup.MessageState.

-- One row a key, its first variant in it: the happy path writes this row once.
create table inbox (
  partner_id      text collate "C" not null,
  message_id      text collate "C" not null,
  kind            smallint not null,              -- 1 transport, 2 interchange
  epoch           integer not null default 0,     -- the current one; re-use of a number begins the next
  current_sha256  bytea,                          -- the current variant; null: the first
  first_at        timestamptz not null default now(),
  last_at         timestamptz not null default now(), -- last delivery, advanced at most once a day for plain duplicates
  hold            smallint not null default 0,    -- what forbids purging: bits 1 open drift, 2 held message, 4 pending, 8 dead
  purge_on        date not null,
  carried         text[],                         -- transport keys: partner and key of each interchange carried, tab between
  -- the first variant
  payload_sha256  bytea,                          -- null: imported without a digest
  content_sha256  bytea,
  content_version smallint not null default 0,
  state           smallint not null,
  variant_epoch   integer not null default 0,
  via             smallint not null default 0,    -- 1: quarantined because its original may have been purged (row I1)
  answer          smallint not null,              -- gateway.Answer as stored
  messages        bytea not null,                 -- dedup.MessageState records, 44 bytes each
  delivery_id     uuid not null,
  payload_id      uuid,
  payload_month   date,
  payload_offset  bigint not null default 0,
  payload_length  bigint not null default 0,
  ack_id          uuid,
  ack_month       date,
  alert_id        uuid,
  primary key (partner_id, message_id)
);
create index inbox_purge on inbox (purge_on) where hold = 0;

-- Further digests under a key.
create table variant (
  partner_id      text collate "C" not null,
  message_id      text collate "C" not null,
  payload_sha256  bytea not null,
  content_sha256  bytea,
  content_version smallint not null default 0,
  state           smallint not null,
  variant_epoch   integer not null default 0,
  via             smallint not null default 0,
  answer          smallint not null,
  messages        bytea not null,
  delivery_id     uuid not null,
  payload_id      uuid,
  payload_month   date,
  payload_offset  bigint not null default 0,
  payload_length  bigint not null default 0,
  ack_id          uuid,
  ack_month       date,
  alert_id        uuid,
  first_at        timestamptz not null default now(),
  primary key (partner_id, message_id, payload_sha256)
);

-- The third guard: one row a business document, whatever interchange brought it.
create table document_key (
  partner_id   text collate "C" not null,
  document_key bytea not null,                    -- documents.Document.GuardKey
  contents     bytea not null,                    -- 32 bytes for each content posted under it, the first one first
  document_ids uuid[] not null,                   -- beside contents; the last revision last
  message_id   text collate "C",                  -- the interchange key that brought the first
  stamp        text not null default '',          -- interchange date and reference of the newest revision
  imported     boolean not null default false,
  first_at     timestamptz not null default now(),
  purge_on     date not null,
  primary key (partner_id, document_key)
);

create table drift_alert (
  partner_id      text collate "C" not null,
  alert_id        uuid not null,
  kind            text not null,                  -- transport, interchange, document
  message_id      text collate "C" not null,
  epoch           integer not null default 0,
  state           text not null,                  -- open, in_review, awaiting_approval, resolved, auto_resolved
  class           text not null,
  severity        text not null,
  headline        text not null default '',       -- what changed, in words
  original_sha256 bytea,
  digests         bytea[] not null,               -- every digest that drifted
  documents       text[] not null default '{}',   -- kind document: numbers held
  proposal        text not null default '',       -- a setting the evidence speaks for
  reason          text not null default '',       -- why it was closed
  receptions      integer not null default 1,
  opened_at       timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  test            boolean not null default false,
  detail          jsonb not null default '{}',
  primary key (partner_id, alert_id)
);
create index drift_alert_key on drift_alert (partner_id, message_id);
create index drift_alert_open on drift_alert (state, severity, opened_at) where state in ('open', 'in_review', 'awaiting_approval');
-- Content without number and date of open and refused drifts, for the finding possible_copy.
create table drift_copy (
  partner_id text collate "C" not null,
  content    bytea not null,
  alert_id   uuid not null,
  opened_at  timestamptz not null default now(),
  primary key (partner_id, content, alert_id)
);

-- What came in: decoded payloads in chunks of 1 MiB, kept by the month of their purge.
create table payload (
  partner_id  text collate "C" not null,
  payload_id  uuid not null,
  seq         integer not null,
  purge_month date not null,
  body        bytea compression lz4 not null,
  primary key (partner_id, payload_id, seq, purge_month)
) partition by range (purge_month);
create table payload_default partition of payload default;
create table payload_held partition of payload for values from ('9999-01-01') to (maxvalue);

-- What was answered.
create table acknowledgement (
  partner_id   text collate "C" not null,
  ack_id       uuid not null,
  purge_month  date not null,
  status       smallint not null default 0,       -- transport keys: HTTP status of the rendered receipt
  content_type text,
  receipt      bytea compression lz4,             -- transport keys: the bytes as sent
  answer       bytea compression lz4,             -- interchange keys: its part of the receipt, JSON
  functional   bytea compression lz4,             -- CONTRL, TA1, 997 as sent, where it does not travel in the receipt
  created_at   timestamptz not null default now(),
  primary key (partner_id, ack_id, purge_month)
) partition by range (purge_month);
create table acknowledgement_default partition of acknowledgement default;
create table acknowledgement_held partition of acknowledgement for values from ('9999-01-01') to (maxvalue);

-- Every delivery with its outcome: one row for each interchange in it, seq 0 the first.
create table delivery (
  partner_id     text collate "C" not null,
  delivery_id    uuid not null,                   -- UUIDv7: ordered by time
  seq            integer not null,
  purge_month    date not null,
  received_at    timestamptz not null default now(),
  transport      text not null,
  transport_id   text,                            -- transport key
  message_id     text collate "C",                -- interchange key
  payload_sha256 bytea,
  verdict        text not null,
  outcome        text not null,
  rule           text not null default '',        -- row of the outcome table
  status         smallint not null default 0,
  bytes          bigint not null default 0,
  took_us        integer not null default 0,
  payload_id     uuid,
  payload_month  date,
  ack_id         uuid,
  ack_month      date,
  alert_id       uuid,
  remote         text not null default '',
  filename       text not null default '',
  detail         text not null default '',
  primary key (partner_id, delivery_id, seq, purge_month)
) partition by range (purge_month);
create index delivery_message on delivery (partner_id, message_id);
create table delivery_default partition of delivery default;
create table delivery_held partition of delivery for values from ('9999-01-01') to (maxvalue);

-- What leaves after COMMIT. Events are a log read by cursor; notices and
-- acknowledgements are pending until delivered.
create table outbox (
  partner_id  text collate "C" not null,
  event_id    uuid not null,
  purge_month date not null,
  kind        text not null,                      -- event, notice, acknowledgement
  type        text not null,
  subject     text not null default '',
  body        jsonb not null,
  created_at  timestamptz not null default now(),
  xid         xid8 not null default pg_current_xact_id(), -- a reader stays below pg_snapshot_xmin and skips no late commit
  state       smallint not null default 0,        -- 0 nothing to do, 1 pending, 2 leased, 3 delivered, 4 given up
  attempts    smallint not null default 0,
  next_at     timestamptz,
  primary key (partner_id, event_id, purge_month)
) partition by range (purge_month);
create index outbox_pending on outbox (next_at) where state in (1, 2);
create table outbox_default partition of outbox default;
create table outbox_held partition of outbox for values from ('9999-01-01') to (maxvalue);

-- Control numbers of our acknowledgements, leased in blocks; gaps are legal.
create table control_number (
  partner_id text collate "C" not null,
  scope      text collate "C" not null,
  next       bigint not null,
  primary key (partner_id, scope)
);

-- +goose Down
drop table control_number, outbox, delivery, acknowledgement, payload, drift_copy, drift_alert, document_key, variant, inbox;
