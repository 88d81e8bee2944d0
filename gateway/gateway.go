// Package gateway is the life of one delivery: Receive splits it, looks its keys
// up, prepares it, claims its keys, lets the outcome table decide, writes and
// commits; and it keeps that table. It opens the only ingress transaction.
//
// Transports call Receive and render its Receipt; formats reach it as values in
// a list. It knows no HTTP and no syntax by name.
package gateway

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/partners"
)

// Execer is what Audit is given of a transaction.
type Execer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// Act is a line for the audit log: who did what to what.
type Act struct {
	By      Person
	Action  string // noun.verb
	Subject string
	Partner string
	Detail  map[string]any
}

// RulesVersion counts changes of what the gateway itself refuses. What was
// refused under an older one may be judged again when it is sent again.
const RulesVersion int32 = 1

// Gateway receives deliveries. Its fields are set once, before the first.
type Gateway struct {
	Pool     *pgxpool.Pool
	Notices  *Notices // of Pool's connections; nil where no standby is waited for
	Formats  []Format
	Handlers []documents.Handler
	Log      *slog.Logger

	// Sender gives the partner that owns an interchange address, nil if nobody does.
	Sender func(edi.Party) *partners.Partner
	// MaySpeakFor reports whether a partner may deliver interchanges of an owner.
	MaySpeakFor func(transport, owner *partners.Partner) bool
	// IsOurs reports whether an address is one of the organisation's.
	IsOurs func(organisation string, p edi.Party) bool

	// ConfigRevision counts every change of the configuration: what was refused
	// without a key is judged again when it has grown.
	ConfigRevision func() int32

	// Partner gives a partner by its short name, nil if there is none. Decisions
	// and replays need it, and Audit: the act and its line are one transaction.
	Partner func(id string) *partners.Partner
	Audit   func(ctx context.Context, tx Execer, a Act) error

	Numbers *journal.Numbers // control references of our acknowledgements
	Later   *journal.Batch   // journal rows of plain duplicates
	Now     func() time.Time // the database's time: see Clock
	NewID   func() uuid.UUID // UUIDv7

	// Wait bounds how long a delivery waits for others in this process, for the
	// first copy of its message and for its partner's turn; the database's
	// lock_timeout bounds it between processes. 0 is two seconds.
	Wait time.Duration
	// Patience bounds how long the database may take for a delivery, beside the
	// time that its size allows for: one that hangs must not keep the partner
	// waiting. 0 is 30 seconds.
	Patience time.Duration
	// Retained is the size up to which a delivery's documents are kept in memory
	// between prepare and write; larger ones are read a second time. 0 is 4 MiB.
	Retained int64
	// Memory bounds the bytes that deliveries fill with documents and comparisons at
	// a time, about. 0 is half of what Go's heap is held to (GOMEMLIMIT), or 96 MiB
	// where it is not.
	Memory int64
	// Recent bounds the bytes of answers to what was accepted lately that are kept
	// in memory, for its repeats. 0 keeps none.
	Recent int64
	// SpoolDir is the folder for what those need beside memory, in files without a
	// name; "" is the system's for temporary files.
	SpoolDir string

	// Spool takes in what is read of stored payloads for workers, decisions and
	// replays; nil is one in SpoolDir for each.
	Spool *Spool

	// Hook is called at named points of the transaction by fault tests, which
	// then see every statement before it done; nil otherwise.
	Hook func(point string)

	// PendingWait bounds how long a decision waits for a worker that is at work under
	// its key. 0 is five seconds.
	PendingWait time.Duration
	// Wake is called when a delivery has left work to the workers of Deferred; nil
	// where this process has none.
	Wake func()

	Rules int32 // 0 is RulesVersion

	admission  admission
	rooms      rooms
	flight     flight
	recent     recent
	lookers    lookers
	committers committers
	failing    failing
	quarantine quarantine
}

const (
	defaultWait     = 2 * time.Second
	defaultPatience = 30 * time.Second
	defaultRetained = 4 << 20
	slowest         = 128 << 10 // bytes a second that a large delivery is received at, at least

	// startsAgain is how often a delivery starts before it is told to come back. For some
	// of what it finds behind the locks it starts again though nobody else changed
	// anything: drifts that it closes, SSCCs that stand elsewhere, advices that need a
	// number, documents that the database refuses. Each takes one start, however much of
	// it there is, and takes it whenever the same is sent again: the rest is for what
	// others change.
	startsAgain = 8
)

func (g *Gateway) wait() time.Duration {
	if g.Wait > 0 {
		return g.Wait
	}
	return defaultWait
}

// patience is how long a delivery may take.
func (g *Gateway) patience(d *Delivery) time.Duration {
	p := g.Patience
	if p == 0 {
		p = defaultPatience
	}
	if d.Payload != nil {
		p += forSize(d.Payload.Size())
	}
	return p
}

// forSize is what is allowed for length bytes of a payload.
func forSize(length int64) time.Duration { return time.Duration(length/slowest) * time.Second }

func (g *Gateway) retained() int64 {
	if g.Retained > 0 {
		return g.Retained
	}
	return defaultRetained
}

func (g *Gateway) rules() int32 {
	if g.Rules > 0 {
		return g.Rules
	}
	return RulesVersion
}
