// Package cases_test sends the situations that public fault reports describe,
// with inputs of our own, over real HTTP to a whole gateway on a real database,
// and holds it to the outcome that each allows. docs/reference/cases.md is
// generated from the table; a situation that is not run here says why.
package cases_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/as2"
	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/edifact"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/httpin"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/pgtest"
	"github.com/edigw/edigw/structure"
	"github.com/edigw/edigw/x12"
)

// setUp is what the situations assume: who we are, the partner that they are
// told of, and a second one.
const setUp = `kind: Organisation
id: nordhafen
name: Nordhafen
identifiers:
  - {qualifier: "14", id: "9520002000019"}
  - {qualifier: "14", id: "9520002000026"}
  - {qualifier: ZZ, id: NORDHAFEN}
  - {qualifier: ZZ, id: NORDHAFEN2}
as2: {names: [NORDHAFEN-AS2, 'Nordhafen "Port" AS2']}
---
kind: Partner
id: talquist
name: Talquist Works
organisation: nordhafen
identifiers:
  - {qualifier: "14", id: "9520001000010"}
  - {qualifier: ZZZ, id: TALQUIST}
  - {qualifier: ZZ, id: TALQUIST}
http: {tokens: [{label: test, sha256: %x}]}
---
kind: Partner
id: second
organisation: nordhafen
identifiers: [{qualifier: "14", id: "9520001000027"}]
http: {tokens: [{label: test, sha256: %x}]}
`

// token is the bearer token of a partner.
func token(partner string) string { return "token of " + partner + ", for tests" }

// rig is a gateway behind a real socket, on a database of its own.
type rig struct {
	t         *testing.T
	pool      *pgxpool.Pool
	gateway   *gateway.Gateway
	directory *partners.Directory
	later     *journal.Batch
	spool     string // folder
	url       string

	as2 *as2.Handler // of the process that was served last

	serving sync.RWMutex // read-locked while a request is served: the log has a line of it after its answer

	mu    sync.Mutex
	off   time.Duration // by which the gateway's clock is off
	log   bytes.Buffer
	given []given // over AS2 and AS4, in order
}

// newRig starts one. settings are further lines of talquist's configuration.
func newRig(t *testing.T, settings string) *rig {
	t.Helper()
	r := &rig{t: t, pool: pgtest.New(t), spool: t.TempDir()}
	if err := journal.EnsurePartitions(t.Context(), r.pool, "payload", "evidence", "acknowledgement", "delivery", "outbox"); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(&lockedWriter{w: &r.log, mu: &r.mu}, nil))
	r.directory = &partners.Directory{Store: &partners.Store{Pool: r.pool, Now: r.clock}, Log: log}
	r.later = &journal.Batch{Pool: r.pool, Log: log, Also: gateway.LastDeliveries}
	r.gateway = r.newGateway(log, r.clock)
	r.url = r.serve(r.gateway, log)
	r.apply(fmt.Sprintf(setUp, sha256.Sum256([]byte(token("talquist"))), sha256.Sum256([]byte(token("second")))))
	if settings != "" {
		r.settings(settings)
	}
	return r
}

// newGateway wires a gateway as the program does.
func (r *rig) newGateway(log *slog.Logger, now func() time.Time) *gateway.Gateway {
	return &gateway.Gateway{
		Pool: r.pool, Formats: []gateway.Format{edifactFormat, x12Format}, Handlers: documents.Handlers(), Log: log,
		Partner: r.directory.Partner, Sender: r.directory.BySender, MaySpeakFor: r.directory.MaySpeakFor, IsOurs: r.directory.IsOurs,
		ConfigRevision: func() int32 { return int32(r.directory.Counter()) },
		Numbers:        &journal.Numbers{Pool: r.pool}, Later: r.later, Now: now,
		NewID: func() uuid.UUID { return uuid.Must(uuid.NewV7()) },
		Audit: func(ctx context.Context, tx gateway.Execer, a gateway.Act) error {
			return (&accounts.Store{Pool: r.pool}).Audit(ctx, tx, accounts.Entry{Who: a.By.Name, Role: accounts.Role(a.By.Role), Action: a.Action, Subject: a.Subject, Partner: a.Partner})
		},
	}
}

// serve opens a socket for g and gives its address.
func (r *rig) serve(g *gateway.Gateway, log *slog.Logger) string {
	in := &httpin.Handler{ByToken: r.directory.ByToken, Partner: r.directory.Partner, Receive: g.Receive, Reserve: g.Reserve,
		Spool: &gateway.Spool{Dir: r.spool}, Now: g.Now, Log: log}
	routes := httpin.Routes(in)
	r.as2 = &as2.Handler{ByName: r.directory.ByAS2, Receive: r.noted(g.Receive), Reserve: g.ReserveUnproved, Keys: ourKeys,
		Leads: func(text []byte) bool { return edifact.Leads(text) || x12.Leads(text) }, Spool: in.Spool, Now: g.Now, Log: log}
	routes.Handle("/as2", r.as2)
	routes.Method(http.MethodPost, "/as4", &as4.Handler{ByParties: r.directory.ByAS4, Receive: r.noted(g.Receive), Admit: g.AdmitUnproved, Reserve: g.ReserveUnproved, Spool: in.Spool, Now: g.Now, Log: log,
		Signers: func(context.Context, string) ([]*wssec.Signing, error) {
			return []*wssec.Signing{oursAP().signing()}, nil
		},
		Decrypters: func(context.Context, string) ([]wssec.DecryptionKey, error) {
			return []wssec.DecryptionKey{{Key: oursAP().key, Certificate: oursAP().certificate}}, nil
		}})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.serving.RLock()
		defer r.serving.RUnlock()
		routes.ServeHTTP(w, request)
	}))
	r.t.Cleanup(server.Close)
	return server.URL
}

