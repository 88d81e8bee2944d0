-- +goose Up
-- Whether anything may leave this database. The row says where it was written: a copy of
-- it that a restore wrote anew has another xmin, another table or another database, and
-- nothing leaves until a person confirms that this is the database others are to hear
-- of. No row: no gateway has looked yet.
create table outgoing (
  id                boolean primary key default true check (id),
  system_identifier bigint,                        -- of the cluster; null where the role may not read it
  database_oid      oid not null,
  table_oid         oid not null,                  -- of outgoing
  row_xid           xid not null,                  -- xmin of this row
  held_since        timestamptz,                   -- nothing leaves; null: it may
  held_by           text not null default '',      -- person; '' is the gateway itself
  reason            text not null default '',      -- of the hold
  confirmed_at      timestamptz,
  confirmed_by      text not null default ''
);

-- +goose Down
drop table outgoing;
