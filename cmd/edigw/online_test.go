package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/pgtest"
)

// gatewayUnderTest is a whole gateway that runs in this process until the test ends.
type gatewayUnderTest struct {
	t    *testing.T
	dir  string
	url  string // of its database
	at   localAccess
	log  *buffer
	stop func() int
}

// serveGateway runs `edigw serve` on a database of its own.
func serveGateway(t *testing.T, args ...string) *gatewayUnderTest {
	t.Helper()
	g := &gatewayUnderTest{t: t, dir: t.TempDir(), url: pgtest.URL(t), log: &buffer{}}
	ctx, cancel := context.WithCancel(context.Background())
	code := make(chan int, 1)
	args = append([]string{"serve", "--data-dir", g.dir, "--database-url", g.url, "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0"}, args...)
	go func() { code <- Run(ctx, args, nil, io.Discard, g.log, lookup(nil)) }()
	ended := -1
	g.stop = func() int {
		if ended < 0 {
			cancel()
			ended = <-code
		}
		return ended
	}
	t.Cleanup(func() {
		if c := g.stop(); c != 0 {
			t.Errorf("serve ended with %d:\n%s", c, g.log)
		}
	})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		var err error
		if g.at, err = readLocalAccess(g.dir); err == nil {
			return g
		}
		if time.Now().After(deadline) {
			t.Fatalf("the gateway is not ready:\n%s", g.log)
		}
		select {
		case ended = <-code:
			t.Fatalf("serve ended with %d:\n%s", ended, g.log)
		default:
		}
	}
}

// do runs a command against the gateway, as somebody on its machine does.
func (g *gatewayUnderTest) do(args ...string) ran {
	g.t.Helper()
	return edigw(g.t, "", []string{"EDIGW_DATA_DIR=" + g.dir}, args...)
}

// must runs a command that has to end well, and reads its JSON into v.
func (g *gatewayUnderTest) must(v any, args ...string) ran {
	g.t.Helper()
	r := g.do(args...)
	if r.code != 0 {
		g.t.Fatalf("%v: exit %d\n%s%s", args, r.code, r.out, r.stderr)
	}
	if v != nil {
		if err := json.Unmarshal([]byte(r.out), v); err != nil {
			g.t.Fatalf("%v: %v in %s", args, err, r.out)
		}
	}
	return r
}

