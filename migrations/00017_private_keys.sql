-- +goose Up

-- Our own private keys. The key itself is sealed under a master key that the
-- database never sees.
create table private_key (
    organisation_id text collate "C" not null references organisation,
    key_id          uuid        not null,
    label           text        not null,
    purposes        text[]      not null check (cardinality(purposes) > 0),
    algorithm       text        not null,
    spki_sha256     bytea       not null check (length(spki_sha256) = 32),
    sealed          bytea       not null, -- nonce, then AES-256-GCM over PKCS#8
    sealed_under    bytea       not null check (length(sealed_under) = 8), -- which master key
    certificates    bytea[]     not null check (cardinality(certificates) > 0), -- DER: its own, then the issuers
    use_from        timestamptz not null,
    use_until       timestamptz,          -- first instant it is not used
    created_by      text        not null,
    created_at      timestamptz not null,
    retired_at      timestamptz,
    primary key (organisation_id, key_id)
);
create unique index private_key_label on private_key (organisation_id, label) where retired_at is null;

-- +goose Down
drop table private_key;
