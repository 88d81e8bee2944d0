// Package edi holds the nouns that every EDI syntax shares: Payload,
// Interchange, Group, Message, Body, Segment, Location and Error. EDIFACT
// (ISO 9735) and X12 (X12.5, X12.6) both fill them; documents and the gateway
// read them without knowing which.
//
// It knows no database and no network.
package edi
