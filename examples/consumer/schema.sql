-- What was worked on. A row is written in the transaction of what its event causes.
create table if not exists consumed_event (
  event_id    text primary key,
  consumed_at timestamptz not null default now()
);

-- Where the feed goes on; one row. Webhooks need none.
create table if not exists feed_place (
  only_one boolean primary key default true check (only_one),
  after    text not null
);

-- What this service is for.
create table if not exists payable (
  document_id text primary key,
  partner     text not null,
  number      text not null,
  amount      numeric not null,
  currency    text not null,
  state       text not null -- due, replaced, cancelled
);
