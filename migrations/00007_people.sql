-- +goose Up
-- People: who may act. A token only proves which person acts, and allows no more
-- than the person may. There is no foreign key from api_token: the program before
-- makes tokens without it, which this one does not accept until the person is
-- added.
create table account (
    person      text collate "C" not null check (person <> ''),
    role        text        not null check (role in ('viewer', 'consumer', 'operator', 'approver', 'admin')),
    created_at  timestamptz not null,
    disabled_at timestamptz,
    primary key (person)
);
-- Whoever has a token may do what the best of those may that are not revoked.
insert into account (person, role, created_at)
select person,
    (array['viewer', 'operator', 'approver', 'admin'])[coalesce(
        max(array_position(array['viewer', 'operator', 'approver', 'admin'], role)) filter (where revoked_at is null), 1)],
    min(created_at)
from api_token group by person;

-- +goose Down
drop table account;
