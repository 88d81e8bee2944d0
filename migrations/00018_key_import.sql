-- +goose Up

-- Files of keys that a former gateway has processed. A file is known by its
-- digest: the same one goes on where it stopped. Like accounts it is no one
-- partner's.
create table key_import (
  import_id   uuid not null,                      -- delivery_id of the inbox rows it made
  file_sha256 bytea not null check (length(file_sha256) = 32),
  name        text not null,                      -- of the file, for people
  person      text not null,
  dry_run     boolean not null default false,     -- nothing but this row is written
  started_at  timestamptz not null,
  finished_at timestamptz,
  rows_done   bigint not null default 0,          -- of the file, in its order
  added       bigint not null default 0,
  known       bigint not null default 0,          -- the key is there already
  differs     bigint not null default 0,          -- it is there, with another digest
  faulty      bigint not null default 0,
  expired     bigint not null default 0,          -- its window has passed
  primary key (import_id)
);
create unique index key_import_file on key_import (file_sha256) where not dry_run;

-- +goose Down
drop table key_import;
