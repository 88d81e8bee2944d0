package partners

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/goccy/go-yaml"
)

// Write gives specs as YAML, one document each, every key written out so that a
// later version with other defaults reads the same. Reading it back gives the
// same specs.
func Write(specs []Spec) ([]byte, error) {
	var out bytes.Buffer
	for i, s := range specs {
		if i > 0 {
			out.WriteString("---\n")
		}
		var document any
		switch {
		case s.Organisation != nil:
			o := *s.Organisation
			o.Identifiers = append([]Identifier{}, o.Identifiers...)
			o.AS2.Names = append([]string{}, o.AS2.Names...)
			document = struct {
				Kind             string `yaml:"kind"`
				OrganisationSpec `yaml:",inline"`
			}{"Organisation", o}
		case s.Partner != nil:
			document = struct {
				Kind        string `yaml:"kind"`
				PartnerSpec `yaml:",inline"`
			}{"Partner", s.Partner.lists()}
		default:
			return nil, fmt.Errorf("spec %d is neither organisation nor partner", i)
		}
		text, err := yaml.MarshalWithOptions(document, yaml.IndentSequence(true), yaml.CustomMarshaler(quoted))
		if err != nil {
			return nil, fmt.Errorf("write spec %d: %w", i, err)
		}
		out.Write(text)
	}
	return out.Bytes(), nil
}

// plainText needs no quotes in YAML, whatever reads it.
var plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*([ ./-][A-Za-z0-9_]+)*$`)

// quoted writes a text. The library leaves some without quotes that cannot be
// read back: `? A` is the key of a mapping to a YAML reader.
func quoted(s string) ([]byte, error) {
	var other any
	if plainText.MatchString(s) {
		if err := yaml.Unmarshal([]byte(s), &other); err == nil && other == any(s) {
			return []byte(s), nil
		}
	}
	return json.Marshal(s)
}

// lists gives a copy whose empty lists are written as [], not as null.
func (s PartnerSpec) lists() PartnerSpec {
	s.Identifiers = append([]Identifier{}, s.Identifiers...)
	s.SpeaksFor = append([]string{}, s.SpeaksFor...)
	s.Absorb = append([]string{}, s.Absorb...)
	s.Certificates = append([]CertificateSpec{}, s.Certificates...)
	s.HTTP.Tokens = append([]TokenSpec{}, s.HTTP.Tokens...)
	s.AS2.Names = append([]string{}, s.AS2.Names...)
	s.AS2.OldAlgorithms = append([]string{}, s.AS2.OldAlgorithms...)
	s.AS2.MDNHosts = append([]string{}, s.AS2.MDNHosts...)
	s.AS4.Services = append([]AS4Service{}, s.AS4.Services...)
	return s
}
