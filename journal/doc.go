// Package journal keeps what came in and what was answered: every delivery with
// its outcome, payloads as they came, acknowledgements as they left, and the
// control numbers of our acknowledgements. It owns the tables delivery, payload,
// acknowledgement and control_number.
//
// The wide tables are partitioned by the month of purge, which is computed when
// a row is written; what must not be purged stands in the partition held.
package journal
