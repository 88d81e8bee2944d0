package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/edigw/edigw/partners"
)

// partnerItem is a partner in the list.
type partnerItem struct {
	ID           string                `json:"id"`
	Name         string                `json:"name"`
	State        string                `json:"state"`
	Organisation string                `json:"organisation"`
	Revision     int32                 `json:"revision"`
	Connected    string                `json:"connected_on"`
	Identifiers  []partners.Identifier `json:"identifiers"`
	Types        []string              `json:"types"`
}

// partnerDetail is a partner with all its settings and its tokens.
type partnerDetail struct {
	partnerItem
	Configuration json.RawMessage `json:"configuration"`
	Tokens        []partnerToken  `json:"tokens"`
}

// partnerToken is what is told of a partner's token: not its digest.
type partnerToken struct {
	ID       string     `json:"token_id"`
	Label    string     `json:"label"`
	Declared bool       `json:"declared"` // in the partner's YAML
	Created  time.Time  `json:"created_at"`
	Expires  *time.Time `json:"expires_at,omitempty"`
	Revoked  *time.Time `json:"revoked_at,omitempty"`
}

func itemOf(p *partners.Partner) partnerItem {
	state := "paused"
	if p.Active {
		state = "active"
	}
	return partnerItem{
		ID: p.ID, Name: p.Name, State: state, Organisation: p.Organisation, Revision: p.Revision,
		Connected: p.Connected.Format(time.DateOnly), Identifiers: append([]partners.Identifier{}, p.Identifiers...), Types: append([]string{}, p.Types...),
	}
}

var partnerFilters = append([]Parameter{
	{"organisation", Text, nil},
	{"state", Text, []string{"active", "paused"}},
	{"identifier", Text, nil},
	{"type", Text, nil},
}, paging...)

// listPartners gives those that fit, by id. The configuration is held whole.
func (c *call) listPartners() error {
	list, err := c.api.Partners.List(c.ctx())
	if err != nil {
		return err
	}
	var items []partnerItem
	for _, p := range list {
		if item := itemOf(p); c.wantsPartner(item) {
			items = append(items, item)
		}
	}
	return c.reply(http.StatusOK, pageByName(&c.query, items, func(p partnerItem) string { return p.ID }))
}

// wantsPartner reports whether a partner is what the list was asked for. An
// identifier is named with its qualifier, 14:9520001000010, or without.
func (c *call) wantsPartner(p partnerItem) bool {
	fits := func(name string, fits func(string) bool) bool {
		v, asked := c.text[name]
		return !asked || fits(v)
	}
	return fits("organisation", func(v string) bool { return p.Organisation == v }) &&
		fits("state", func(v string) bool { return p.State == v }) &&
		fits("type", func(v string) bool { return slices.Contains(p.Types, v) }) &&
		fits("identifier", func(v string) bool {
			return slices.ContainsFunc(p.Identifiers, func(id partners.Identifier) bool { return id.ID == v || id.String() == v })
		})
}

func (c *call) showPartner() error {
	id, err := c.path("partner")
	if err != nil {
		return err
	}
	p, err := c.api.Partners.Get(c.ctx(), id)
	if err != nil {
		return err
	}
	detail := partnerDetail{partnerItem: itemOf(p), Tokens: []partnerToken{}}
	if detail.Configuration, err = c.configuration(id); err != nil {
		return err
	}
	tokens, err := c.api.Partners.Tokens(c.ctx(), id)
	if err != nil {
		return err
	}
	for _, t := range tokens {
		detail.Tokens = append(detail.Tokens, partnerToken{t.ID.String(), t.Label, t.Declared, t.Created.UTC(), t.Expires, t.Revoked})
	}
	c.w.Header().Set("ETag", etag(p.Revision))
	return c.reply(http.StatusOK, detail)
}

// configuration gives the partner's settings under the keys of its YAML,
// without the digests of its tokens.
func (c *call) configuration(id string) (json.RawMessage, error) {
	text, err := c.api.Partners.Export(c.ctx(), id)
	if err != nil {
		return nil, err
	}
	specs, err := partners.Reader{}.Read("", text)
	if err != nil {
		return nil, fmt.Errorf("read the configuration of %s: %v", id, err)
	}
	i := slices.IndexFunc(specs, func(s partners.Spec) bool { return s.Partner != nil && s.Partner.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("partner %s: %w", id, partners.ErrUnknown)
	}
	return withoutTokens(*specs[i].Partner)
}

// withoutTokens gives a partner's settings as JSON without the digests of its
// tokens.
func withoutTokens(spec partners.PartnerSpec) (json.RawMessage, error) {
	spec.HTTP.Tokens = nil
	b, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	var keys map[string]any
	if err := json.Unmarshal(b, &keys); err != nil {
		return nil, err
	}
	delete(keys["http"].(map[string]any), "tokens") // they are listed beside it
	return json.Marshal(keys)
}

// applyPartners takes YAML, one or several documents; with If-Match only if the
// configuration is what it was when it was read.
func (c *call) applyPartners() error {
	var on *int64
	if n, given, err := c.matched("GET /configuration"); err != nil {
		return err
	} else if given {
		on = &n
	}
	text, err := c.body(partners.MaxText, "application/yaml", "application/x-yaml", "text/yaml")
	if err != nil {
		return err
	}
	changes, err := c.api.Apply(c.ctx(), c.who, text, on)
	if moved := (*partners.MovedError)(nil); errors.As(err, &moved) {
		p := &problem{Status: http.StatusPreconditionFailed, Type: "changed-meanwhile", Detail: "nothing was changed: " + err.Error() + "; read it again, and make the change on that"}
		for _, m := range moved.Since {
			m.Fields = withoutDigests(m.Fields)
			p.Faults = append(p.Faults, fault{Key: m.Kind + " " + m.ID, Detail: m.String()})
		}
		return p
	}
	if err != nil {
		return err
	}
	return c.replyChanges(changes, partners.Left{})
}

// newPartnerToken asks for a token that a partner shows on plain HTTP.
type newPartnerToken struct {
	Label   string     `json:"label"`
	Expires *time.Time `json:"expires_at"`
}

func (c *call) issuePartnerToken() error {
	partner, err := c.path("partner")
	if err != nil {
		return err
	}
	var asked newPartnerToken
	if err := c.decode(&asked); err != nil {
		return err
	}
	plain, err := c.api.IssueToken(c.ctx(), c.who, partner, asked.Label, orZero(asked.Expires))
	if err != nil {
		return err
	}
	return c.reply(http.StatusCreated, struct {
		Partner string     `json:"partner"`
		Label   string     `json:"label"`
		Expires *time.Time `json:"expires_at,omitempty"`
		Token   string     `json:"token"` // this once
	}{partner, asked.Label, asked.Expires, plain})
}

func (c *call) revokePartnerToken() error {
	partner, err := c.path("partner")
	if err != nil {
		return err
	}
	label, err := c.path("label")
	if err != nil {
		return err
	}
	if err := c.api.RevokeToken(c.ctx(), c.who, partner, label); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
