// Package infoset reads XML 1.0 with namespaces as its information set
// (W3C XML Information Set): items one after another from a stream, or a tree
// of a bounded document. It is strict where a lenient reading would let two
// programs see two documents: every constraint of XML 1.0 (fifth edition) for
// documents without a DTD and of Namespaces in XML 1.0 is held, and every size
// is bounded before it is believed.
//
// encoding/xml is not used: it loses prefixes, keeps line breaks in attribute
// values, takes duplicate attributes, several roots and text after the root, and
// bounds nothing. The tree is etree's; it is built here from our own items, and
// looked into by expanded names (Child, Only, Attr, Text), never by prefixes.
//
// It does not read DTDs or XML 1.1, of encodings other than UTF-8 only those that
// Limits lets stand, and resolves no entity but the five of XML 1.0 §4.6.
package infoset
