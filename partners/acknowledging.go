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

// asAcknowledged is the word for application advices that leave as functional
// acknowledgements do.
const asAcknowledged = "as_acknowledged"

// adviseBy is how application advices leave; "response" is no way for them.
func (s *PartnerSpec) adviseBy() string {
	if s.AdviseBy == asAcknowledged {
		return s.AcknowledgeBy
	}
	return s.AdviseBy
}

// acknowledged holds where acknowledgements and advices go against how they leave.
func (d *document) acknowledged(s *PartnerSpec, seen map[string]*token.Token) {
	webhook, given := false, s.AcknowledgeURL != nowhere
	for _, way := range []struct{ key, by string }{{"acknowledge_by", s.AcknowledgeBy}, {"advise_by", s.AdviseBy}} {
		switch {
		case way.by == "as4" && (s.AS4.Profile == AS4None || s.AS4.URL == AS4None || s.AS4.Reply.Service == AS4None):
			d.fault(seen[way.key], way.key, "as4 needs as4.profile, as4.url and as4.reply: where they go, and as what")
		case way.by == "as2" && s.AS2.Send.URL == nowhere:
			d.fault(seen[way.key], way.key, "as2 needs as2.send.url: where the partner takes them")
		case way.by == "webhook" && !given:
			d.fault(seen[way.key], way.key, "webhook needs acknowledge_url: where the partner takes them")
		}
		webhook = webhook || way.by == "webhook"
	}
	u, err := url.Parse(s.AcknowledgeURL)
	switch {
	case !webhook && given:
		d.fault(seen["acknowledge_url"], "acknowledge_url", "is of no use with acknowledge_by: %s; set that to webhook, or leave this out", s.AcknowledgeBy)
	case webhook && given && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil):
		d.fault(seen["acknowledge_url"], "acknowledge_url", "must be an address like https://partner.example/edi, without a name or password in it")
	case !webhook && s.AcknowledgeSecret != nowhere:
		d.fault(seen["acknowledge_secret"], "acknowledge_secret", "is of no use with acknowledge_by: %s", s.AcknowledgeBy)
	}
}
