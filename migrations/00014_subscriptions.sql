-- +goose Up
-- Who is told of events and notices, and how far each has come. An event is written
-- once, whatever the number of subscriptions: each reads the outbox behind cursors of
-- its own, one for each partner, so that none waits for another.
create table subscription (
  name        text collate "C" not null primary key,
  spec        jsonb not null,
  revision    integer not null default 1,
  from_xid    xid8 not null,                 -- streams begin here; transactions that were running then are in it
  paused_at   timestamptz,
  paused_by   text not null default '',      -- person; '' is the gateway itself
  reason      text not null default '',      -- of the pause
  failure     text not null default '',      -- why a process cannot open its target; '' is none
  created_at  timestamptz not null default now(),
  changed_at  timestamptz not null default now()
);

-- A stream is one partner's events on their way to one subscription. It stands after
-- the event (xid, event_id): everything up to it was sent or set aside.
create table subscription_stream (
  partner_id    text collate "C" not null,
  subscription  text collate "C" not null,
  xid           xid8 not null,
  event_id      uuid not null,
  due_at        timestamptz not null default now(),  -- from when it may be taken
  lease_id      uuid,                                -- who has it
  attempts      integer not null default 0,          -- that failed in a row, of the event that is next
  refusals      integer not null default 0,          -- of them, those in which the target would not have it
  failure       text not null default '',            -- the last one
  failing_since timestamptz,
  paused_at     timestamptz,
  sent          bigint not null default 0,
  sent_at       timestamptz,
  primary key (partner_id, subscription)
) with (fillfactor = 50);

-- Single events beside the stream: set aside because the target would not have them,
-- or to be sent again because a person asked for it.
create table subscription_event (
  partner_id    text collate "C" not null,
  subscription  text collate "C" not null,
  event_id      uuid not null,
  event_month   date not null,
  state         smallint not null,                   -- outbox.AsideState: 1 to be sent, 2 set aside
  attempts      integer not null default 0,
  failure       text not null default '',
  due_at        timestamptz not null default now(),
  since         timestamptz not null default now(),
  primary key (partner_id, subscription, event_id)
);

-- The delivery log: each attempt to hand an event to a webhook or mail server.
create table subscription_attempt (
  partner_id    text collate "C" not null,
  attempt_id    uuid not null,
  subscription  text collate "C" not null,
  event_id      uuid not null,
  at            timestamptz not null default now(),
  status        smallint not null,                   -- what the target answered, as its protocol counts; 0 is nothing
  took_ms       integer not null,
  failure       text not null default '',            -- '' is done
  answer        text not null default '',            -- the beginning of it
  primary key (partner_id, attempt_id)
);
create index subscription_attempt_event on subscription_attempt (partner_id, event_id);
create index subscription_attempt_at on subscription_attempt (at);

-- +goose Down
drop table subscription_attempt, subscription_event, subscription_stream, subscription;