var edifactFormat = gateway.Format{
	Name:  "edifact",
	Leads: edifact.Leads,
	Split: func(p *edi.Payload, from int64, o gateway.Reading) (*edi.Interchange, error) {
		return reader(o).Split(p, from)
	},
	Scan: func(p *edi.Payload, ic *edi.Interchange, o gateway.Reading, visit func(int, *edi.Body) error) error {
		return reader(o).Scan(p, ic, visit)
	},
	Again: func(p *edi.Payload, ic *edi.Interchange, o gateway.Reading) func(int) (*edi.Body, error) {
		return reader(o).Again(p, ic)
	},
	Acknowledge: edifact.Acknowledge, NeverAcknowledged: []string{"CONTRL"},
}

func reader(o gateway.Reading) edifact.Reader {
	tables, err := builtInTables()
	if err != nil {
		panic(err) // a table of ours is wrong
	}
	return edifact.Reader{Tolerance: o.Tolerance, UnreliableMessageReferences: o.UnreliableMessageReferences, Check: tables.Checker(o.Tolerance)}
}

var x12Format = gateway.Format{
	Name:  "x12",
	Leads: x12.Leads,
	Split: func(p *edi.Payload, from int64, o gateway.Reading) (*edi.Interchange, error) {
		return x12Reader(o).Split(p, from)
	},
	Scan: func(p *edi.Payload, ic *edi.Interchange, o gateway.Reading, visit func(int, *edi.Body) error) error {
		return x12Reader(o).Scan(p, ic, visit)
	},
	Again: func(p *edi.Payload, ic *edi.Interchange, o gateway.Reading) func(int) (*edi.Body, error) {
		return x12Reader(o).Again(p, ic)
	},
	Acknowledge: x12.Acknowledge,
}

func x12Reader(o gateway.Reading) x12.Reader {
	tables, err := builtInTables()
	if err != nil {
		panic(err) // a table of ours is wrong
	}
	return x12.Reader{Tolerance: o.Tolerance, UnreliableMessageReferences: o.UnreliableMessageReferences, Check: tables.Checker(o.Tolerance)}
}

var builtInTables = sync.OnceValues(structure.BuiltIn)

// apply applies configuration as `edigw partners apply` does.
func (r *rig) apply(yaml string) {
	r.t.Helper()
	specs, err := partners.Reader{}.Read("partners.yaml", []byte(yaml))
	if err != nil {
		r.t.Fatal(err)
	}
	err = pgx.BeginFunc(r.t.Context(), r.pool, func(tx pgx.Tx) error {
		_, err := r.directory.Store.Apply(r.t.Context(), tx, specs)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.directory.Reload(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

// settings applies talquist again with further settings.
func (r *rig) settings(lines string) {
	r.t.Helper()
	yaml := fmt.Sprintf(`kind: Partner
id: talquist
name: Talquist Works
organisation: nordhafen
http: {tokens: [{label: test, sha256: %x}]}
`, sha256.Sum256([]byte(token("talquist")))) + lines
	if !bytes.Contains([]byte(lines), []byte("identifiers:")) {
		yaml += "\nidentifiers: [{qualifier: \"14\", id: \"9520001000010\"}, {qualifier: ZZZ, id: TALQUIST}, {qualifier: ZZ, id: TALQUIST}]\n"
	}
	r.apply(yaml)
}

func (r *rig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Now().UTC().Add(r.off)
}

// shift moves the gateway's clock, back where d is negative.
func (r *rig) shift(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.off += d
}

// age moves the receive time of everything back.
func (r *rig) age(d time.Duration) {
	r.t.Helper()
	if _, err := r.pool.Exec(r.t.Context(), `update inbox set first_at = first_at - $1::interval, last_at = last_at - $1::interval`, d); err != nil {
		r.t.Fatal(err)
	}
}

// count runs a query that gives one number.
func (r *rig) count(sql string, args ...any) (n int) {
	r.t.Helper()
	if err := r.pool.QueryRow(context.Background(), sql, args...).Scan(&n); err != nil {
		r.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// key reads what is kept under an interchange key of talquist, nil for nothing.
func (r *rig) key(id string) *dedup.Key {
	r.t.Helper()
	ref := dedup.Ref{Partner: "talquist", ID: id}
	keys, err := dedup.Load(r.t.Context(), r.pool, []dedup.Ref{ref})
	if err != nil {
		r.t.Fatal(err)
	}
	return keys[ref]
}

// lockedWriter is a log that a test reads while the gateway writes it.
type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
