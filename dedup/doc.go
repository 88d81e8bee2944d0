// Package dedup knows what has been received: natural keys, the variants seen
// under each, their messages' states, the document guard and drift alerts. It
// owns the tables inbox, variant, document_key, drift_alert and drift_copy.
//
// It keeps and finds; what a delivery means is decided by the outcome table in
// package gateway. Writes are queued on a pgx.Batch so that a whole delivery
// costs two round trips; nothing here begins or commits a transaction.
package dedup
