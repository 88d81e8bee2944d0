-- +goose Up
-- Business documents as the ERP reads them: one row a document, a line, a
-- package. Lines are wide, with what has no column in jsonb, so that an invoice
-- of 20 lines costs 21 rows and 23 index entries (design §4, write budget).
-- There are no foreign keys: a document is written with its lines in one
-- statement a table, and purged the same way.
create table document (
  partner_id        text collate "C" not null,
  document_id       uuid not null,                    -- UUIDv7: ordered by time
  class             text collate "C" not null,        -- invoice, despatch, generic
  type_code         text collate "C" not null,        -- UNTDID 1001; the message type where that says nothing
  number            text collate "C" not null,        -- BT-1
  issue_date        date,                             -- BT-2
  function_code     text not null default '',         -- 1225, BIG08 or BSN01 as sent
  test              boolean not null default false,   -- 0035 = 1, ISA15 = T
  state             text not null,                    -- live, held
  revision          integer not null default 1,
  supersedes        uuid,
  superseded_by     uuid,
  cancelled_by      uuid,
  stamp             text collate "C" not null default '', -- orders revisions: interchange date, time, reference, message
  message_type      text not null default '',         -- INVOIC D.96A EAN008
  issuer_id         text,                             -- who numbers it
  issuer_scheme     text,                             -- ISO 6523 where known: 0088 is GLN
  supplier_id       text,
  supplier_name     text,
  buyer_id          text,
  buyer_name        text,
  order_reference   text,                             -- BT-13
  currency          text,                             -- BT-5, ISO 4217
  due_date          date,                             -- BT-9
  line_total        numeric,                          -- BT-106
  allowance_total   numeric,                          -- BT-107
  charge_total      numeric,                          -- BT-108
  tax_exclusive     numeric,                          -- BT-109
  tax_total         numeric,                          -- BT-110
  tax_inclusive     numeric,                          -- BT-112
  prepaid           numeric,                          -- BT-113
  rounding          numeric,                          -- BT-114
  payable           numeric,                          -- BT-115
  line_count        integer not null default 0,
  package_count     integer not null default 0,
  message_id        text collate "C" not null,        -- interchange key that brought it
  epoch             integer not null default 0,
  message_sha256    bytea not null,
  message_reference text not null default '',
  message_index     integer not null default 0,
  received_at       timestamptz not null default now(),
  purge_on          date,                             -- null: kept
  detail            jsonb compression lz4 not null default '{}',
  segments          jsonb compression lz4,            -- class generic: the message itself
  primary key (partner_id, document_id)
);
create index document_number on document (partner_id, number);
create index document_message on document (partner_id, message_id);

create table document_line (
  partner_id       text collate "C" not null,
  document_id      uuid not null,
  line             integer not null,                  -- position in the message, from 1
  line_no          text,                              -- 1082 as sent: may be missing or repeated
  sub_of           text,                              -- C829 1082: line_no of the line this one details
  package          integer,                           -- document_package it lies in
  gtin             text,
  supplier_item    text,
  buyer_item       text,
  description      text,
  quantity         numeric,                           -- invoiced or despatched
  unit             text,                              -- 6411 as sent
  ordered_quantity numeric,
  price            numeric,                           -- net, per price_basis price_unit
  price_basis      numeric,
  price_unit       text,
  net_amount       numeric,                           -- BT-131
  tax_category     text,                              -- UNTDID 5305
  tax_rate         numeric,                           -- per cent
  order_reference  text,
  order_line       text,
  batch            text,
  best_before      date,
  rest             jsonb compression lz4,
  primary key (partner_id, document_id, line)
);

create table document_package (
  partner_id       text collate "C" not null,
  document_id      uuid not null,
  package          integer not null,                  -- position in the message, from 1
  parent           integer,                           -- package it stands in or on
  hierarchy_id     text,                              -- 7164 as sent
  hierarchy_parent text,                              -- 7166 as sent
  level            text,                              -- 7075
  type             text,                              -- 7065
  quantity         numeric,                           -- 7224
  sscc             text collate "C",                  -- as sent, the application identifier 00 cut
  sscc_valid       boolean,                           -- 18 digits and the check digit right
  marks            text,
  gross_weight     numeric,
  weight_unit      text,
  rest             jsonb compression lz4,
  primary key (partner_id, document_id, package)
);
-- One logistic unit may be named by several notices.
create index document_package_sscc on document_package (partner_id, sscc) where sscc is not null;

-- +goose Down
drop table document_package, document_line, document;
