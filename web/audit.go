package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/accounts"
)

var auditFilters = append([]Parameter{
	{"person", Text, nil}, {"action", Text, nil}, {"subject", Text, nil}, {"partner", Text, nil}, {"after", Time, nil}, {"before", Time, nil},
}, paging...)

// auditItem is one line of the audit log.
type auditItem struct {
	ID      uuid.UUID       `json:"entry_id"`
	At      time.Time       `json:"at"`
	Person  string          `json:"person"`
	Role    accounts.Role   `json:"role"` // that the person acted in
	Action  string          `json:"action"`
	Subject string          `json:"subject"`
	Partner string          `json:"partner,omitempty"` // whose data it touched
	Detail  json.RawMessage `json:"detail"`
}

// listAudit gives who did what to what, the latest first.
func (c *call) listAudit() error {
	f := accounts.AuditFilter{Who: c.text["person"], Action: c.text["action"], Subject: c.text["subject"], Partner: c.text["partner"],
		Since: c.times["after"], Until: c.times["before"], Limit: c.limit + 1}
	if c.cursor != "" {
		at, id, _ := strings.Cut(c.cursor, "\t")
		f.Before = &accounts.Entry{}
		var err error
		if f.Before.At, err = time.Parse(time.RFC3339Nano, at); err != nil {
			return badCursor()
		}
		if f.Before.ID, err = uuid.Parse(id); err != nil {
			return badCursor()
		}
	}
	list, err := c.api.Accounts.ListAudit(c.ctx(), f)
	if err != nil {
		return err
	}
	items := make([]auditItem, len(list))
	for i, e := range list {
		items[i] = auditItem{e.ID, e.At, e.Who, e.Role, e.Action, e.Subject, e.Partner, e.Detail}
	}
	return c.reply(http.StatusOK, pageOf(&c.query, items, func(e auditItem) string {
		return e.At.Format(time.RFC3339Nano) + "\t" + e.ID.String()
	}))
}
