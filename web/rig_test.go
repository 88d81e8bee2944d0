package web

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/compare"
	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/edifact"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/habits"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/pgtest"
	"github.com/edigw/edigw/purge"
)

// rig is the API on a database of its own, with a gateway that fills it.
type rig struct {
	t         *testing.T
	pool      *pgxpool.Pool
	api       *API
	handler   http.Handler
	gateway   *gateway.Gateway
	directory *partners.Directory
	tokens    map[accounts.Role]string
	log       bytes.Buffer
}

const configuration = `kind: Organisation
id: north
name: North
identifiers: [{qualifier: "14", id: "9520002000019"}]
---
kind: Partner
id: acme
name: ACME
organisation: north
identifiers: [{qualifier: "14", id: "9520001000010"}]
---
kind: Partner
id: bolt
name: Bolt
organisation: north
identifiers: [{qualifier: "14", id: "9520001000027"}]
`

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, pool: pgtest.New(t), tokens: map[accounts.Role]string{}}
	ctx := t.Context()
	if err := journal.EnsurePartitions(ctx, r.pool, "payload", "evidence", "acknowledgement", "delivery", "outbox"); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(&r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	people, store := &accounts.Store{Pool: r.pool}, &partners.Store{Pool: r.pool}
	r.directory = &partners.Directory{Store: store, Log: log}
	if err := r.directory.Load(ctx); err != nil {
		t.Fatal(err)
	}
	r.api = &API{
		Accounts: people, Partners: store, Inbox: dedup.Inbox{Pool: r.pool}, Alerts: dedup.Alerts{Pool: r.pool},
		Journal: journal.Reader{Pool: r.pool}, Documents: documents.Store{Pool: r.pool}, Jobs: dedup.Jobs{Pool: r.pool}, Effects: outbox.Effects{Pool: r.pool},
		Feed: outbox.Feed{Pool: r.pool}, Outgoing: outbox.Outgoing{Pool: r.pool}, Acknowledgements: outbox.Acknowledgements{Pool: r.pool}, Subscriptions: outbox.Subscriptions{Pool: r.pool}, Change: r.change,
		Apply: r.applyOn, RefuseTarget: func(s *outbox.Spec) error {
			if s.Webhook != nil && strings.HasPrefix(s.Webhook.URL, "http:") {
				return &outbox.SpecFault{Name: s.Name, Key: "webhook.url", Text: "is not https"}
			}
			return nil
		},
		IssueToken: func(ctx context.Context, _ accounts.Identity, p, label string, e time.Time) (string, error) {
			return store.IssueToken(ctx, p, label, e)
		},
		RevokeToken: func(ctx context.Context, _ accounts.Identity, p, label string) error {
			return store.RevokeToken(ctx, p, label)
		},
		Report: func(ctx context.Context, _ accounts.Identity, partner string, id uuid.UUID, rep documents.Report) error {
			return pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) error { _, err := documents.ReportTx(ctx, tx, partner, id, rep); return err })
		},
		BeginImport: func(ctx context.Context, by accounts.Identity, im dedup.Import, again bool) (begun dedup.Import, opened bool, err error) {
			im.ID, im.Person, im.Started = uuid.Must(uuid.NewV7()), by.Person, time.Now()
			err = pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) error {
				begun, opened, err = dedup.BeginImportTx(ctx, tx, im, again)
				return err
			})
			return begun, opened, err
		},
		ImportRows: func(ctx context.Context, _ accounts.Identity, id uuid.UUID, rows gateway.ImportRows) (im dedup.Import, faults []gateway.ImportFault, err error) {
			err = pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) error {
				im, faults, err = gateway.Importer{Partner: r.directory.Partner, Now: time.Now}.ImportTx(ctx, tx, id, rows)
				return err
			})
			return im, faults, err
		},
		PatchPartner: func(ctx context.Context, _ accounts.Identity, partner string, revision int32, patch []byte) (changes partners.Changes, err error) {
			err = pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) error {
				changes, err = r.api.Partners.PatchTx(ctx, tx, partner, revision, patch)
				return err
			})
			return changes, err
		},
		RestorePartner: func(ctx context.Context, _ accounts.Identity, partner string, revision int32, withCredentials bool) (changes partners.Changes, left partners.Left, err error) {
			err = pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) error {
				changes, left, err = r.api.Partners.RestoreTx(ctx, tx, partner, revision, withCredentials)
				return err
			})
			return changes, left, err
		},
		Foresee: func(ctx context.Context, p *partners.Partner, _ string, payload []byte) (*gateway.Receipt, error) {
			return r.gateway.Foresee(ctx, &gateway.Delivery{Transport: "http", Partner: p, Payload: edi.Bytes(payload), SHA256: sha(string(payload)), Received: time.Now(), Render: rendered})
		},
		SignEvidence: func(context.Context, string, []byte) (*Signature, error) {
			return nil, fmt.Errorf("%w: north has no key", ErrUnsigned)
		},
		Front: Front{URL: func() string { return "https://edi.example" }, Certificate: func() *x509.Certificate { return nil }, MaxBody: 1 << 20,
			Keys: func(context.Context, string) ([]SheetKey, error) {
				return []SheetKey{{Label: "2026", Purposes: []string{"as2_sign"}, Fingerprint: "AB:CD", Until: time.Now().UTC(), PEM: "-----BEGIN CERTIFICATE-----\n"}}, nil
			}},
		Record: func(ctx context.Context, e accounts.Entry) error {
			return pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) error { return people.Audit(ctx, tx, e) })
		},
		Purger: &purge.Purger{Pool: r.pool, Partners: store, NewID: uuid.New, Node: "here", Log: log},
		Purge: func(ctx context.Context, by accounts.Identity) (*purge.Report, error) {
			begun, err := r.api.Purger.Begin(ctx, by.Person)
			if err != nil {
				return nil, err
			}
			told := *begun
			return &told, r.api.Purger.Finish(ctx, begun)
		},
		Habits: habits.Store{Pool: r.pool}, DismissGap: func(p *partners.Partner, id uuid.UUID, person, reason string) outbox.Change {
			return habits.Dismiss(p, id, person, reason, time.Now(), uuid.Must(uuid.NewV7()))
		},
		Compare: compareTexts, Metrics: http.NotFoundHandler(), Version: "test", Log: log,
	}
	r.handler = r.api.Handler()
	r.gateway = &gateway.Gateway{
		Pool: r.pool, Formats: []gateway.Format{edifactFormat}, Handlers: documents.Handlers(), Log: log,
		Sender: r.directory.BySender, MaySpeakFor: r.directory.MaySpeakFor, IsOurs: r.directory.IsOurs,
		ConfigRevision: func() int32 { return int32(r.directory.Counter()) },
		Numbers:        &journal.Numbers{Pool: r.pool}, Later: &journal.Batch{Pool: r.pool, Log: log, Also: gateway.LastDeliveries},
		Partner: r.directory.Partner,
		Audit: func(ctx context.Context, tx gateway.Execer, a gateway.Act) error {
			return people.Audit(ctx, tx, accounts.Entry{Who: a.By.Name, Role: accounts.Role(a.By.Role), Action: a.Action, Subject: a.Subject, Partner: a.Partner})
		},
		Now: func() time.Time { return time.Now().UTC() }, NewID: func() uuid.UUID { return uuid.Must(uuid.NewV7()) },
	}
	r.api.Gateway = r.gateway
	for _, role := range accounts.Roles {
		plain, _, err := people.FirstToken(ctx, accounts.Identity{Person: "test", Role: accounts.Admin}, accounts.NewToken{Person: "p. " + string(role), Role: role, Label: "test"})
		if err != nil {
			t.Fatal(err)
		}
		r.tokens[role] = plain
	}
	if _, err := r.apply(ctx, accounts.Identity{}, []byte(configuration)); err != nil {
		t.Fatal(err)
	}
	return r
}

