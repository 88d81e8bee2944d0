package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/edigw/edigw/partners"
)

// configurationFilters are those of GET /configuration.
var configurationFilters = []Parameter{{"partner", Text, nil}}

// restoreChoices are those of POST …/restore.
var restoreChoices = []Parameter{{"credentials", Text, []string{"true"}}}

// exportConfiguration gives YAML that changes nothing when it is applied. It has
// the digests of declared tokens, which is why it is not for everybody.
func (c *call) exportConfiguration() error {
	var ids []string
	if id := c.text["partner"]; id != "" {
		ids = []string{id}
	}
	number, err := c.api.Partners.Number(c.ctx()) // before: what comes between is seen as a change
	if err != nil {
		return err
	}
	text, err := c.api.Partners.Export(c.ctx(), ids...)
	if err != nil {
		return err
	}
	h := c.w.Header()
	h.Set("ETag", etag(number))
	h.Set("Content-Type", "application/yaml")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	c.w.WriteHeader(http.StatusOK)
	if _, err := c.w.Write(text); err != nil {
		c.api.Log.DebugContext(c.ctx(), "the client went away during an export", "err", err)
	}
	return nil
}

// changesTold is what an apply changed, or would.
type changesTold struct {
	Changes partners.Changes `json:"changes"`
	partners.Left
}

func (c *call) replyChanges(changes partners.Changes, left partners.Left) error {
	if changes == nil {
		changes = partners.Changes{}
	}
	return c.reply(http.StatusOK, changesTold{changes, left})
}

func (c *call) diffConfiguration() error {
	text, err := c.body(partners.MaxText, "application/yaml", "application/x-yaml", "text/yaml")
	if err != nil {
		return err
	}
	specs, err := partners.Reader{}.Read("", text)
	if err != nil {
		return err
	}
	number, err := c.api.Partners.Number(c.ctx())
	if err != nil {
		return err
	}
	changes, err := c.api.Partners.Diff(c.ctx(), specs)
	if err != nil {
		return err
	}
	c.w.Header().Set("ETag", etag(number))
	return c.replyChanges(changes, partners.Left{})
}

func (c *call) listPartnerRevisions() error {
	return c.revisions("partner", c.api.Partners.History)
}

func (c *call) listOrganisationRevisions() error {
	return c.revisions("organisation", c.api.Partners.OrganisationHistory)
}

func (c *call) revisions(kind string, history func(context.Context, string, int32, int) ([]partners.Revision, error)) error {
	id, err := c.path(kind)
	if err != nil {
		return err
	}
	before := int64(0)
	if c.cursor != "" {
		if before, err = strconv.ParseInt(c.cursor, 10, 32); err != nil || before < 2 {
			return badCursor()
		}
	}
	list, err := history(c.ctx(), id, int32(before), c.limit+1)
	if err != nil {
		return err
	}
	for i := range list {
		list[i].Fields = withoutDigests(list[i].Fields)
	}
	return c.reply(http.StatusOK, pageOf(&c.query, list, func(r partners.Revision) string { return strconv.Itoa(int(r.Number)) }))
}

// withoutDigests tells that the tokens changed, and not to what.
func withoutDigests(fields []partners.FieldChange) []partners.FieldChange {
	for i, f := range fields {
		if f.Key == "http.tokens" {
			fields[i].Before, fields[i].After = "", "changed"
		}
	}
	return fields
}

func (c *call) showPartnerRevision() error {
	id, err := c.path("partner")
	if err != nil {
		return err
	}
	number, err := c.revision()
	if err != nil {
		return err
	}
	spec, err := c.api.Partners.RevisionOf(c.ctx(), id, number)
	if err != nil {
		return err
	}
	configuration, err := withoutTokens(*spec)
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, struct {
		Partner       string          `json:"partner"`
		Revision      int32           `json:"revision"`
		Configuration json.RawMessage `json:"configuration"`
	}{id, number, configuration})
}

func (c *call) revision() (int32, error) {
	text, err := c.path("revision")
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 {
		return 0, badParameter("revision must be a number from 1, not %q", text)
	}
	return int32(n), nil
}

// restorePartner makes a revision of before the next one.
func (c *call) restorePartner() error {
	id, err := c.path("partner")
	if err != nil {
		return err
	}
	number, err := c.revision()
	if err != nil {
		return err
	}
	changes, left, err := c.api.RestorePartner(c.ctx(), c.who, id, number, c.text["credentials"] == "true")
	if err != nil {
		return err
	}
	return c.replyChanges(changes, left)
}

// patchPartner takes a merge patch that was made on the revision in If-Match.
func (c *call) patchPartner() error {
	id, err := c.path("partner")
	if err != nil {
		return err
	}
	revision, given, err := c.matched("GET /partners/{partner}")
	if err != nil {
		return err
	}
	if !given {
		return &problem{Status: http.StatusPreconditionRequired, Type: "precondition-required", Detail: "send If-Match with the ETag of GET /partners/{partner}, on which the change was made"}
	}
	patch, err := c.body(partners.MaxText, "application/merge-patch+json", "application/json")
	if err != nil {
		return err
	}
	changes, err := c.api.PatchPartner(c.ctx(), c.who, id, int32(min(revision, math.MaxInt32)), patch)
	if errors.Is(err, partners.ErrMoved) {
		return &problem{Status: http.StatusPreconditionFailed, Type: "changed-meanwhile", Detail: "nothing was changed: " + err.Error() + "; read it again, and make the change on that"}
	}
	if err != nil {
		return err
	}
	return c.replyChanges(changes, partners.Left{})
}

// etag is an entity tag: a partner's revision, or the number of the whole
// configuration.
func etag[N int32 | int64](n N) string { return fmt.Sprintf(`"%d"`, n) }

// matched is the number in If-Match (RFC 9110 §13.1.1): a change that was made on
// nothing in particular would undo what somebody else changed meanwhile. from is
// where the tag is given.
func (c *call) matched(from string) (n int64, given bool, err error) {
	shown := c.r.Header.Values("If-Match")
	if len(shown) == 0 {
		return 0, false, nil
	}
	if strings.TrimSpace(strings.Join(shown, "")) == "" { // an empty list, which is true of no state (RFC 9110 §5.6.1, §13.1.1)
		return 0, false, &problem{Status: http.StatusPreconditionFailed, Type: "changed-meanwhile",
			Detail: fmt.Sprintf("If-Match is empty and names no state, so nothing was changed; send the ETag of %s, like %s", from, etag(int64(3)))}
	}
	text, ok := strings.CutPrefix(strings.TrimSpace(shown[0]), `"`)
	text, end := strings.CutSuffix(text, `"`)
	n, err = strconv.ParseInt(text, 10, 64)
	if len(shown) > 1 || !ok || !end || err != nil || n < 0 || etag(n) != strings.TrimSpace(shown[0]) {
		return 0, false, badParameter("If-Match must be one ETag of %s, like %s, not %q", from, etag(int64(3)), strings.Join(shown, ", "))
	}
	return n, true, nil
}
