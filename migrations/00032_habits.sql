-- +goose Up
-- What partners' deliveries show of their habits, kept as sums: the evidence outlives the
-- purge of the deliveries it was taken from. Rows are written by one process at a time,
-- after the answer; a delivery writes none of them.
create table habit_pass (
  singleton    boolean primary key default true check (singleton),
  lease_id     uuid,                  -- of the process that looks now
  leased_until timestamptz,
  up_at        timestamptz not null   -- when a gateway was last seen to run
);

-- When no gateway ran: nobody was silent then.
create table habit_outage (
  began_at timestamptz primary key,
  ended_at timestamptz not null
);

-- delivery_id and seq are the cursor: evidence has every delivery up to it, none behind
-- it. Both are written in one transaction.
create table habit (
  partner_id   text collate "C" primary key,
  delivery_id  uuid not null,
  seq          integer not null,
  evidence     jsonb not null,
  silence      text not null default 'auto', -- the partner's setting that expected_by goes by
  heard_at     timestamptz,
  counted_from timestamptz,                  -- silence counts from here: heard_at, or when the partner was no longer paused
  expected_at  timestamptz,                  -- when the next delivery is usual
  expected_by  timestamptz,                  -- when the partner is silent; null: nobody can say
  silent_since timestamptz,
  silent_event uuid                          -- that said so
);
create index habit_due on habit (expected_by) where silent_since is null;

-- A series of control references that a partner may count.
create table habit_series (
  partner_id text collate "C" not null,
  series     text collate "C" not null,
  test       boolean not null,
  state      jsonb not null,
  last_at    timestamptz not null,
  due_at     timestamptz,                    -- when a number that is not there has had its time
  primary key (partner_id, series)
);
create index habit_series_due on habit_series (due_at) where due_at is not null;

-- Numbers that did not come: lost files.
create table sequence_gap (
  partner_id text collate "C" not null,
  gap_id     uuid not null,
  series     text collate "C" not null,
  test       boolean not null,
  numbers    bigint[] not null,              -- all that were missing, ascending
  missing    bigint[] not null,              -- of those that still are
  width      smallint not null,              -- of a reference with leading zeros; 0: it has none
  before     text not null,                  -- neighbours, as references
  after      text not null,
  since      timestamptz not null,           -- when the number behind it came
  opened_at  timestamptz not null,
  closed_at  timestamptz,
  cause      text not null default '',       -- arrived or dismissed
  closed_by  text not null default '',
  reason     text not null default '',
  primary key (partner_id, gap_id)
);
create index sequence_gap_open on sequence_gap (partner_id, series) where closed_at is null;

-- +goose Down
drop table sequence_gap;
drop table habit_series;
drop table habit;
drop table habit_outage;
drop table habit_pass;
