package gateway

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	rollbackTimeout = 5 * time.Second
	acquireTimeout  = 10 * time.Second // for a connection; then the partner is told to come again
	askTimeout      = 3 * time.Second  // for whether a COMMIT was taken whose answer was lost
)

var (
	// errStartAgain: what was read without a lock has changed; the delivery is
	// rolled back and starts again from its look-up.
	errStartAgain = errors.New("the keys changed meanwhile")
	// errConnection: the connection to the database broke.
	errConnection = errors.New("the connection to the database was lost")
	// errUnsettled: it started again too often.
	errUnsettled = errors.New("the keys kept changing; send again")
)

// sqlState gives the SQLSTATE of an error, "" if the database gave none.
func sqlState(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// isBusy: a lock wait ran out while claiming or locking a key.
func isBusy(err error) bool { return sqlState(err) == "55P03" }

// isTheirs: the database refused a document's content (outcomes.md, Ours or
// theirs).
func isTheirs(err error) bool {
	s := sqlState(err)
	return len(s) == 5 && (s[:2] == "22" || s[:2] == "23")
}

// isPassing: ours, and gone when the partner sends again: the connection, a
// deadlock or serialization failure, resources, a lock other than the key's, a
// shutdown or a cancelled statement.
func isPassing(err error) bool {
	switch s := sqlState(err); {
	case s == "":
		return lostConnection(err)
	case s == "40001" || s == "40P01" || s == "55P03" || s == "57014":
		return true
	case s[:3] == "57P":
		return true
	}
	return slices.Contains(oursByClass, sqlState(err)[:2])
}

// oursByClass are classes of SQLSTATE that no document causes: connection,
// features, transaction state, authorization, catalogue and schema, resources,
// privileges and objects, operator intervention, system and internal errors.
var oursByClass = []string{"08", "0A", "25", "26", "28", "3D", "3F", "42", "53", "54", "55", "58", "XX"}

// isLasting: of those, what only changes when the program, the schema or the content
// does: features, syntax and catalogue, limits of the program. Out of a document's
// own statement it is ours and lasting (outcomes.md, Ours or theirs).
func isLasting(err error) bool {
	s := sqlState(err)
	return len(s) == 5 && (s[:2] == "0A" || s[:2] == "42" || s[:2] == "54")
}

// IsMomentary says of an error of the database that it may well be gone when the same
// is tried again.
func IsMomentary(err error) bool { return isPassing(err) && !isLasting(err) }

func lostConnection(err error) bool {
	var connect *pgconn.ConnectError
	return errors.Is(err, errConnection) || errors.Is(err, errNotDurable) || errors.As(err, &connect) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
