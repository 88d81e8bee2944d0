package as4

import "strings"

// quote writes a parameter's value: RFC 2045 §5.1.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
