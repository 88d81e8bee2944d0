package partners

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// AS4Spec is what a partner uses on AS4: what is agreed with it, in AS4's words its
// P-Mode. From and To are those of the messages it sends; what we send it has them
// the other way round.
type AS4Spec struct {
	Profile       string       `yaml:"profile" json:"profile"` // of AS4Profiles; none is no AS4
	From          AS4Party     `yaml:"from" json:"from"`       // the partner
	To            AS4Party     `yaml:"to" json:"to"`           // we
	Agreement     string       `yaml:"agreement" json:"agreement"`
	AgreementType string       `yaml:"agreement_type" json:"agreement_type"`
	MPC           string       `yaml:"mpc" json:"mpc"`
	Services      []AS4Service `yaml:"services" json:"services"` // none: any

	Unsigned     string   `yaml:"unsigned" json:"unsigned"`
	UnsignedBody string   `yaml:"unsigned_body" json:"unsigned_body"`
	Unencrypted  string   `yaml:"unencrypted" json:"unencrypted"`
	Signatures   []string `yaml:"signatures" json:"signatures"` // of AS4Signatures
	SHA1         string   `yaml:"sha1" json:"sha1"`
	CBC          string   `yaml:"cbc" json:"cbc"`

	Errors      string     `yaml:"errors" json:"errors"`
	Token       string     `yaml:"token" json:"token"`
	Compression string     `yaml:"compression" json:"compression"`
	URL         string     `yaml:"url" json:"url"`     // where we send to
	Reply       AS4Service `yaml:"reply" json:"reply"` // as what
}

// AS4Party is an eb:From or eb:To: ebMS 3.0 core §5.2.2.3. The word none stands for
// what is not there.
type AS4Party struct {
	ID   string `yaml:"id" json:"id"`
	Type string `yaml:"type" json:"type"`
	Role string `yaml:"role" json:"role"`
}

// AS4Service is a service with an action that may be used; none is any action.
type AS4Service struct {
	Service string `yaml:"service" json:"service"`
	Type    string `yaml:"type" json:"type"`
	Action  string `yaml:"action" json:"action"`
}

// Words of AS4Spec.
const (
	AS4None      = "none"
	AS4Refuse    = "refuse"
	AS4Accept    = "accept"
	AS4ByTLS     = "certificate" // unsigned, if the client certificate is the partner's
	AS4AsSignal  = "signal"
	AS4AsFault   = "fault"
	defaultMPC   = "default"
	as4Initiator = "http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/initiator"
	as4Responder = "http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/responder"
)

// AS4Signatures are the signature algorithms by their names: RFC 9231, and
// eDelivery AS4 2.0 for Ed25519.
var AS4Signatures = []string{"rsa-sha256", "rsa-sha384", "rsa-sha512", "rsa-pss-sha256", "rsa-pss-sha384", "rsa-pss-sha512", "ecdsa-sha256", "ecdsa-sha384", "ecdsa-sha512", "ed25519"}

// AS4Tokens are how we name our certificate in what we sign: WSS X.509 token profile
// §3.2.
var AS4Tokens = []string{"bst", "pkipath", "ski", "issuer-serial"}

// AS4Profile is a set of defaults of AS4Spec by name.
type AS4Profile struct {
	Name  string
	For   string // what it is
	apply func(*AS4Spec)
}

// AS4Profiles are those there are. A key that the YAML names wins over its profile.
var AS4Profiles = []AS4Profile{
	{AS4None, "the partner does not use AS4", func(*AS4Spec) {}},
	{"edelivery-1.15", "eDelivery AS4 1.15, Common Profile, and ENTSOG AS4 up to 3.6: RSA", func(*AS4Spec) {}},
	{"edelivery-2.0", "eDelivery AS4 2.0: Ed25519 or ECDSA, X25519 or ECDH. It does not work with 1.15", func(s *AS4Spec) {
		s.Signatures = []string{"ecdsa-sha256", "ecdsa-sha384", "ecdsa-sha512", "ed25519"}
	}},
	{"peppol", "Peppol AS4 2.0: eDelivery 1.15 with the agreement and the party types of the network", func(s *AS4Spec) {
		s.Agreement = "urn:fdc:peppol.eu:2017:agreements:tia:ap_provider"
		s.From.Type, s.To.Type = "urn:fdc:peppol.eu:2017:identifiers:ap", "urn:fdc:peppol.eu:2017:identifiers:ap"
	}},
}

