package web

import "github.com/edigw/edigw/partners"

// SheetAS2 is what a partner has to know to send over AS2: every setting that makes one
// of its messages fail, or changes what it is told of one.
type SheetAS2 struct {
	URL        string   `json:"url"`
	From       []string `json:"as2_from"`
	To         []string `json:"as2_to"`
	Signature  string   `json:"signature"`
	Encryption string   `json:"encryption"`
	MDNHosts   []string `json:"mdn_hosts"`

	OldAlgorithms []string      `json:"old_algorithms"` // that are taken
	RSABits       int           `json:"rsa_bits"`       // of the shortest RSA key that may sign
	Expired       bool          `json:"expired_certificates_accepted"`
	MIC           string        `json:"mic"`            // by the signature's algorithm, or by the requested one
	CompressedMIC string        `json:"compressed_mic"` // of partners.AS2CompressedMICs
	MDNDigest     string        `json:"mdn_digest"`     // of our signature
	PSS           bool          `json:"rsa_pss"`        // RSA keys of ours sign by RSASSA-PSS
	Sends         *SheetAS2Send `json:"we_send,omitempty"`
}

// SheetAS2Send is how we send to the partner, where we do.
type SheetAS2Send struct {
	URL           string `json:"url"`
	From          string `json:"as2_from"`
	To            string `json:"as2_to"`
	Signature     string `json:"signature"`
	Encryption    string `json:"encryption"`
	KeyEncryption string `json:"key_encryption"`
	Compression   bool   `json:"compression"`
	MDN           string `json:"mdn"`
	MDNTo         string `json:"mdn_to,omitempty"` // "" is the response
}

// SheetAS4 is what is agreed for AS4, of what the partner sends.
type SheetAS4 struct {
	URL           string                `json:"url"`
	Profile       string                `json:"profile"`
	From          partners.AS4Party     `json:"from"`
	To            partners.AS4Party     `json:"to"`
	Agreement     string                `json:"agreement,omitempty"`
	AgreementType string                `json:"agreement_type,omitempty"`
	Services      []partners.AS4Service `json:"services"`
	Signatures    []string              `json:"signatures"`
	RSABits       int                   `json:"rsa_bits"`  // of the shortest RSA key that may sign
	Encrypted     bool                  `json:"encrypted"` // it has to be
	MPC           string                `json:"mpc"`
	SHA1          bool                  `json:"sha1"` // is taken
	CBC           bool                  `json:"cbc"`  // likewise
	Errors        string                `json:"errors"`
	Token         string                `json:"token"` // how we name our certificate, of partners.AS4Tokens
	Sends         *SheetAS4Send         `json:"we_send,omitempty"`
}

// SheetAS4Send is how we send to the partner, where we do.
type SheetAS4Send struct {
	URL         string              `json:"url"`
	Reply       partners.AS4Service `json:"reply"`
	Compression bool                `json:"compression"`
}

// overAS2 is what a partner has to know of AS2; nil where either side has no name.
func overAS2(p *partners.Partner, ours []string, url string) *SheetAS2 {
	if len(p.AS2.Names) == 0 || len(ours) == 0 {
		return nil
	}
	has := map[bool]string{true: "required", false: "optional"}
	mic := "signature"
	if p.AS2.MICRequested {
		mic = "requested"
	}
	s := &SheetAS2{URL: url + "/as2", From: p.AS2.Names, To: ours, Signature: has[p.AS2.SignatureRequired], Encryption: has[p.AS2.EncryptionNeeded],
		MDNHosts: append([]string{}, p.AS2.MDNHosts...), OldAlgorithms: append([]string{}, p.AS2.OldAlgorithms...), RSABits: p.FewestRSA(partners.AS2Sign),
		Expired: p.AS2.ExpiredAccepted, MIC: mic, CompressedMIC: p.AS2.CompressedMIC, MDNDigest: p.AS2.MDNDigest, PSS: p.AS2.PSS}
	if p.AS2.CBCRefused {
		s.Encryption = "authenticated"
	}
	if v := p.AS2.Send; v.URL != "" {
		if v.From == "" { // the one name there is
			v.From = ours[0]
		}
		s.Sends = &SheetAS2Send{v.URL, v.From, v.To, v.Signature, v.Encryption, v.KeyEncryption, v.Compression, v.MDN, v.MDNTo}
	}
	return s
}

// overAS4 is what a partner has to know of AS4; nil where it does not use it.
func overAS4(p *partners.Partner, url string) *SheetAS4 {
	a := p.AS4
	if a == nil {
		return nil
	}
	s := &SheetAS4{URL: url + "/as4", Profile: a.Profile, From: a.From, To: a.To, Agreement: a.Agreement, AgreementType: a.AgreementType,
		Services: append([]partners.AS4Service{}, a.Services...), Signatures: a.Signatures, RSABits: p.FewestRSA(partners.AS4Sign), Encrypted: a.Unencrypted == partners.AS4Refuse,
		MPC: a.MPC, SHA1: a.SHA1 == partners.AS4Accept, CBC: a.CBC == partners.AS4Accept, Errors: a.Errors, Token: a.Token}
	if a.URL != "" && a.Reply.Service != "" {
		s.Sends = &SheetAS4Send{a.URL, a.Reply, a.Compression != ""}
	}
	return s
}
