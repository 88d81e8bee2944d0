// Package compare says what differs between two interchanges, segment by
// segment and in words: for drift alerts, `edigw diff` and the console.
//
// It works on the values of ISO 9735 and X12.6 segments, never on bytes, so
// that delimiters, line breaks and character sets show as formatting and not
// as content. Segments are aligned by segment group and by line (number and
// item), so that a line put in the middle is one added line. Which difference
// is a drift is never decided here: digests decide that (docs/reference/
// digests.md), this package only says how bad it is. docs/explanation/drift.md
// tells the rules.
//
// It imports edi only, knows no database, and takes the names of segments and
// elements as funcs, so that EDIFACT and X12 both fit.
package compare
