package partners

import (
	"net/url"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// nowhere is the word for no address and no secret.
const nowhere = "none"

// acknowledgeBy reads how functional acknowledgements leave.
func (d *document) acknowledgeBy(into *string) func(ast.Node, string) {
	return d.oneOf(into, "response", "webhook", "folder", "as2", "as4", "none")
}

// acknowledged holds where acknowledgements go against how they leave.
func (d *document) acknowledged(s *PartnerSpec, seen map[string]*token.Token) {
	if s.AcknowledgeBy == "as4" && (s.AS4.Profile == AS4None || s.AS4.URL == AS4None || s.AS4.Reply.Service == AS4None) {
		d.fault(seen["acknowledge_by"], "acknowledge_by", "as4 needs as4.profile, as4.url and as4.reply: where they go, and as what")
	}
	webhook, given := s.AcknowledgeBy == "webhook", s.AcknowledgeURL != nowhere
	u, err := url.Parse(s.AcknowledgeURL)
	switch {
	case s.AcknowledgeBy == "as2" && s.AS2.Send.URL == nowhere:
		d.fault(seen["acknowledge_by"], "acknowledge_by", "as2 needs as2.send.url: where the partner takes them")
	case webhook && !given:
		d.fault(seen["acknowledge_by"], "acknowledge_by", "webhook needs acknowledge_url: where the partner takes them")
	case !webhook && given:
		d.fault(seen["acknowledge_url"], "acknowledge_url", "is of no use with acknowledge_by: %s; set that to webhook, or leave this out", s.AcknowledgeBy)
	case webhook && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil):
		d.fault(seen["acknowledge_url"], "acknowledge_url", "must be an address like https://partner.example/edi, without a name or password in it")
	case !webhook && s.AcknowledgeSecret != nowhere:
		d.fault(seen["acknowledge_secret"], "acknowledge_secret", "is of no use with acknowledge_by: %s", s.AcknowledgeBy)
	}
}
