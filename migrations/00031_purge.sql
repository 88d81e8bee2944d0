-- +goose NO TRANSACTION
-- +goose Up
-- What is purged and what is not. A message that a person holds stands in a table of its
-- own: nothing of the path of a delivery writes or reads it.
create table if not exists legal_hold (
  partner_id text collate "C" not null,
  message_id text collate "C" not null,
  reason text not null check (reason <> ''),
  held_by text not null,
  held_at timestamptz not null default now(),
  primary key (partner_id, message_id)
);

-- One row: who purges, until when that is his, and what the clock said when it was looked
-- at last. It is written by every process of the gateway, each minute.
create table if not exists purge (
  singleton boolean primary key default true check (singleton),
  run_id uuid,
  node text not null default '',
  lease_until timestamptz,
  paused_at timestamptz,
  paused_by text not null default '',
  paused_for text not null default '',
  seen_at timestamptz not null default now(),
  jumped_from timestamptz, -- the clock did, and nobody has looked at it
  jumped_to timestamptz
);
insert into purge default values on conflict do nothing;

create table if not exists purge_run (
  run_id uuid primary key,
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  state text not null check (state in ('running', 'done', 'refused', 'failed', 'stopped')),
  node text not null,
  started_by text not null default '',
  resumes uuid, -- a run that ended without a word
  reason text not null default ''
);
create index if not exists purge_run_started on purge_run (started_at);

create table if not exists purge_step (
  run_id uuid not null,
  partner_id text collate "C" not null,
  kind text not null,
  reason text not null default '', -- why they stayed; empty: they went
  rows bigint not null,
  bytes bigint not null,
  primary key (run_id, partner_id, kind, reason)
);

-- Under which windows the rows of a partner stand where they stand.
create table if not exists purge_settled (
  partner_id text collate "C" primary key,
  windows jsonb not null,
  settled_at timestamptz not null default now()
);

drop index concurrently if exists document_key_purge;
create index concurrently document_key_purge on document_key (purge_on);
drop index concurrently if exists document_purge;
create index concurrently document_purge on document (purge_on) where purge_on is not null;
drop index concurrently if exists inbox_held;
create index concurrently inbox_held on inbox (partner_id, message_id) where hold <> 0;

-- +goose Down
drop table legal_hold, purge, purge_run, purge_step, purge_settled;
drop index document_key_purge;
drop index document_purge;
drop index inbox_held;
