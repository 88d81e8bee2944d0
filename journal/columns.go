package journal

import (
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/columns"
)

// textOrNull adds s cleaned and cut, null where it is empty.
func textOrNull(c *columns.Column, s string) { c.TextOrNull(clean(s, maxText)) }

// idOrNull adds u, null where there is none.
func idOrNull(c *columns.Column, u *uuid.UUID) {
	if u == nil {
		c.Null()
		return
	}
	c.UUID(*u)
}

// monthOrNull adds t, null where there is none.
func monthOrNull(c *columns.Column, t *time.Time) {
	if t == nil {
		c.Null()
		return
	}
	c.Date(*t)
}
