// Package documents holds one neutral model of business documents, the SQL that
// keeps it, and one mapping file for each message type: INVOIC and DESADV.
//
// An invoice is modelled on the business terms of EN 16931-1 (BT-1 number, BG-25
// line, …) and a despatch advice beside it with its packages as a tree; both are
// keyed on the code lists of UNTDID, so that every syntax fills the same tables.
// Where a qualifier was mapped to a role, it is kept as sent beside the role;
// what has no place of its own is kept as a raw segment. Amounts are decimals
// with the scale they were sent with, never recomputed, never floats.
//
// The package also says which document is which: the guard key and content of
// outcomes.md, "Documents: the third guard". It owns the tables document,
// document_line and document_package. It decides nothing: whether a document is
// posted, held or absorbed is the gateway's word.
package documents
