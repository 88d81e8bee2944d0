package edi

// Alphanumeric reports whether b is a letter of ASCII or a digit: no delimiter is.
func Alphanumeric(b byte) bool {
	return b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || b >= '0' && b <= '9'
}

// Digits reports whether s is made of digits and has one.
func Digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// Clip shortens what is quoted in a sentence.
func Clip(b []byte) []byte { return b[:min(len(b), 20)] }
