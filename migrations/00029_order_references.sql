-- +goose NO TRANSACTION
-- +goose Up
-- Which invoices and despatch advices an order has: what a buyer asks first. Other
-- conditions of a search are looked for within a time of receipt, which the key serves:
-- each further index here would be written with each document.
--
-- A reference is as long as its sender writes it, and a row of an index has a third of a
-- page at most: a document would not be stored for one that is longer, and one that is
-- stored would keep the gateway from starting. documents.Filter asks by the same bound.
--
-- What was broken off here leaves an index that is written and not read.
drop index concurrently if exists document_order;
create index concurrently document_order on document (partner_id, order_reference) where octet_length(order_reference) <= 140;

-- +goose Down
drop index document_order;
