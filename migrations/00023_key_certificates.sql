-- +goose Up

-- Every certificate that ever named a key of ours: what was encrypted to one of
-- them is opened whichever of them we show now. Where a key's certificate in
-- private_key is not among them, the program before this one gave it to the key.
create table private_key_certificate (
    organisation_id text collate "C" not null,
    key_id          uuid        not null,
    sha256          bytea       not null check (length(sha256) = 32), -- of its DER
    chain           bytea[]     not null check (cardinality(chain) > 0), -- DER: its own, then the issuers
    use_from        timestamptz not null, -- first instant we show it
    added_by        text        not null,
    added_at        timestamptz not null,
    primary key (organisation_id, key_id, sha256),
    foreign key (organisation_id, key_id) references private_key
);

-- The key that this one takes over from; null where it takes over from none.
alter table private_key add column successor_of uuid;

-- +goose Down
alter table private_key drop column successor_of;
drop table private_key_certificate;
