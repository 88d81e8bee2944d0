package gateway

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// session is one transaction whose statements are sent in batches: BEGIN goes
// with the first, COMMIT with the last, so that a new message costs two round
// trips.
type session struct {
	conn  *pgxpool.Conn
	batch *pgx.Batch
	noted *Notices
	leave func() // ends the delivery's turn; nil: it took none
	hook  func(string)
	open  bool // BEGIN was sent
}

func (g *Gateway) begin(ctx context.Context) (*session, error) {
	wait, cancel := context.WithTimeout(ctx, acquireTimeout)
	defer cancel()
	conn, err := g.Pool.Acquire(wait)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	s := &session{conn: conn, batch: &pgx.Batch{}, noted: g.Notices, hook: g.Hook}
	s.batch.Queue("begin isolation level read committed")
	return s, nil
}

// beginInTurn is begin for a delivery, which waits for its partner's turn.
func (g *Gateway) beginInTurn(ctx context.Context, in *intake) (*session, error) {
	leave, err := g.turn(ctx, in, transaction)
	if err != nil {
		return nil, err
	}
	s, err := g.begin(ctx)
	if err != nil {
		leave()
		return nil, err
	}
	s.leave = leave
	return s, nil
}

// flush sends what is queued and waits for all of it.
func (s *session) flush(ctx context.Context) error {
	if s.batch.Len() == 0 {
		return nil
	}
	b := s.batch
	s.batch, s.open = &pgx.Batch{}, true
	err := s.conn.SendBatch(ctx, b).Close()
	if err != nil && s.conn.Conn().IsClosed() {
		return errors.Join(errConnection, err)
	}
	return err
}

// point lets a fault test stop here, with everything before it done.
func (s *session) point(ctx context.Context, name string) error {
	if s.hook == nil {
		return nil
	}
	if err := s.flush(ctx); err != nil {
		return err
	}
	s.hook(name)
	return nil
}

// errUnknownCommit: COMMIT was sent and its answer lost.
var errUnknownCommit = errors.New("the answer to COMMIT was lost")

// errNotDurable: COMMIT came back with a warning that the synchronous wait was
// cancelled.
var errNotDurable = errors.New("the commit was not confirmed by the standby")

// commit sends the rest and COMMIT.
func (s *session) commit(ctx context.Context) error {
	if s.hook != nil {
		if err := s.point(ctx, "before commit"); err != nil {
			return err
		}
	}
	var tag pgconn.CommandTag
	s.batch.Queue("commit").Exec(func(ct pgconn.CommandTag) error { tag = ct; return nil })
	s.noted.forget(s.conn.Conn().PgConn())
	s.open = true
	sent := s.conn.SendBatch(ctx, s.batch)
	if s.hook != nil {
		s.hook("commit sent")
	}
	err := sent.Close()
	switch pg := (*pgconn.PgError)(nil); {
	case err == nil && tag.String() == "COMMIT":
		s.open = false
	case err == nil:
		s.open = false
		return fmt.Errorf("the database answered %s to COMMIT", tag)
	case errors.As(err, &pg) && pg.Code != "57P01" && pg.Code != "57P02" && pg.Code != "57P03":
		return err // a statement failed, so COMMIT was skipped
	default:
		return errors.Join(errUnknownCommit, err)
	}
	if s.noted.warned(s.conn.Conn().PgConn()) {
		return errNotDurable
	}
	if s.hook != nil {
		s.hook("commit answered")
	}
	return nil
}

// failed ends the session after an error, so that its locks and its connection
// are free before another transaction looks for the cause.
func (s *session) failed(err error) error {
	s.end()
	return err
}

// end gives the connection back, rolling back what was not committed. A second
// time it does nothing.
func (s *session) end() {
	s.rollback()
	s.conn.Release()
	if s.leave != nil {
		s.leave()
		s.leave = nil
	}
}

func (s *session) rollback() {
	if s.open && !s.conn.Conn().IsClosed() {
		ctx, cancel := context.WithTimeout(context.Background(), rollbackTimeout)
		defer cancel()
		if _, err := s.conn.Exec(ctx, "rollback"); err != nil {
			_ = s.conn.Conn().Close(ctx) // the server rolls back what loses its connection
		}
	}
	s.open = false
}
