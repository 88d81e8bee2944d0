// Package structure judges what stands inside a message: whether its segments
// and segment groups come in the order of its directory, whether what is
// mandatory is there and nothing too often, and whether elements and components
// are of their type and length (ISO 9735-1 §7 to §11, UN/EDIFACT EDMD, EDSD,
// EDCD and EDED; X12.6).
//
// What is right stands in tables: text files in a format of our own, of which
// those for INVOIC and DESADV and for 810 and 856 are built in and others can be
// read. docs/reference/structure.md describes the format and says where the
// facts of each built-in table come from.
//
// It looks at one edi.Body from front to back, once, and keeps nothing but its
// place in the table. Envelopes, counts and references are the readers' matter,
// and what a value means is that of documents; code lists are judged only where
// a table names them.
package structure
