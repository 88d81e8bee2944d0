-- +goose Up
-- The life of a drift between its alert and its end: who looks at it, what is
-- proposed and waits for a second person, and what was decided.
alter table drift_alert
  add column assignee        text not null default '', -- person
  add column proposed        text not null default '', -- decision that waits for a second person
  add column proposed_digest bytea,                    -- of which payload
  add column proposed_by     text not null default '', -- person
  add column proposed_at     timestamptz,
  add column proposed_reason text not null default '', -- code
  add column proposed_note   text not null default '',
  add column proposed_facts  jsonb,                    -- what it was decided on
  add column decision        text not null default '', -- the last one applied
  add column decided_by      text not null default '', -- person
  add column approved_by     text not null default '', -- person, where a second one was needed
  add column decided_at      timestamptz,
  add column decided_reason  text not null default '', -- code
  add column decided_note    text not null default '';

-- Dead letters: keys under which something is dead (dedup.HoldDead).
create index inbox_dead on inbox (partner_id, message_id) where (hold & 8) <> 0;

-- +goose Down
drop index inbox_dead;
alter table drift_alert
  drop column assignee, drop column proposed, drop column proposed_digest, drop column proposed_by, drop column proposed_at,
  drop column proposed_reason, drop column proposed_note, drop column proposed_facts, drop column decision, drop column decided_by,
  drop column approved_by, drop column decided_at, drop column decided_reason, drop column decided_note;
