-- +goose Up
-- An acknowledgement of ours may hold a group for each version of X12 that it answers,
-- and in it a set for each group; partners answer them one by one. What became of the
-- whole is the worst of what was last said of its parts.
alter table functional_acknowledgement
  add column groups jsonb;                          -- reference, form, sets of each X12 group; null where there is none, or it was not noted
alter table functional_answer
  add column part text collate "C" not null default ''; -- of ours: '' the interchange, GS06 a group, GS06/ST02 a set
-- Each attempt to bring an effect to its target, with the address or path of that time:
-- settings change.
create table effect_attempt (
  partner_id text collate "C" not null,
  attempt_id uuid not null,
  event_id   uuid not null,
  target     text collate "C" not null,
  at         timestamptz not null default now(),    -- when it had ended
  address    text not null,                         -- URL, or path of the file
  failure    text not null default '',              -- '' is done
  primary key (partner_id, attempt_id)
);
create index effect_attempt_event on effect_attempt (partner_id, event_id, target);

-- +goose Down
drop table effect_attempt;
alter table functional_answer drop column part;
alter table functional_acknowledgement drop column groups;
