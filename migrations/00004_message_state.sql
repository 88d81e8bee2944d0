-- +goose Up
-- Message records of variants that have too many for their row: an interchange
-- may hold 999,999. Then the column messages of inbox or variant holds their
-- number, in four bytes, and the records stand here in pieces. They are digests,
-- so compressing them is no use.
create table message_state (
  partner_id     text collate "C" not null,
  message_id     text collate "C" not null,
  payload_sha256 bytea not null,
  seq            integer not null,
  records        bytea not null,                   -- dedup.MessageState records, 10,000 of them but for the last piece
  primary key (partner_id, message_id, payload_sha256, seq)
);
alter table message_state alter column records set storage external;

-- +goose Down
drop table message_state;
