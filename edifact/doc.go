// Package edifact reads and answers interchanges of ISO 9735, syntax versions 1
// to 4, batch: UNA, UNB…UNZ, UNG…UNE, UNH…UNT. Reader.Split finds an
// interchange, its parties and its reference; Reader.Scan checks counts,
// references, structure and characters and hands out the messages; Acknowledge
// writes the CONTRL.
//
// It does not know what stands in a message: that is package documents.
// Interactive EDI (UIB) and packages (UNO) are recognised and refused.
//
// Clauses are cited by part and number: ISO 9735-1 §8 is the service string
// advice. 0085 and other four-digit numbers are data elements.
package edifact
