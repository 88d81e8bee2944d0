package journal

import (
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
)

// The columns of many rows, in types that the driver encodes without reflection.
type (
	uuids  = pgtype.FlatArray[pgtype.UUID]
	dates  = pgtype.FlatArray[pgtype.Date]
	texts  = pgtype.FlatArray[pgtype.Text]
	values = pgtype.FlatArray[[]byte]
)

// uuidOf is null where there is none.
func uuidOf(u *uuid.UUID) pgtype.UUID {
	if u == nil {
		return pgtype.UUID{}
	}
	return pgtype.UUID{Bytes: *u, Valid: true}
}

func dateOf(t *time.Time) pgtype.Date {
	if t == nil {
		return pgtype.Date{}
	}
	return pgtype.Date{Time: *t, Valid: true}
}
