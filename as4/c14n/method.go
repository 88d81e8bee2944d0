package c14n

import (
	"fmt"
	"strings"
)

// Identifiers of the methods: Canonical XML 1.0 §1.1, Exclusive XML
// Canonicalization 1.0 §4.
const (
	Exclusive             = "http://www.w3.org/2001/10/xml-exc-c14n#"
	ExclusiveWithComments = "http://www.w3.org/2001/10/xml-exc-c14n#WithComments"
	Inclusive             = "http://www.w3.org/TR/2001/REC-xml-c14n-20010315"
	InclusiveWithComments = "http://www.w3.org/TR/2001/REC-xml-c14n-20010315#WithComments"
)

// Method is one way to canonicalise. The zero value is none; New gives one.
type Method struct {
	exclusive, comments bool
	prefixes            []string // InclusiveNamespaces; "" is #default
}

// maxPrefixes bounds a PrefixList: every element is held against all of it, before
// anybody is known to have signed. Those of the wild have a dozen.
const maxPrefixes = 32

// New gives the method with an identifier. prefixList is the PrefixList of
// ec:InclusiveNamespaces, whose white space parts prefixes and whose #default is the
// default namespace (Exclusive XML Canonicalization §4); it is an error for a method
// that is not exclusive.
func New(identifier, prefixList string) (Method, error) {
	m := Method{
		exclusive: identifier == Exclusive || identifier == ExclusiveWithComments,
		comments:  identifier == ExclusiveWithComments || identifier == InclusiveWithComments,
	}
	if !m.exclusive && identifier != Inclusive && identifier != InclusiveWithComments {
		return Method{}, fmt.Errorf("the canonicalization method %q is not known", identifier)
	}
	for _, prefix := range strings.Fields(prefixList) {
		if !m.exclusive {
			return Method{}, fmt.Errorf("the canonicalization method %q has no PrefixList", identifier)
		}
		if len(m.prefixes) == maxPrefixes {
			return Method{}, fmt.Errorf("the PrefixList has more than %d prefixes", maxPrefixes)
		}
		if prefix == "#default" {
			prefix = ""
		}
		m.prefixes = append(m.prefixes, prefix)
	}
	return m, nil
}