// AS4DefaultsOf is AS4Spec as it is where the YAML names this profile and says
// nothing else; that of none for a name that is none.
func AS4DefaultsOf(name string) AS4Spec {
	s := AS4Spec{
		Profile:   AS4None,
		From:      AS4Party{AS4None, AS4None, as4Initiator},
		To:        AS4Party{AS4None, AS4None, as4Responder},
		Agreement: AS4None, AgreementType: AS4None, MPC: defaultMPC,
		Unsigned: AS4Refuse, UnsignedBody: AS4Refuse, Unencrypted: AS4Refuse, SHA1: AS4Refuse, CBC: AS4Refuse,
		Signatures: []string{"rsa-sha256", "rsa-sha384", "rsa-sha512"},
		Errors:     AS4AsSignal, Token: "bst", Compression: "gzip", URL: AS4None, Reply: AS4Service{AS4None, AS4None, AS4None},
	}
	if i := slices.IndexFunc(AS4Profiles, func(p AS4Profile) bool { return p.Name == name }); i >= 0 {
		AS4Profiles[i].apply(&s)
		s.Profile = name
	}
	return s
}

// What stands in an as4 mapping at most.
const (
	maxAS4Services = 20
	maxAS4Value    = 255 // characters
)

// as4Value is what identifies a party, a service or an action: one word, so that no
// blank makes two of what people take for one.
var as4Value = regexp.MustCompile(`^[!-~]+$`)

func (d *document) as4(into *AS4Spec, at map[string]*token.Token) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		*into = d.as4Profile(n, path)
		party := func(p *AS4Party) func(ast.Node, string) {
			return func(n ast.Node, path string) {
				seen := d.mapping(n, path, field{"id", d.as4Value(&p.ID)}, field{"type", d.as4Value(&p.Type)}, field{"role", d.as4Value(&p.Role)})
				for key, tok := range seen {
					at[strings.TrimPrefix(join(path, key), "as4.")] = tok
				}
			}
		}
		seen := d.mapping(n, path,
			field{"profile", func(ast.Node, string) {}}, // read already
			field{"from", party(&into.From)},
			field{"to", party(&into.To)},
			field{"agreement", d.as4Value(&into.Agreement)},
			field{"agreement_type", d.as4Value(&into.AgreementType)},
			field{"mpc", d.as4Value(&into.MPC)},
			field{"services", d.as4Services(&into.Services)},
			field{"unsigned", d.oneOf(&into.Unsigned, AS4Refuse, AS4ByTLS, AS4Accept)},
			field{"unsigned_body", d.oneOf(&into.UnsignedBody, AS4Refuse, AS4Accept)},
			field{"unencrypted", d.oneOf(&into.Unencrypted, AS4Refuse, AS4Accept)},
			field{"signatures", d.as4Signatures(&into.Signatures)},
			field{"sha1", d.oneOf(&into.SHA1, AS4Refuse, AS4Accept)},
			field{"cbc", d.oneOf(&into.CBC, AS4Refuse, AS4Accept)},
			field{"errors", d.oneOf(&into.Errors, AS4AsSignal, AS4AsFault)},
			field{"token", d.oneOf(&into.Token, AS4Tokens...)},
			field{"compression", d.oneOf(&into.Compression, "gzip", AS4None)},
			field{"url", d.text(&into.URL, 2000)},
			field{"reply", d.as4Service(&into.Reply)},
		)
		for key, tok := range seen {
			at[key] = tok
		}
	}
}

// as4Profile reads which defaults the other keys stand over; it comes before them.
func (d *document) as4Profile(n ast.Node, path string) AS4Spec {
	var names []string
	for _, p := range AS4Profiles {
		names = append(names, p.Name)
	}
	name := AS4None
	for _, e := range entriesOf(n) {
		if keyOf(e) != "profile" {
			continue
		}
		s, ok := d.scalar(e.Value, join(path, "profile"))
		switch near := nearest(s, names); {
		case !ok:
		case slices.Contains(names, s):
			name = s
		case near != "":
			d.fault(e.Value.GetToken(), join(path, "profile"), "there is no profile %q; did you mean %s?", s, near)
		default:
			d.fault(e.Value.GetToken(), join(path, "profile"), "must be %s, not %q", or(names), s)
		}
	}
	return AS4DefaultsOf(name)
}

func (d *document) as4Value(into *string) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		s, ok := d.scalar(n, path)
		if ok && (len(s) > maxAS4Value || !as4Value.MatchString(s)) {
			d.fault(n.GetToken(), path, "must be 1 to %d printable characters of ASCII without blanks, not %q", maxAS4Value, s)
		}
		*into = s
	}
}

