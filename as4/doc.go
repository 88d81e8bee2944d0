// Package as4 receives and sends ebMS 3.0 messages by the AS4 profile: OASIS ebXML
// Messaging Services 3.0 Part 1 (core), AS4 Profile 1.0, and of their profiles
// eDelivery AS4 1.15 and 2.0 and Peppol AS4.
//
// A message is SOAP 1.2, with its payloads as further parts of multipart/related.
// The package reads the parts, the ebMS header and the WS-Security header, finds the
// partner and what was agreed with it (PMode), decrypts, verifies and decompresses,
// and answers with a signed receipt or error. A repeat gets the receipt again: the
// stored one where it was signed over the same references, else one made afresh.
//
// What a delivery is and does is decided behind Handler.Receive. This package reads
// no EDI and knows no SQL. It does neither pull nor split and join.
package as4
