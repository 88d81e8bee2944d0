-- +goose Up
-- Functional acknowledgements that leave by another way than the response: what we
-- said of which interchange, under which control reference of ours, and what the
-- partner said of it. How far it is on its way stands in effect, the text in outbox.
create table functional_acknowledgement (
  partner_id     text collate "C" not null,
  event_id       uuid not null,                     -- of the outbox and of its effect
  event_month    date not null,
  reference      text collate "C" not null,         -- control reference of our interchange
  type           text not null,                     -- CONTRL, TA1, 997 or 999
  by             text not null,                     -- acknowledge_by
  message_id     text collate "C" not null,         -- key of the interchange that it is about
  payload_sha256 bytea not null,                    -- of it
  created_at     timestamptz not null default now(),
  answered_by    text not null default '',          -- kind of the partner's answer; '' is none
  acceptance     text not null default '',          -- in it: accepted, rejected, …
  answer_id      text collate "C" not null default '', -- key of the interchange that held it
  answered_at    timestamptz,
  primary key (partner_id, event_id)
);
create index functional_acknowledgement_reference on functional_acknowledgement (partner_id, reference);
create index functional_acknowledgement_message on functional_acknowledgement (partner_id, message_id);

-- +goose Down
drop table functional_acknowledgement;
