package documents

import "encoding/json"

// Package is a logistic unit of a despatch advice: one CPS, or one of several
// kinds or units of packages in it. Packages form a tree by Parent.
type Package struct {
	Parent          int            `json:"parent,omitempty"`           // position in Document.Packages, from 1; 0 for a root
	HierarchyID     string         `json:"hierarchy_id,omitempty"`     // 7164 as sent; "" for a package inside a CPS
	HierarchyParent string         `json:"hierarchy_parent,omitempty"` // 7166 as sent
	Level           string         `json:"level,omitempty"`            // 7075: 1 inner, 3 outer
	Type            string         `json:"type,omitempty"`             // 7065: 201 pallet, CT carton
	Quantity        Number         `json:"quantity,omitzero"`          // 7224
	SSCC            string         `json:"sscc,omitempty"`             // as sent, the application identifier 00 cut
	SSCCValid       bool           `json:"sscc_valid,omitempty"`
	Marks           string         `json:"marks,omitempty"`
	GrossWeight     Number         `json:"gross_weight,omitzero"`
	WeightUnit      string         `json:"weight_unit,omitempty"`
	Detail          *PackageDetail `json:"detail,omitempty"`
}

// PackageDetail is what of a package has no column; it is stored as jsonb.
type PackageDetail struct {
	RawLevel    string            `json:"raw_level,omitempty"` // HL03 as sent
	Line        int               `json:"line,omitempty"`      // position in Document.Lines, from 1, of the item whose package it is, where packages stand beneath items
	SSCCTo      string            `json:"sscc_to,omitempty"`   // the last of a range of which SSCC is the first
	Marking     string            `json:"marking,omitempty"`   // 4233: 33E GS1
	Text        string            `json:"text,omitempty"`      // 7064
	Related     string            `json:"related,omitempty"`   // 7233
	Return      string            `json:"return,omitempty"`    // 8395: who pays for the empty package to come back
	Handling    []Text            `json:"handling,omitempty"`  // HAN
	Identifiers []Identifier      `json:"identifiers,omitempty"`
	Measures    []Measure         `json:"measures,omitempty"`
	Quantities  []Quantity        `json:"quantities,omitempty"`
	References  []Reference       `json:"references,omitempty"`
	Dates       []Date            `json:"dates,omitempty"`
	Texts       []Text            `json:"texts,omitempty"`
	Other       []json.RawMessage `json:"other,omitempty"` // segments that found no place
}

// detail gives the package's Detail, made when it is first needed.
func (p *Package) detail() *PackageDetail {
	if p.Detail == nil {
		p.Detail = &PackageDetail{}
	}
	return p.Detail
}

// trimSSCC cuts the application identifier 00 in front of an SSCC.
func trimSSCC(s string) string {
	switch {
	case len(s) == 20 && s[:2] == "00":
		return s[2:]
	case len(s) == 22 && s[:4] == "(00)":
		return s[4:]
	}
	return s
}

// validSSCC reports whether s has 18 digits of which the last is the check digit
// of the others (GS1 General Specifications, section 7.9.1). QUIRK: zeros, whose check
// digit is right, are filled in where there is none.
func validSSCC(s string) bool {
	return len(s) == 18 && s != noSSCC && isDigits(s) && checkDigit(s[:17]) == int(s[17]-'0')
}

const noSSCC = "000000000000000000"

// checkDigit is that of 17 digits.
func checkDigit(s string) int {
	sum := 0
	for i := range len(s) {
		weight := 1
		if i%2 == 0 {
			weight = 3
		}
		sum += weight * int(s[i]-'0')
	}
	return (10 - sum%10) % 10
}
