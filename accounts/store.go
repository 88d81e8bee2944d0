package accounts

import (
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Store keeps accounts and the audit log in PostgreSQL.
type Store struct {
	Pool  *pgxpool.Pool
	Now   func() time.Time // nil is time.Now
	NewID func() uuid.UUID // nil makes UUIDv7
	Log   *slog.Logger     // nil is slog.Default
}

func (s *Store) log() *slog.Logger {
	if s.Log != nil {
		return s.Log
	}
	return slog.Default()
}

func (s *Store) now() time.Time {
	if s.Now != nil {
		return s.Now().UTC()
	}
	return time.Now().UTC()
}

func (s *Store) newID() (uuid.UUID, error) {
	if s.NewID != nil {
		return s.NewID(), nil
	}
	return uuid.NewV7()
}