func (g *gatewayUnderTest) get(path string) (int, string) {
	g.t.Helper()
	resp, err := http.Get(g.at.URL + path)
	if err != nil {
		g.t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		g.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

const key = "unb:9520001000010:14:9520002000019:14:REF000709"

func TestTheCommandLineAgainstAGateway(t *testing.T) {
	g := serveGateway(t)
	changed, err := os.ReadFile("testdata/changed.edi")
	if err != nil {
		t.Fatal(err)
	}

	t.Run("api.json is for its owner alone", func(t *testing.T) {
		st, err := os.Stat(localAccessFile(g.dir))
		if err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", st.Mode(), err)
		}
	})
	t.Run("partners apply says what changed, then that nothing does", func(t *testing.T) {
		r := g.must(nil, "partners", "apply", "-f", "testdata/partners.yaml")
		if !strings.Contains(r.out, "partner acme: created (revision 1)\n") {
			t.Errorf("%s", r.out)
		}
		if r := g.must(nil, "partners", "apply", "-f", "testdata/partners.yaml"); r.out != "" || r.stderr != "nothing changed: it is all so already\n" {
			t.Errorf("%q %q", r.out, r.stderr)
		}
	})
	t.Run("partners apply tells faults of the gateway under the file's own name", func(t *testing.T) {
		r := g.do("partners", "apply", "-f", "testdata/partners.yaml", "-f", "testdata/clash.yaml")
		if r.code != exitFailed || !strings.Contains(r.stderr, "testdata/clash.yaml:2:1: identifiers: ") || !strings.Contains(r.stderr, "belongs to partner acme") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
	t.Run("partners list and show", func(t *testing.T) {
		if r := g.must(nil, "partners", "list"); !strings.Contains(r.out, "acme     ACME  active  north") {
			t.Errorf("%s", r.out)
		}
		if r := g.must(nil, "partners", "show", "acme"); !strings.Contains(r.out, "on_drift: reject\n") {
			t.Errorf("%s", r.out)
		}
	})
	t.Run("ingest: a folder of which one file is refused is partly done", func(t *testing.T) {
		dir := t.TempDir()
		for name, text := range map[string]string{"1.edi": read(t, "testdata/invoice.edi"), "2.edi": "no interchange", ".hidden": "x"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := g.do("ingest", dir, "--partner", "acme", "--jobs", "1")
		if r.code != exitPartly || !strings.Contains(r.out, "201     first") || !strings.Contains(r.out, "422     first") || !strings.Contains(r.stderr, "2 files: 1 taken, 1 refused (2 first)") {
			t.Errorf("exit %d\n%s%s", r.code, r.out, r.stderr)
		}
	})
	t.Run("ingest: the same again is taken, other content is not", func(t *testing.T) {
		var answer struct {
			Files []struct {
				Status  int
				Verdict string
				Answer  struct{ Outcome string }
			}
		}
		g.must(&answer, "ingest", "testdata/invoice.edi", "--partner", "acme", "-o", "json")
		if f := answer.Files[0]; f.Status != 200 || f.Verdict != "duplicate" || f.Answer.Outcome != "accepted" {
			t.Errorf("%+v", f)
		}
		r := edigw(t, string(changed), []string{"EDIGW_DATA_DIR=" + g.dir}, "ingest", "-", "--partner", "acme")
		if r.code != exitFailed || !strings.Contains(r.out, "422     drift    quarantined") {
			t.Errorf("exit %d\n%s", r.code, r.out)
		}
	})
	t.Run("ingest takes back the token it had made", func(t *testing.T) {
		var p struct {
			Tokens []struct {
				Label   string
				Revoked *time.Time `json:"revoked_at"`
			}
		}
		g.must(&p, "partners", "show", "acme", "-o", "json")
		for _, tok := range p.Tokens {
			if tok.Revoked == nil {
				t.Errorf("token %q still holds", tok.Label)
			}
		}
		if len(p.Tokens) != 3 {
			t.Errorf("%d tokens, want one a run", len(p.Tokens))
		}
	})
	t.Run("ingest with the partner's own token needs no other", func(t *testing.T) {
		token := strings.TrimSpace(g.must(nil, "partners", "token", "acme", "--label", "own", "--expires", "1h").out)
		r := edigw(t, "", []string{"EDIGW_PARTNER_TOKEN=" + token}, "ingest", "testdata/invoice.edi", "--partner", "acme", "--ingress", g.at.Ingress, "--message-id", "m-1", "--data-dir", t.TempDir())
		if r.code != 0 || !strings.Contains(r.out, "200     duplicate") {
			t.Errorf("exit %d\n%s%s", r.code, r.out, r.stderr)
		}
	})
	t.Run("messages list, show and raw", func(t *testing.T) {
		waitFor(t, func() bool {
			return strings.Count(g.must(nil, "messages", "list", "--message-id", key).out, "duplicate") == 2
		})
		if r := g.must(nil, "messages", "list", "--verdict", "drift"); !strings.Contains(r.out, "I13") || strings.Count(r.out, "\n") != 2 {
			t.Errorf("%s", r.out)
		}
		if r := g.must(nil, "messages", "list", "--limit", "1"); !strings.Contains(r.stderr, "there are more: add --cursor ") {
			t.Errorf("%q", r.stderr)
		}
		r := g.must(nil, "messages", "show", "acme", key)
		for _, want := range []string{"interchange key " + key, "Variants", "quarantined", "Receptions", "Drift", "total 119.01 → 129.01 EUR", "Documents", "RG-44"} {
			if !strings.Contains(r.out, want) {
				t.Errorf("%q is missing in\n%s", want, r.out)
			}
		}
		if r := g.must(nil, "messages", "raw", "acme", key); r.out != read(t, "testdata/invoice.edi") {
			t.Errorf("%q", r.out)
		}
	})
	t.Run("drift list and show", func(t *testing.T) {
		var page struct {
			Items []struct {
				ID string `json:"alert_id"`
			}
		}
		g.must(&page, "drift", "list", "-o", "json")
		r := g.must(nil, "drift", "show", page.Items[0].ID)
		for _, want := range []string{"interchange, business, critical, open", "-    13  MOA+77:119.01\n+    13  MOA+77:129.01\n"} {
			if !strings.Contains(r.out, want) {
				t.Errorf("%q is missing in\n%s", want, r.out)
			}
		}
	})
	t.Run("documents list and show", func(t *testing.T) {
		var page struct {
			Items []struct {
				ID string `json:"document_id"`
			}
		}
		g.must(&page, "documents", "list", "--number", "RG-44", "--live", "-o", "json")
		if len(page.Items) != 1 {
			t.Fatalf("%d documents", len(page.Items))
		}
		if r := g.must(nil, "documents", "show", page.Items[0].ID); !strings.Contains(r.out, "net_amount: \"100.00\"\n") {
			t.Errorf("%s", r.out)
		}
	})
	t.Run("tokens create, list and revoke, and roles hold", func(t *testing.T) {
		var made struct {
			ID    string `json:"token_id"`
			Token string
		}
		if r := g.do("tokens", "create", "--role", "viewer", "--person", "vera"); r.code != exitFailed || !strings.Contains(r.stderr, "edigw users add") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
		g.must(nil, "users", "add", "vera", "--role", "operator")
		g.must(&made, "tokens", "create", "--role", "viewer", "--person", "vera", "-o", "json")
		as := []string{"--api", g.at.URL, "--token", made.Token}
		if r := g.do(append([]string{"messages", "list"}, as...)...); r.code != 0 {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
		if r := g.do(append([]string{"messages", "raw", "acme", key}, as...)...); r.code != exitFailed || !strings.Contains(r.stderr, "this needs the role operator; the token has the role viewer") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
		g.must(nil, "tokens", "revoke", made.ID)
		if r := g.do(append([]string{"messages", "list"}, as...)...); r.code != exitFailed || !strings.Contains(r.stderr, "A valid token is needed") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
		if r := g.must(nil, "tokens", "list"); !strings.Contains(r.out, "vera") {
			t.Errorf("%s", r.out)
		}
	})
	t.Run("users add, list, role, disable and enable", func(t *testing.T) {
		token := func(role string) []string {
			r := g.must(nil, "tokens", "create", "--role", role, "--person", "otto")
			return []string{"--api", g.at.URL, "--token", strings.TrimSpace(r.out)}
		}
		if r := g.must(nil, "users", "add", "otto", "--role", "approver"); r.out != "otto: approver, 0 tokens\n" {
			t.Errorf("%s", r.out)
		}
		if r := g.do("users", "add", "Otto", "--role", "admin"); r.code != exitFailed || !strings.Contains(r.stderr, "there is otto, approver already") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
		approver, operator := token("approver"), token("operator")
		if r := g.must(nil, "users", "role", "otto", "viewer"); r.out != "otto: viewer, 2 tokens\n" {
			t.Errorf("%s", r.out)
		}
		for _, as := range [][]string{approver, operator} {
			if r := g.do(append([]string{"messages", "raw", "acme", key}, as...)...); r.code != exitFailed || !strings.Contains(r.stderr, "needs the role operator") {
				t.Errorf("a token allows more than its person may: exit %d: %s", r.code, r.stderr)
			}
		}
		if r := g.must(nil, "users", "disable", "otto"); r.out != "otto: viewer, disabled, 0 tokens\n" {
			t.Errorf("%s", r.out)
		}
		if r := g.do(append([]string{"messages", "list"}, approver...)...); r.code != exitFailed || !strings.Contains(r.stderr, "A valid token is needed") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
		if r := g.do("tokens", "create", "--role", "viewer", "--person", "otto"); r.code != exitFailed || !strings.Contains(r.stderr, "otto is disabled") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
		if r := g.must(nil, "users", "list"); !strings.Contains(r.out, "otto    viewer    0") {
			t.Errorf("%s", r.out)
		}
		g.must(nil, "users", "enable", "otto")
		if r := g.do(append([]string{"messages", "list"}, approver...)...); r.code != exitFailed {
			t.Errorf("a token from before holds again: exit %d", r.code)
		}
		if r := g.must(nil, append([]string{"messages", "list"}, token("viewer")...)...); !strings.Contains(r.out, "acme") {
			t.Errorf("%s", r.out)
		}
		if r := g.do("users", "disable", "local"); r.code != exitFailed || !strings.Contains(r.stderr, "this is the last administrator") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
	t.Run("audit list says who did it", func(t *testing.T) {
		r := g.must(nil, "audit", "list", "--subject", "otto", "--action", "user.disabled")
		if !strings.Contains(r.out, "local") || strings.Count(r.out, "user.disabled") != 1 {
			t.Errorf("%s", r.out)
		}
		var page struct {
			Items []struct{ Person, Action string }
		}
		g.must(&page, "audit", "list", "--person", "local", "--limit", "2", "-o", "json")
		if len(page.Items) != 2 || page.Items[0].Person != "local" {
			t.Errorf("%+v", page)
		}
	})
	t.Run("partners token and revoke", func(t *testing.T) {
		g.must(nil, "partners", "token", "acme", "--label", "lent out")
		if r := g.must(nil, "partners", "revoke", "acme", "lent out"); r.stderr != "token lent out of acme is revoked\n" {
			t.Errorf("%s", r.stderr)
		}
		if r := g.do("partners", "revoke", "acme", "lent out"); r.code != exitFailed || !strings.Contains(r.stderr, "There is no such thing") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
	t.Run("the first token comes from the database", func(t *testing.T) {
		env := []string{"EDIGW_DATABASE_URL=" + g.url, "EDIGW_DATA_DIR=" + t.TempDir()}
		r := edigw(t, "", env, "tokens", "create", "--role", "admin", "--person", "anna")
		token := strings.TrimSpace(r.out)
		if r.code != 0 || !strings.HasPrefix(token, "edigw_t_") {
			t.Fatalf("exit %d: %s%s", r.code, r.out, r.stderr)
		}
		if r := edigw(t, "", nil, "tokens", "list", "--api", g.at.URL, "--token", token); r.code != 0 {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
	t.Run("health and metrics", func(t *testing.T) {
		if status, text := g.get("/livez"); status != 200 || text != "ok\n" {
			t.Errorf("%d %s", status, text)
		}
		// The tests' server flushes nothing to disk, which is what must turn it red.
		if status, text := g.get("/readyz?verbose"); status != 503 || !strings.Contains(text, "[+] database\n[+] schema\n[-] durability: fsync and full_page_writes off: ") {
			t.Errorf("%d %s", status, text)
		}
		_, text := g.get("/metrics")
		for _, want := range []string{`edigw_deliveries_total{outcome="accepted",partner="acme",transport="http"} 3`, "edigw_database_connections_max 20", "edigw_build_info{", "go_goroutines"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s is missing", want)
			}
		}
	})
	t.Run("migrate is done already, and says so", func(t *testing.T) {
		r := edigw(t, "", []string{"EDIGW_DATABASE_URL=" + g.url}, "migrate", "--status")
		if r.code != 0 || !strings.Contains(r.out, "00001_core.sql") {
			t.Errorf("exit %d: %s%s", r.code, r.out, r.stderr)
		}
	})
	t.Run("doctor finds that nothing is flushed, and what to do", func(t *testing.T) {
		r := edigw(t, "", []string{"EDIGW_DATABASE_URL=" + g.url, "EDIGW_DATA_DIR=" + g.dir}, "doctor", "--listen", strings.TrimPrefix(g.at.Ingress, "http://"), "--ops-listen", "127.0.0.1:0")
		for _, want := range []string{"FAIL  durability         fsync off, full_page_writes off", "→ set them on in postgresql.conf", "ok    schema", "ok    partitions", "is in use; a gateway of this data folder is running"} {
			if !strings.Contains(r.out, want) {
				t.Errorf("%q is missing in\n%s", want, r.out)
			}
		}
		if r.code != exitFindings {
			t.Errorf("exit %d", r.code)
		}
	})
	t.Run("one log line a delivery, and no secret in the log", func(t *testing.T) {
		waitFor(t, func() bool { return strings.Count(g.log.String(), "msg=delivery") >= 5 }) // a line is written after the answer
		if n := strings.Count(g.log.String(), "msg=delivery"); n != 5 {
			t.Errorf("%d lines, want 5", n)
		}
		if m := regexp.MustCompile(`edigw_[tp]_\S{8,}`).FindString(g.log.String()); m != "" {
			t.Errorf("the log holds %s…", m[:10])
		}
	})
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not happen")
		}
	}
}

func TestAStopWaitsForWhatIsBeingReceived(t *testing.T) {
	g := serveGateway(t)
	g.must(nil, "partners", "apply", "-f", "testdata/partners.yaml")
	token := strings.TrimSpace(g.must(nil, "partners", "token", "acme", "--label", "t").out)
	body, send := io.Pipe()
	r, err := http.NewRequest(http.MethodPost, g.at.Ingress+"/in/acme", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	status := make(chan string, 1)
	go func() {
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			status <- err.Error()
			return
		}
		status <- fmt.Sprint(resp.StatusCode, resp.Body.Close())
	}()
	text := []byte(read(t, "testdata/invoice.edi"))
	if _, err := send.Write(text[:100]); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		_, m := g.get("/metrics")
		return strings.Contains(m, `edigw_inflight{transport="http"} 1`)
	})
	stopped := make(chan int, 1)
	go func() { stopped <- g.stop() }()
	select {
	case <-stopped:
		t.Fatal("it stopped in the middle of a delivery")
	case <-time.After(300 * time.Millisecond):
	}
	if _, err := send.Write(text[100:]); err != nil {
		t.Fatal(err)
	}
	if err := send.Close(); err != nil {
		t.Fatal(err)
	}
	if got := <-status; got != "201 <nil>" {
		t.Errorf("the delivery was answered %s", got)
	}
	if code := <-stopped; code != 0 {
		t.Errorf("serve ended with %d", code)
	}
}

func TestASecondStartKeepsTheLocalToken(t *testing.T) {
	g := serveGateway(t)
	first := g.at.Token
	g.stop()
	ctx, cancel := context.WithCancel(t.Context())
	var log buffer
	code := make(chan int, 1)
	before, err := os.Stat(localAccessFile(g.dir))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		code <- Run(ctx, []string{"serve", "--data-dir", g.dir, "--database-url", g.url, "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0"}, nil, io.Discard, &log, lookup(nil))
	}()
	waitFor(t, func() bool {
		st, err := os.Stat(localAccessFile(g.dir))
		return err == nil && !os.SameFile(before, st)
	})
	at, err := readLocalAccess(g.dir)
	if err != nil || at.Token != first {
		t.Errorf("the token changed: %v", err)
	}
	cancel()
	if c := <-code; c != 0 {
		t.Errorf("exit %d: %s", c, &log)
	}
}

func TestADurableServerIsReady(t *testing.T) {
	server, _ := pgtest.Server(t)
	pool := connected(t, server.URL())
	for _, c := range checks(&database{pool: pool}) {
		if err := c.Run(t.Context()); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	t.Run("and its sessions are what the gateway needs, whatever the URL says", func(t *testing.T) {
		for name, want := range map[string]string{"synchronous_commit": "on", "lock_timeout": "2s", "TimeZone": "UTC", "application_name": "edigw"} {
			var got string
			if err := pool.QueryRow(t.Context(), `select current_setting($1)`, name).Scan(&got); err != nil || got != want {
				t.Errorf("%s is %q: %v", name, got, err)
			}
		}
	})
}

func TestADatabaseWithoutSchemaIsNotReady(t *testing.T) {
	pool := connected(t, pgtest.EmptyURL(t))
	for _, c := range checks(&database{pool: pool}) {
		if err := c.Run(t.Context()); c.Name == "schema" && (err == nil || !strings.Contains(err.Error(), "run `edigw migrate`")) {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

func connected(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := connect(t.Context(), url, 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func TestServeFailsWithWhatToDo(t *testing.T) {
	url := pgtest.URL(t)
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"an address that is no address", []string{"--database-url", url, "--listen", "nonsense"}, "--listen nonsense: "},
		{"a database that does not answer", []string{"--database-url", "postgres://x@127.0.0.1:1/x"}, "check --database-url, or that the server runs"},
		{"a certificate without its key", []string{"--database-url", url, "--listen", "127.0.0.1:0", "--tls-cert", "x"}, "a certificate and its key are given together"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			args := append([]string{"serve", "--data-dir", t.TempDir(), "--ops-listen", "127.0.0.1:0"}, c.args...)
			code := Run(t.Context(), args, nil, io.Discard, &log, lookup(nil))
			if code != exitFailed || !strings.Contains(log.String(), c.want) {
				t.Errorf("exit %d: %s", code, log.String())
			}
		})
	}
}

func TestDemo(t *testing.T) {
	dir := pgtest.Dir(t)
	t.Setenv("TMPDIR", dir)
	r := edigw(t, "", nil, "demo", "--once", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0")
	if r.code != 0 || r.stderr != "" {
		t.Errorf("exit %d: %s", r.code, r.stderr)
	}
	for _, want := range []string{"→  201 Created  Edigw-Verdict: first", "→  200 OK  Edigw-Verdict: duplicate", "→  422 Unprocessable Entity  Edigw-Verdict: drift", "+    17  QTY+47:130:PCE", "in the tables: despatch LS-", "told: TA1*", "told: AK5*A", "in the tables: invoice INV-", "in the tables: despatch SH-",
		"MDN: automatic-action/MDN-sent-automatically; processed", "✓ the same MDN byte for byte", "✓ the same receipt byte for byte"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is missing in\n%s", want, r.out)
		}
	}
	if strings.Contains(r.out, "✗") {
		t.Errorf("something was wrong:\n%s", r.out)
	}
	left, err := filepath.Glob(filepath.Join(dir, "edigw-demo-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestTheCommandLineOverTLS(t *testing.T) {
	certificate, key := selfSigned(t, t.TempDir(), "ops")
	ingress, ingressKey := selfSigned(t, t.TempDir(), "ingress")
	g := serveGateway(t, "--ops-tls-cert", certificate, "--ops-tls-key", key, "--tls-cert", ingress, "--tls-key", ingressKey)
	if !strings.HasPrefix(g.at.URL, "https://") || !strings.HasPrefix(g.at.Ingress, "https://") {
		t.Fatalf("%+v", g.at)
	}
	g.must(nil, "partners", "apply", "-f", "testdata/partners.yaml")
	g.must(nil, "ingest", "testdata/invoice.edi", "--partner", "acme")
	t.Run("another certificate is not taken for the gateway's", func(t *testing.T) {
		at := g.at
		at.Certificate = ingress
		other := t.TempDir()
		if err := writePrivate(localAccessFile(other), at); err != nil {
			t.Fatal(err)
		}
		r := edigw(t, "", nil, "partners", "list", "--data-dir", other)
		if r.code != exitFailed || !strings.Contains(r.stderr, "the certificate shown is not the one in ") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
	t.Run("nor is one that nobody named", func(t *testing.T) {
		r := edigw(t, "", nil, "partners", "list", "--api", g.at.URL, "--token", g.at.Token)
		if r.code != exitFailed || !strings.Contains(r.stderr, "certificate") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
}

func TestALocalAddressIsReachable(t *testing.T) {
	for bound, want := range map[string]string{
		"http://[::]:8081": "http://127.0.0.1:8081", "https://0.0.0.0:8081": "https://127.0.0.1:8081",
		"http://192.0.2.1:8081": "http://192.0.2.1:8081", "http://[2001:db8::1]:8081": "http://[2001:db8::1]:8081",
	} {
		if got := reachable(bound); got != want {
			t.Errorf("%s: %s, want %s", bound, got, want)
		}
	}
}
