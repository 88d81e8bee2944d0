-- +goose NO TRANSACTION
-- +goose Up
-- An SSCC is looked for in the despatch advices of a year, the latest ones first, and
-- in so many alone. Ids are in the order of time, so that the index gives just these,
-- however many packages of former years have the number. It is the former one and more,
-- and serves the program before as that did.
drop index concurrently if exists document_package_unit;
create index concurrently document_package_unit on document_package (partner_id, sscc, document_id) where sscc is not null;
drop index concurrently if exists document_package_sscc;

-- +goose Down
create index concurrently document_package_sscc on document_package (partner_id, sscc) where sscc is not null;
drop index concurrently document_package_unit;
