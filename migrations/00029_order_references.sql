-- +goose NO TRANSACTION
-- +goose Up
-- Which invoices and despatch advices an order has: what a buyer asks first. Other
-- conditions of a search are looked for within a time of receipt, which the key serves:
-- each further index here would be written with each document.
create index concurrently if not exists document_order on document (partner_id, order_reference) where order_reference is not null;

-- +goose Down
drop index document_order;
