package gateway

import (
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
)

// Notices remembers connections on which a COMMIT warned: the wait for a
// synchronous standby was cancelled, so the commit is not durable there. Its
// zero value is ready, and Note is the OnNotice of all connections of a pool.
type Notices struct{ m sync.Map }

// Note takes what the server says beside its answers.
func (n *Notices) Note(c *pgconn.PgConn, notice *pgconn.Notice) {
	if notice.Code == "01000" && notice.SeverityUnlocalized == "WARNING" {
		n.m.Store(c, true)
	}
}

func (n *Notices) forget(c *pgconn.PgConn) {
	if n != nil {
		n.m.Delete(c)
	}
}

func (n *Notices) warned(c *pgconn.PgConn) bool {
	if n == nil {
		return false
	}
	_, warned := n.m.LoadAndDelete(c)
	return warned
}
