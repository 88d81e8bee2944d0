-- +goose Up
-- Targets that do not take a partner's effects, so that all processes leave them alone
-- together and one at a time tries again. No row: they take them.
create table effect_pause (
  partner_id text collate "C" not null,
  target     text collate "C" not null,
  failures   integer not null,                     -- in a row
  due_at     timestamptz not null,                 -- next try; while somebody tries, when he is given up
  primary key (partner_id, target)
);

-- Certificates and keys whose end was told, so that each of the days before it is told
-- once.
create table expiry_told (
  partner_id  text collate "C" not null,           -- the partner, or the organisation of a key
  fingerprint bytea not null,                      -- SHA-256 of the certificate
  days        smallint not null,                   -- before its end: 30, 7 or 1
  not_after   timestamptz not null,
  told_at     timestamptz not null default now(),
  primary key (partner_id, fingerprint, days)
);

-- +goose Down
drop table expiry_told, effect_pause;