func (d *document) as4Service(into *AS4Service) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		d.mapping(n, path, field{"service", d.as4Value(&into.Service)}, field{"type", d.as4Value(&into.Type)}, field{"action", d.as4Value(&into.Action)})
	}
}

func (d *document) as4Services(into *[]AS4Service) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		*into = nil
		d.sequence(n, path, maxAS4Services, func(item ast.Node, path string) {
			s := AS4Service{AS4None, AS4None, AS4None}
			before := len(d.faults)
			d.as4Service(&s)(item, path)
			switch {
			case len(d.faults) > before:
			case s.Service == AS4None:
				d.fault(item.GetToken(), join(path, "service"), "is missing: the eb:Service that the partner sends")
			case slices.Contains(*into, s):
				d.fault(item.GetToken(), path, "%s with action %s stands twice", s.Service, s.Action)
			default:
				*into = append(*into, s)
			}
		})
	}
}

func (d *document) as4Signatures(into *[]string) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		*into = nil
		before := len(d.faults)
		d.sequence(n, path, len(AS4Signatures), func(item ast.Node, path string) {
			s, ok := d.scalar(item, path)
			near := nearest(s, AS4Signatures)
			switch {
			case !ok:
			case !slices.Contains(AS4Signatures, s) && near != "":
				d.fault(item.GetToken(), path, "there is no algorithm %q; did you mean %s?", s, near)
			case !slices.Contains(AS4Signatures, s):
				d.fault(item.GetToken(), path, "must be %s, not %q", or(AS4Signatures), s)
			case slices.Contains(*into, s):
				d.fault(item.GetToken(), path, "%s stands twice", s)
			default:
				*into = append(*into, s)
			}
		})
		if len(*into) == 0 && len(d.faults) == before {
			d.fault(n.GetToken(), path, "must name at least one of %s", or(AS4Signatures))
		}
	}
}

// agreedOnAS4 holds what is said of AS4 against itself.
func (d *document) agreedOnAS4(s *AS4Spec, mapping *token.Token, at map[string]*token.Token) {
	if s.Profile == AS4None {
		meant := slices.ContainsFunc(d.faults, func(f Fault) bool { return f.Key == "as4.profile" }) // another
		if !meant && !same(withoutAS4, plainAS4(*s)) {
			d.fault(mapping, "as4", "is of no use without profile: name one of edelivery-1.15, edelivery-2.0 and peppol")
		}
		return
	}
	if s.From.ID == AS4None {
		d.fault(mapping, "as4.from.id", "is missing: the eb:PartyId that the partner sends in eb:From")
	}
	if s.To.ID == AS4None {
		d.fault(mapping, "as4.to.id", "is missing: the eb:PartyId that the partner sends in eb:To, which is ours")
	}
	if (s.Reply.Service == AS4None) != (s.Reply.Action == AS4None) {
		d.fault(at["reply"], "as4.reply", "needs both service and action: as what we send")
	}
	if u, err := url.Parse(s.URL); s.URL != AS4None && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil) {
		d.fault(at["url"], "as4.url", "must be an address like https://partner.example/as4, without a name or password in it")
	}
}

// withoutAS4 is what a partner that does not use it has.
var withoutAS4 = plainAS4(AS4DefaultsOf(AS4None))

// plainAS4 is written key by key.
type plainAS4 AS4Spec

// onlyProfile is how none is written: the other keys then say nothing, and a profile
// that is named later brings its own.
type onlyProfile struct {
	Profile string `yaml:"profile" json:"profile"`
}

func (s AS4Spec) written() any {
	if s.Profile == AS4None {
		return onlyProfile{AS4None}
	}
	return plainAS4(s)
}

// MarshalJSON leaves out what says nothing.
func (s AS4Spec) MarshalJSON() ([]byte, error) { return json.Marshal(s.written()) }

// MarshalYAML leaves out what says nothing.
func (s AS4Spec) MarshalYAML() (any, error) { return s.written(), nil }

func (s *AS4Spec) normalise() {
	if s.Profile == AS4None {
		*s = AS4DefaultsOf(AS4None)
	}
	slices.SortFunc(s.Services, func(a, b AS4Service) int {
		return strings.Compare(a.Service+" "+a.Type+" "+a.Action, b.Service+" "+b.Type+" "+b.Action)
	})
	slices.SortFunc(s.Signatures, func(a, b string) int { return slices.Index(AS4Signatures, a) - slices.Index(AS4Signatures, b) })
	if len(s.Services) == 0 {
		s.Services = nil
	}
}