// change does something about subscriptions, with its audit line.
func (r *rig) change(ctx context.Context, by accounts.Identity, e accounts.Entry, detail any, do outbox.Change) error {
	return pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) (err error) {
		e.Who, e.Role = by.Person, by.Role
		if err := do(ctx, tx); err != nil {
			return err
		}
		if e.Detail, err = json.Marshal(detail); err != nil {
			return err
		}
		return r.api.Accounts.Audit(ctx, tx, e)
	})
}

func (r *rig) apply(ctx context.Context, by accounts.Identity, text []byte) (partners.Changes, error) {
	return r.applyOn(ctx, by, text, nil)
}

func (r *rig) applyOn(ctx context.Context, by accounts.Identity, text []byte, on *int64) (changes partners.Changes, err error) {
	specs, err := partners.Reader{}.Read("", text)
	if err != nil {
		return nil, err
	}
	err = pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) error {
		if store := r.api.Partners.As(by.Person); on != nil {
			changes, err = store.ApplyOn(ctx, tx, *on, specs)
		} else {
			changes, err = store.Apply(ctx, tx, specs)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return changes, r.directory.Reload(ctx)
}

var edifactFormat = gateway.Format{
	Name: "edifact", Leads: edifact.Leads,
	Split: func(p *edi.Payload, from int64, _ gateway.Reading) (*edi.Interchange, error) {
		return edifact.Reader{}.Split(p, from)
	},
	Scan: func(p *edi.Payload, ic *edi.Interchange, _ gateway.Reading, visit func(int, *edi.Body) error) error {
		return edifact.Reader{}.Scan(p, ic, visit)
	},
	Again: func(p *edi.Payload, ic *edi.Interchange, _ gateway.Reading) func(int) (*edi.Body, error) {
		return edifact.Reader{}.Again(p, ic)
	},
	Acknowledge: edifact.Acknowledge, NeverAcknowledged: []string{"CONTRL"},
}

// compareTexts is Compare for one interchange on each side.
func compareTexts(original, later []byte) *compare.Result {
	side := func(text []byte) *compare.Interchange {
		p := edi.Bytes(text)
		ic, err := edifact.Reader{}.Split(p, 0)
		if err != nil {
			return compare.Unreadable(err.Error())
		}
		b := compare.Builder{Envelope: ic, Payload: p}
		if err := (edifact.Reader{}).Scan(p, ic, b.Visit); err != nil {
			return compare.Unreadable(err.Error())
		}
		return b.Interchange()
	}
	if original == nil {
		return compare.Diff(nil, side(later), compare.Names{})
	}
	return compare.Diff(side(original), side(later), compare.Names{})
}

// invoice is an interchange of one invoice.
type invoice struct {
	reference, number, total string
	sender                   string
}

func (i invoice) text() string {
	if i.sender == "" {
		i.sender = "9520001000010"
	}
	return fmt.Sprintf("UNB+UNOC:3+%s:14+9520002000019:14+%s:0914+%s'UNH+1+INVOIC:D:96A:UN:EAN008'BGM+380+%s+9'DTM+137:20261127:102'"+
		"NAD+SU+%s::9'NAD+BY+9520002000019::9'CUX+2:EUR:4'LIN+1++9520000001018:EN'QTY+47:10:PCE'MOA+203:100.00'PRI+AAA:10.00'"+
		"UNS+S'MOA+79:100.00'MOA+77:%s'UNT+14+1'UNZ+1+%s'",
		i.sender, time.Now().Format("060102"), i.reference, i.number, i.sender, i.total, i.reference)
}

func rendered(rc *gateway.Receipt) (gateway.Rendered, error) {
	return gateway.Rendered{Status: rc.Answer.Told().HTTP, ContentType: "application/json", Body: []byte(`{"outcome":"` + rc.Answer.Told().Word + `"}`)}, nil
}

// receive has a partner deliver text, under a transport id if one is given.
func (r *rig) receive(partner, id, text string) *gateway.Receipt {
	r.t.Helper()
	p := edi.Bytes([]byte(text))
	d := &gateway.Delivery{Transport: "http", Partner: r.directory.Partner(partner), Payload: p, Received: time.Now(), Remote: "192.0.2.1", Filename: "inv.edi",
		SHA256: sha(text), WithAcknowledgement: true,
		Render: rendered}
	if id != "" {
		d.TransportID = dedup.TransportKey("http", "north", id)
	}
	rc, err := r.gateway.Receive(r.t.Context(), d)
	if err != nil {
		r.t.Fatal(err)
	}
	r.gateway.Later.Flush(r.t.Context())
	return rc
}

// answer is what the API said.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask sends a request with a token.
func (r *rig) ask(token, method, path, body string, headers ...string) answer {
	r.t.Helper()
	req := httptest.NewRequest(method, Prefix+path, strings.NewReader(body)).WithContext(r.t.Context())
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	r.handler.ServeHTTP(w, req)
	text, err := io.ReadAll(w.Result().Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return answer{w.Code, w.Result().Header, string(text)}
}

// get asks as a person of that role and reads the answer into v.
func (r *rig) get(role accounts.Role, path string, v any) {
	r.t.Helper()
	a := r.ask(r.tokens[role], http.MethodGet, path, "")
	if a.status != http.StatusOK {
		r.t.Fatalf("GET %s: %d %s", path, a.status, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), v); err != nil {
		r.t.Fatalf("GET %s: %v in %s", path, err, a.body)
	}
}

// told is a problem as it is told.
type told struct {
	Type   string
	Title  string
	Status int
	Detail string
	Errors []struct {
		Line   int
		Key    string
		Detail string
	}
}

func (a answer) problem(t *testing.T) told {
	t.Helper()
	var p told
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("Content-Type %q: %s", got, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), &p); err != nil {
		t.Fatal(err)
	}
	if p.Status != a.status || Titles[strings.TrimPrefix(p.Type, ProblemBase)] != p.Title || p.Title == "" {
		t.Errorf("status %d says %+v", a.status, p)
	}
	p.Type = strings.TrimPrefix(p.Type, ProblemBase)
	return p
}
