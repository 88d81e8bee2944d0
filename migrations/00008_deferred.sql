-- +goose Up
-- Work that is done after COMMIT by whoever takes it for a while: a row is taken
-- by setting due_at to the end of the lease, with `for update skip locked`, in the
-- database's time. Who does the work checks lease_id under its locks before it
-- commits. Rows of a partner stand together, and the one due longest first.

-- One row for each payload of which messages are pending. It is made with the
-- variant and deleted in the transaction that ends the work.
create table job (
  partner_id     text collate "C" not null,
  message_id     text collate "C" not null,          -- interchange key
  payload_sha256 bytea not null,
  due_at         timestamptz not null default now(), -- from when it may be taken
  lease_id       uuid,                               -- who has it
  failures       smallint not null default 0,        -- runs that failed
  lost           smallint not null default 0,        -- leases that ran out
  failure        text not null default '',           -- the last one
  since          timestamptz not null default now(),
  primary key (partner_id, message_id, payload_sha256)
);
create index job_due on job (partner_id, due_at);

-- One row for each thing an event causes outside the database, by target; the
-- event's id is its idempotency key. started is committed before the target is
-- reached, so that what is found started has an outcome that somebody knows.
create table effect (
  partner_id  text collate "C" not null,
  event_id    uuid not null,
  target      text collate "C" not null,
  event_month date not null,                         -- where the event stands in outbox
  state       smallint not null default 1,           -- outbox.State: 1 pending, 2 started, 3 done, 4 given up, 5 unknown, 6 dropped
  due_at      timestamptz not null default now(),    -- from when it may be taken
  lease_id    uuid,                                  -- who has it
  attempts    smallint not null default 0,           -- that failed
  failure     text not null default '',              -- the last one
  created_at  timestamptz not null default now(),
  started_at  timestamptz,
  ended_at    timestamptz,
  primary key (partner_id, event_id, target)
);
create index effect_due on effect (target, partner_id, due_at) where state in (1, 2);
create index effect_stuck on effect (partner_id, event_id) where state in (4, 5);

-- +goose Down
drop table effect, job;
