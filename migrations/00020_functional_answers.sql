-- +goose Up
-- What partners say of functional acknowledgements that we sent them: each answer as
-- it came. The latest stands with the acknowledgement too. The numbers by which an
-- answer may name one are those of its first group and of what stands in it.
alter table functional_acknowledgement
  add column group_reference   text collate "C" not null default '', -- GS06; '' where there is no group, or it was not noted
  add column message_reference text collate "C" not null default ''; -- 0062, ST02; '' where there is no message, or it was not noted
create table functional_answer (
  partner_id    text collate "C" not null,
  answer_id     text collate "C" not null,          -- key of the interchange that held it
  answer_sha256 bytea not null,                     -- of that interchange
  seq           integer not null,                   -- among what that interchange answers
  event_id      uuid not null,                      -- of functional_acknowledgement
  kind          text not null,                      -- CONTRL, APERAK, TA1, 997, 999 or 824
  acceptance    text not null,                      -- received, accepted, rejected, …
  told          jsonb not null,                     -- number, level, action, words, objections, what is wrong with the answer
  created_at    timestamptz not null default now(),
  primary key (partner_id, answer_id, answer_sha256, seq)
);
create index functional_answer_acknowledgement on functional_answer (partner_id, event_id);

-- +goose Down
drop table functional_answer;
alter table functional_acknowledgement drop column group_reference, drop column message_reference;
