-- +goose Up
-- What a key is decided on is read while others wait for its lock: these find it
-- however many drifts the key has (dedup.QueueReadFor, dedup.QueueOpenDrifts).
create index variant_standing on variant (partner_id, message_id) where state not in (6, 7);
create index variant_refused on variant (partner_id, message_id, content_sha256) where state = 7;
create index drift_alert_undecided on drift_alert (partner_id, message_id) where state in ('open', 'in_review', 'awaiting_approval');

-- +goose Down
drop index drift_alert_undecided, variant_refused, variant_standing;
