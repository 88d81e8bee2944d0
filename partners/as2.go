package partners

import (
	"net/url"
	"regexp"
	"slices"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// AS2Spec is what a partner uses over AS2, RFC 4130.
type AS2Spec struct {
	Names         []string    `yaml:"names" json:"names"` // of AS2-From; none: it does not send over AS2
	Signature     string      `yaml:"signature" json:"signature"`
	Encryption    string      `yaml:"encryption" json:"encryption"`
	OldAlgorithms []string    `yaml:"old_algorithms" json:"old_algorithms"`
	Expired       string      `yaml:"expired_certificates" json:"expired_certificates"`
	MIC           string      `yaml:"mic" json:"mic"`
	CompressedMIC string      `yaml:"compressed_mic" json:"compressed_mic"`
	MDNDigest     string      `yaml:"mdn_digest" json:"mdn_digest"`
	Scheme        string      `yaml:"signature_scheme" json:"signature_scheme"`
	MDNHosts      []string    `yaml:"mdn_hosts" json:"mdn_hosts"`
	Send          AS2SendSpec `yaml:"send" json:"send"`
}

// AS2SendSpec is how we send to a partner over AS2.
type AS2SendSpec struct {
	URL           string `yaml:"url" json:"url"` // none: nothing is sent
	From          string `yaml:"from" json:"from"`
	To            string `yaml:"to" json:"to"`
	Signature     string `yaml:"signature" json:"signature"`
	Encryption    string `yaml:"encryption" json:"encryption"`
	KeyEncryption string `yaml:"key_encryption" json:"key_encryption"`
	Compression   bool   `yaml:"compression" json:"compression"`
	MDN           string `yaml:"mdn" json:"mdn"`
	MDNTo         string `yaml:"mdn_to" json:"mdn_to"`
}

// OrganisationAS2 is what an organisation is called over AS2.
type OrganisationAS2 struct {
	Names []string `yaml:"names" json:"names"` // of AS2-To
}

// AS2 is an AS2Spec as the transport works with it.
type AS2 struct {
	Names             []string
	SignatureRequired bool
	EncryptionNeeded  bool
	CBCRefused        bool     // encryption: authenticated
	OldAlgorithms     []string // of OldAlgorithms
	ExpiredAccepted   bool     // expired_certificates
	MICRequested      bool     // mic: the algorithm asked for, also where the signature's is another
	CompressedMIC     string   // of AS2CompressedMICs: over what it is where a message is compressed and not signed
	MDNDigest         string   // of our signature, or AS2Requested
	PSS               bool     // signature_scheme: our RSA keys sign by RSASSA-PSS
	MDNHosts          []string // where asynchronous MDNs may go
	Send              AS2Send
}

// AS2Send is an AS2SendSpec; URL "" sends nothing, From and To are names, MDNTo "" is
// the response.
type AS2Send AS2SendSpec

// Over what the check of a message is that is compressed and not signed.
const (
	AS2MICOfEntity     = "entity"     // what was compressed, with its header: RFC 5402 §4.2
	AS2MICOfBody       = "body"       // without it
	AS2MICOfCompressed = "compressed" // the compressed part
)

// AS2CompressedMICs are all of them, the default first.
var AS2CompressedMICs = []string{AS2MICOfEntity, AS2MICOfBody, AS2MICOfCompressed}

// AS2Requested is the MDNDigest by which a message says what its MDN is signed by.
const AS2Requested = requested

// OldAlgorithms are those that a partner has to be allowed. A message by one of them is
// processed with a finding.
var OldAlgorithms = []string{"3des", "md5", oldRSA, "sha1", "sha224"}

// Words of as2.
const (
	required      = "required"
	optional      = "optional"
	authenticated = "authenticated" // by GCM or CCM, which show a change
	onlyName      = "only"          // the one name there is
	rsaPKCS1      = "rsa-pkcs1"
	rsaPSS        = "rsa-pss"
	response      = "response"
)

func as2Defaults() AS2Spec {
	return AS2Spec{
		Signature: required, Encryption: optional, OldAlgorithms: []string{"3des", "sha1"}, Expired: "refuse", MIC: "signature", CompressedMIC: AS2MICOfEntity, MDNDigest: AS2Requested, Scheme: rsaPKCS1,
		Send: AS2SendSpec{URL: nowhere, From: onlyName, To: onlyName, Signature: "sha256", Encryption: "aes128-cbc", KeyEncryption: rsaPKCS1, MDN: "signed", MDNTo: response},
	}
}

// as2Name is a name without control characters: RFC 4130 §6.2.
var as2Name = regexp.MustCompile(`^[ -~]{1,128}$`)

// mdnHost is a host, with its port where that is not the scheme's.
var mdnHost = regexp.MustCompile(`^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)

var oldAlgorithm = regexp.MustCompile(`^(3des|md5|rsa-1024|sha1|sha224)$`)

func (d *document) as2(into *AS2Spec, at map[string]*token.Token) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		for key, tok := range d.mapping(n, path,
			field{"names", d.list(&into.Names, as2Name, "an AS2 name of 1 to 128 characters")},
			field{"signature", d.oneOf(&into.Signature, required, optional)},
			field{"encryption", d.oneOf(&into.Encryption, required, optional, authenticated)},
			field{"old_algorithms", d.list(&into.OldAlgorithms, oldAlgorithm, or(OldAlgorithms))},
			field{"expired_certificates", d.oneOf(&into.Expired, "refuse", "accept")},
			field{"mic", d.oneOf(&into.MIC, "signature", requested)},
			field{"compressed_mic", d.oneOf(&into.CompressedMIC, AS2CompressedMICs...)},
			field{"signature_scheme", d.oneOf(&into.Scheme, rsaPKCS1, rsaPSS)},
			field{"mdn_digest", d.oneOf(&into.MDNDigest, AS2Requested, "sha256", "sha384", "sha512", "sha1")},
			field{"mdn_hosts", d.list(&into.MDNHosts, mdnHost, "a host like as2.acme.example, with :8443 behind it where the port is not the scheme's")},
			field{"send", d.as2Send(&into.Send, at)},
		) {
			at[key] = tok
		}
	}
}

func (d *document) as2Send(into *AS2SendSpec, at map[string]*token.Token) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		for key, tok := range d.mapping(n, path,
			field{"url", d.text(&into.URL, 2000)},
			field{"from", d.text(&into.From, 128)},
			field{"to", d.text(&into.To, 128)},
			field{"signature", d.oneOf(&into.Signature, "sha256", "sha384", "sha512", "sha1", "none")},
			field{"encryption", d.oneOf(&into.Encryption, "aes128-cbc", "aes192-cbc", "aes256-cbc", "aes128-gcm", "aes192-gcm", "aes256-gcm", "3des", "none")},
			field{"key_encryption", d.oneOf(&into.KeyEncryption, rsaPKCS1, "rsa-oaep")},
			field{"compression", d.boolean(&into.Compression)},
			field{"mdn", d.oneOf(&into.MDN, "signed", "unsigned", "none")},
			field{"mdn_to", d.text(&into.MDNTo, 2000)},
		) {
			at["send."+key] = tok
		}
	}
}

func (d *document) organisationAS2(into *OrganisationAS2) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		d.mapping(n, path, field{"names", d.list(&into.Names, as2Name, "an AS2 name of 1 to 128 characters")})
	}
}

// overAS2 holds what is said of AS2 against itself.
func (d *document) overAS2(s *AS2Spec, at map[string]*token.Token) {
	send := s.Send
	u, err := url.Parse(send.URL)
	back, backErr := url.Parse(send.MDNTo)
	place := func(key string) *token.Token {
		if at[key] != nil {
			return at[key]
		}
		return at["send.url"]
	}
	switch {
	case send.URL == nowhere:
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil:
		d.fault(place("send.url"), "as2.send.url", "must be an address like https://acme.example/as2, without a name or password in it")
	case len(s.Names) == 0:
		d.fault(place("names"), "as2.names", "is missing: what the partner is called in AS2-To, like `names: [ACME-AS2]`")
	case send.To == onlyName && len(s.Names) > 1:
		d.fault(place("send.to"), "as2.send.to", "is missing: which of the partner's names %v we send to", s.Names)
	case send.To != onlyName && !slices.Contains(s.Names, send.To):
		d.fault(place("send.to"), "as2.send.to", "is none of the partner's names %v", s.Names)
	}
	switch {
	case send.MDNTo == response:
	case backErr != nil || back.Host == "" || back.Scheme != "https" && back.Scheme != "http" || back.User != nil:
		d.fault(place("send.mdn_to"), "as2.send.mdn_to", "must be response, or our own address of /as2 as the partner reaches it, like https://edi.north.example/as2")
	case send.MDN == "none":
		d.fault(place("send.mdn_to"), "as2.send.mdn_to", "is of no use with mdn: none")
	}
}

// over makes the value the transport works with. ours are the organisation's names.
func (s AS2Spec) over(ours []string) AS2 {
	v := AS2{Names: s.Names, SignatureRequired: s.Signature == required, EncryptionNeeded: s.Encryption != optional, CBCRefused: s.Encryption == authenticated, OldAlgorithms: s.OldAlgorithms,
		ExpiredAccepted: s.Expired == "accept", MICRequested: s.MIC == requested, CompressedMIC: s.CompressedMIC, MDNDigest: s.MDNDigest, PSS: s.Scheme == rsaPSS, MDNHosts: s.MDNHosts, Send: AS2Send(s.Send)}
	v.Send.URL, v.Send.MDNTo = unless(s.Send.URL, nowhere), unless(s.Send.MDNTo, response)
	only := func(name string, names []string) string {
		if name != onlyName {
			return name
		}
		if len(names) > 0 {
			return names[0]
		}
		return ""
	}
	v.Send.To = only(s.Send.To, s.Names)
	v.Send.From = only(s.Send.From, ours)
	return v
}

// normaliseAS2 sorts what are sets.
func (s *AS2Spec) normalise() {
	for _, list := range []*[]string{&s.Names, &s.OldAlgorithms, &s.MDNHosts} {
		sortSet(list)
	}
}

func sortSet(list *[]string) {
	slices.Sort(*list)
	if len(*list) == 0 {
		*list = nil
	}
}

// checkAS2 holds a partner's AS2 names against those of all others: a pair of names
// is one partner.
func (c *configuration) checkAS2(spec Spec) (faults Faults) {
	p := spec.Partner
	for id, other := range sorted(c.partners) {
		if id == p.ID || other.spec.Organisation != p.Organisation {
			continue
		}
		for _, name := range p.AS2.Names {
			if slices.Contains(other.spec.AS2.Names, name) {
				faults = append(faults, spec.fault("as2.names", "%q is a name of partner %s, who sends to %s as well", name, id, p.Organisation))
			}
		}
	}
	o := c.organisations[p.Organisation]
	if o == nil {
		return faults
	}
	send := p.AS2.Send
	switch {
	case send.URL == nowhere:
	case len(o.AS2.Names) == 0:
		faults = append(faults, spec.fault("as2.send.url", "organisation %s has no AS2 name to send under: say as2: {names: […]} there", o.ID))
	case send.From == onlyName && len(o.AS2.Names) > 1:
		faults = append(faults, spec.fault("as2.send.from", "is missing: which of our names %v we send under", o.AS2.Names))
	case send.From != onlyName && !slices.Contains(o.AS2.Names, send.From):
		faults = append(faults, spec.fault("as2.send.from", "%q is none of the names %v of organisation %s", send.From, o.AS2.Names, o.ID))
	}
	return faults
}

// checkOrganisationAS2 holds an organisation's AS2 names against the others': who is
// meant by AS2-To is one organisation.
func (c *configuration) checkOrganisationAS2(spec Spec) (faults Faults) {
	o := spec.Organisation
	for id, other := range sorted(c.organisations) {
		for _, name := range o.AS2.Names {
			if id != o.ID && slices.Contains(other.AS2.Names, name) {
				faults = append(faults, spec.fault("as2.names", "%q is a name of organisation %s", name, id))
			}
		}
	}
	return faults
}

// as2Pair is who sends to whom.
type as2Pair struct{ from, to string }

// ByAS2 finds the partner that is called from and sends to the organisation called to;
// nil if that is nobody. Both are names as they are meant, without quotation marks.
func (d *Directory) ByAS2(from, to string) *Partner {
	if v := d.current.Load(); v != nil {
		return v.byAS2[as2Pair{from, to}]
	}
	return nil
}
