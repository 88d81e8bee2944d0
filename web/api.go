// Package web is the operations side over HTTP: the API below /api/v1, metrics
// and health. It asks the packages that own the tables and holds no SQL; what
// must be atomic over several of them comes in as a func that the wiring makes.
//
// The API is described by openapi.yaml (OpenAPI 3.1), which is written by hand;
// a test holds routes, parameters, roles and real responses against it. Errors
// are application/problem+json (RFC 9457).
package web

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/compare"
	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/habits"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/purge"
)

// API serves the operations listener. Every field is needed.
type API struct {
	Accounts         *accounts.Store
	Partners         *partners.Store
	Inbox            dedup.Inbox
	Alerts           dedup.Alerts
	Journal          journal.Reader
	Documents        documents.Store
	Jobs             dedup.Jobs
	Effects          outbox.Effects
	Feed             outbox.Feed
	Outgoing         outbox.Outgoing
	Subscriptions    outbox.Subscriptions
	Acknowledgements outbox.Acknowledgements
	Habits           habits.Store
	Gateway          *gateway.Gateway // decides drifts, replays and discards
	Purger           *purge.Purger    // says how the purge stands, and what it would do

	// Apply brings partners to what the YAML says and writes the audit line, in
	// one transaction. The error is partners.Faults where the text is wrong, and a
	// *partners.MovedError where the configuration is not at the number on, if that is
	// not nil.
	Apply func(ctx context.Context, by accounts.Identity, text []byte, on *int64) (partners.Changes, error)
	Front Front // what partners see
	// PatchPartner changes what a merge patch names, if the partner is at the
	// revision, and writes the audit line, in one transaction.
	PatchPartner func(ctx context.Context, by accounts.Identity, partner string, revision int32, patch []byte) (partners.Changes, error)
	// RestorePartner makes a revision of before the next one and writes the audit
	// line, in one transaction; it gives what stays away.
	RestorePartner func(ctx context.Context, by accounts.Identity, partner string, revision int32, withCredentials bool) (partners.Changes, partners.Left, error)
	// Foresee says what a payload would be answered if it came from the partner over
	// plain HTTP now, under an Idempotency-Key or "", and does nothing of it.
	Foresee func(ctx context.Context, p *partners.Partner, messageID string, payload []byte) (*gateway.Receipt, error)
	// TryAS2 makes the message that a partner would send over AS2 and says what he would
	// see, and does nothing of it; nil where there is no AS2.
	TryAS2 func(ctx context.Context, p *partners.Partner, payload []byte) (*TriedAS2, error)
	// IssueToken makes a token for plain HTTP and writes the audit line, in one
	// transaction; the text is given this once.
	IssueToken func(ctx context.Context, by accounts.Identity, partner, label string, expires time.Time) (string, error)
	// RevokeToken ends a partner's token for good and writes the audit line, in one
	// transaction.
	RevokeToken func(ctx context.Context, by accounts.Identity, partner, label string) error
	// Report notes what was done with a document and writes the audit line, in one
	// transaction. The error wraps documents.ErrReport where it does not fit.
	Report func(ctx context.Context, by accounts.Identity, partner string, document uuid.UUID, r documents.Report) error
	// BeginImport notes a file of keys of a former gateway, or gives the import that
	// knows it, and writes the audit line where rows are to come from the first one
	// on (opened), in one transaction.
	BeginImport func(ctx context.Context, by accounts.Identity, im dedup.Import, again bool) (begun dedup.Import, opened bool, err error)
	// ImportRows imports the next rows of a file, and writes the audit line with the
	// last ones, in one transaction. The error is a *gateway.NotTheNextRow where they
	// are not the next ones.
	ImportRows func(ctx context.Context, by accounts.Identity, id uuid.UUID, rows gateway.ImportRows) (dedup.Import, []gateway.ImportFault, error)
	// Change does something about subscriptions and writes the audit line, in one
	// transaction. The error is a *outbox.SpecFault where a spec is wrong.
	Change func(ctx context.Context, by accounts.Identity, e accounts.Entry, detail any, do outbox.Change) error
	// DismissGap closes a gap in a partner's control references, for Change.
	DismissGap func(p *partners.Partner, id uuid.UUID, person, reason string) outbox.Change
	// RefuseTarget says why a subscription's target would be refused when something is
	// sent: an *outbox.SpecFault.
	RefuseTarget func(*outbox.Spec) error
	// SignEvidence signs a manifest for an organisation. The error wraps ErrUnsigned
	// where it has no key for it.
	SignEvidence func(ctx context.Context, organisation string, manifest []byte) (*Signature, error)
	// Purge writes the audit line, begins a run of the purge and leaves it to itself. The
	// error wraps purge.ErrElsewhere or purge.ErrPaused where none was begun.
	Purge func(ctx context.Context, by accounts.Identity) (*purge.Report, error)
	// Record writes an audit line on its own.
	Record func(ctx context.Context, e accounts.Entry) error
	// Compare reads two payloads and says how the second differs; a nil original
	// is one that is no longer kept.
	Compare func(original, later []byte) *compare.Result

	Checks  []Check      // for /readyz
	Metrics http.Handler // for /metrics
	Version string
	Log     *slog.Logger

	foreseeing   sync.Mutex    // one preview of a purge at a time
	tries        tries         // of tokens that proved nobody
	unread, pace time.Duration // of bodies; 0 are the defaults
}

// call is one request on its way through a route.
type call struct {
	api   *API
	route *Route
	w     http.ResponseWriter
	r     *http.Request
	who   accounts.Identity
	query
}

func (c *call) ctx() context.Context { return c.r.Context() }
