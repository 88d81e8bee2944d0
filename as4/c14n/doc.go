// Package c14n writes Canonical XML: Exclusive XML Canonicalization 1.0 with and
// without comments and with an InclusiveNamespaces PrefixList, and Canonical XML
// 1.0. It works over a subtree of a tree and over a stream of items alike, and
// writes into any io.Writer, so that a document is digested without being built.
//
// It does not do node sets other than a whole element with all its content, and
// not Canonical XML 1.1.
package c14n
