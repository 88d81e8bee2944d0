package ubl

// unit gives a code of UN/ECE Recommendation 20 (BR-CL-23) for one that is not, where
// there is one that says the same: PCE, a piece, of older directories is H87, and a
// package of Recommendation 21 stands behind an X. Any other is as it was sent.
func unit(code string) string {
	switch code {
	case "PCE":
		return "H87"
	case "BG", "BX", "CT", "PK": // bag, box, carton, package: the same in X12's 355
		return "X" + code
	}
	return code
}
