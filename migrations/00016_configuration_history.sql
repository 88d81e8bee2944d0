-- +goose Up

-- Who applied a revision; '' where that was not written down yet.
alter table partner_revision add column applied_by text not null default '';

-- Organisations have revisions as partners do.
alter table organisation add column revision integer not null default 1;

create table organisation_revision (
    organisation_id text collate "C" not null references organisation,
    revision        integer     not null,
    cause           text        not null,
    spec            jsonb       not null,
    applied_by      text        not null default '',
    applied_at      timestamptz not null,
    primary key (organisation_id, revision)
);

-- +goose Down
drop table organisation_revision;
alter table organisation drop column revision;
alter table partner_revision drop column applied_by;
