// Package x12 reads and answers interchanges of ASC X12, control versions 00200
// to 00801 (X12.5 interchange control, X12.6 application control): ISA…IEA,
// GS…GE, ST…SE. Reader.Split finds an interchange, its parties and its control
// number; Reader.Scan checks counts, control numbers, order and characters and
// hands out the transaction sets; Acknowledge writes TA1, 997 and 999.
//
// It does not know what stands in a transaction set: that is package documents.
// Security segments (S1S, S2S and their like) and the release character of ISX
// are recognised and refused.
//
// The standard's texts are under copyright; what is said here of segments,
// elements and codes is said in our own words. I18, 715, 716, 718, 720 and 723
// are the data elements whose codes TA1, AK9, AK5, AK3 and AK4 carry.
package x12
