-- +goose Up

-- Partners and accounts are few and read by everyone: on Citus the partner
-- tables are reference tables, which is why identifiers and token digests may
-- be unique across partners here and nowhere else.

-- One row. Its lock serialises configuration changes, its counter tells every
-- process that its snapshot is old.
create table configuration (
    singleton  boolean     not null default true check (singleton),
    counter    bigint      not null default 0,
    changed_at timestamptz not null default now(),
    primary key (singleton)
);
insert into configuration default values;

create table organisation (
    organisation_id text collate "C" not null,
    spec            jsonb       not null,
    applied_at      timestamptz not null,
    primary key (organisation_id)
);

create table partner (
    partner_id      text collate "C" not null,
    organisation_id text collate "C" not null references organisation,
    revision        integer     not null,
    connected_on    date        not null,
    spec            jsonb       not null,
    -- what key settings were before each change, newest first, each with the
    -- time until which keys made under it are still looked up
    earlier_keys    jsonb       not null,
    applied_at      timestamptz not null,
    primary key (partner_id)
);

-- Every configuration a message may have been judged under.
create table partner_revision (
    partner_id text collate "C" not null references partner,
    revision   integer     not null,
    cause      text        not null,
    spec       jsonb       not null,
    applied_at timestamptz not null,
    primary key (partner_id, revision)
);

-- Interchange addresses: 0007 with 0004, ISA05 with ISA06.
create table partner_identifier (
    partner_id text collate "C" not null references partner,
    qualifier  text collate "C" not null,
    identifier text collate "C" not null,
    primary key (partner_id, qualifier, identifier),
    constraint partner_identifier_is_one_partners unique (qualifier, identifier)
);

-- Tokens for plain HTTP. Declared ones come and go with the YAML; a revoked
-- one stays, so that no old file brings it back.
create table partner_token (
    partner_id text collate "C" not null references partner,
    token_id   uuid        not null,
    label      text        not null,
    sha256     bytea       not null check (length(sha256) = 32),
    declared   boolean     not null,
    created_at timestamptz not null,
    expires_at timestamptz,
    revoked_at timestamptz,
    primary key (partner_id, token_id),
    constraint partner_token_is_one_partners unique (sha256)
);
create unique index partner_token_label on partner_token (partner_id, label) where revoked_at is null;

-- Tokens for the API. The person is who acts; the token only proves it.
create table api_token (
    token_id     uuid        not null,
    person       text        not null check (person <> ''),
    role         text        not null check (role in ('viewer', 'operator', 'approver', 'admin')),
    label        text        not null,
    sha256       bytea       not null check (length(sha256) = 32),
    created_at   timestamptz not null,
    expires_at   timestamptz,
    last_used_at timestamptz,
    revoked_at   timestamptz,
    primary key (token_id),
    constraint api_token_is_one_persons unique (sha256)
);

-- Who did what. Rows are only ever added.
create table audit_entry (
    entry_id   uuid        not null,
    at         timestamptz not null default now(),
    who        text        not null check (who <> ''),
    role       text        not null,
    action     text        not null check (action <> ''),
    subject    text        not null,
    partner_id text collate "C",
    detail     jsonb       not null,
    primary key (entry_id)
);
create index audit_entry_at on audit_entry (at, entry_id);
create index audit_entry_partner on audit_entry (partner_id, at) where partner_id is not null;

-- +goose StatementBegin
create function audit_entry_only_grows() returns trigger language plpgsql as $$
begin
    raise exception 'audit_entry only grows: % refused', lower(tg_op)
        using errcode = 'restrict_violation';
end
$$;
-- +goose StatementEnd

create trigger audit_entry_only_grows
    before update or delete or truncate on audit_entry
    for each statement execute function audit_entry_only_grows();
