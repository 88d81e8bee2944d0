package wssec

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"fmt"
	"strings"
)

// issuedBy tells whether a distinguished name in text is that of the certificate's
// issuer. Stacks write names in ways without number: in either order, with types by
// name or number, with values that have no string as # and hex (RFC 4514 §2). What is
// compared is the values that are strings: each has to be one of the issuer's. It only
// finds a certificate among those that are taken anyway.
func issuedBy(c *x509.Certificate, name string) bool {
	var issuer pkix.RDNSequence
	if _, err := asn1.Unmarshal(c.RawIssuer, &issuer); err != nil {
		return false
	}
	own := map[string]bool{}
	for _, rdn := range issuer {
		for _, attribute := range rdn {
			own[folded(fmt.Sprint(attribute.Value))] = true
		}
	}
	for _, value := range values(name) {
		if !strings.HasPrefix(value, "#") && !own[folded(value)] {
			return false
		}
	}
	return true
}

// folded is how values are compared: RFC 5280 §7.1, roughly.
func folded(value string) string { return strings.ToLower(strings.Join(strings.Fields(value), " ")) }

// values gives the attribute values of a distinguished name: RFC 4514 §3, and the
// quotes of RFC 1779.
func values(name string) (all []string) {
	var value strings.Builder
	inValue, quoted := false, false
	end := func() {
		if inValue {
			all = append(all, strings.TrimSpace(value.String()))
		}
		value.Reset()
		inValue = false
	}
	for i := 0; i < len(name); i++ {
		b := name[i]
		switch {
		case b == '\\' && i+2 < len(name) && isHex(name[i+1]) && isHex(name[i+2]):
			raw, err := hex.DecodeString(name[i+1 : i+3])
			if err == nil {
				value.Write(raw)
			}
			i += 2
		case b == '\\' && i+1 < len(name):
			i++
			value.WriteByte(name[i])
		case b == '"':
			quoted = !quoted
		case (b == ',' || b == ';' || b == '+') && !quoted:
			end()
		case b == '=' && !inValue:
			value.Reset()
			inValue = true
		default:
			value.WriteByte(b)
		}
	}
	end()
	return all
}

func isHex(b byte) bool { return b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'f' }
