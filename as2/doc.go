// Package as2 receives and sends EDI over HTTP with S/MIME and MDNs: AS2, RFC 4130,
// with compression (RFC 5402), and what its successor demands
// (draft-ietf-ediint-rfc4130bis) where that does no harm to those who know the
// RFC alone.
//
// A request is opened (MIME, decryption, decompression, signature), received, and
// acknowledged or refused by an MDN (RFC 8098): Handler. Nothing is remembered of a
// message before the signature on it was found to be the partner's. What a delivery
// is and does is decided behind Handler.Receive; this package reads no EDI and knows
// no SQL. docs/divergences.md says where it departs from the RFCs.
//
// It does not do certificates exchanged by CEM, restart of transfers, nor mailto
// addresses for MDNs.
package as2
