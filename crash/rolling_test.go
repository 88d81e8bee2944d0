//go:build linux

package crash_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/pgtest"
)

// previous is the program of the release before, built once from the repository's
// own history.
var previous = sync.OnceValues(func() (string, error) {
	text, err := os.ReadFile(filepath.Join("testdata", "previous"))
	if err != nil {
		return "", err
	}
	commit := ""
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			commit = line
		}
	}
	if _, err := built(); err != nil { // its folder is removed at the end
		return "", err
	}
	dir := filepath.Join(*builtIn.Load(), "previous")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	if out, err := exec.Command("git", "cat-file", "-e", commit+"^{commit}").CombinedOutput(); err != nil {
		return "", fmt.Errorf("the release before, %s of crash/testdata/previous, is not in this clone: %w\n%s"+
			"run `git fetch --depth 1 origin %[1]s`, or `git fetch --unshallow`", commit, err, out)
	}
	archive := exec.Command("git", "archive", commit)
	archive.Dir = ".." // all of it
	var sources, said bytes.Buffer
	archive.Stdout, archive.Stderr = &sources, &said
	if err := archive.Run(); err != nil {
		return "", fmt.Errorf("git archive %s: %w\n%s", commit, err, said.Bytes())
	}
	unpack := exec.Command("tar", "-x", "-C", dir)
	unpack.Stdin = &sources
	if out, err := unpack.CombinedOutput(); err != nil {
		return "", fmt.Errorf("unpack %s: %w\n%s", commit, err, out)
	}
	path := filepath.Join(dir, "edigw-previous")
	build := exec.Command("go", "build", "-trimpath", "-o", path, "./cmd/edigw") // its packages are in the cache the next time
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", commit, err, out)
	}
	return path, nil
})

// cluster is what stands behind a balancer: the programs that take deliveries now.
type cluster struct {
	mu   sync.Mutex
	list []*program
	next int
}

// pick gives one by turns.
func (c *cluster) pick() *program {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	return c.list[c.next%len(c.list)]
}

// replace takes one out and puts another in.
func (c *cluster) replace(out, in *program) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.list {
		if c.list[i] == out {
			c.list[i] = in
		}
	}
}

// traffic is what one partner sends over a cluster until it is told to end, one
// message after the other, each of them at once twice, and then once more.
type traffic struct {
	partner partner
	keyed   bool
	sent    []string // bodies of the receipts
	fault   error
	by      *sync.Map // *program → *atomic.Int64 of acknowledged deliveries
}

func (x *traffic) run(c *cluster, end <-chan struct{}) {
	for {
		select {
		case <-end:
			return
		default:
		}
		if err := x.one(c); err != nil {
			x.fault = fmt.Errorf("message %d of %s: %w", len(x.sent), x.partner.id(), err)
			return
		}
	}
}

func (x *traffic) one(c *cluster) error {
	i := len(x.sent)
	key := ""
	if x.keyed {
		key = fmt.Sprint("key-", i)
	}
	payload := x.partner.interchange(fmt.Sprint("REF", i), fmt.Sprintf("RG-%d", i))
	var answers [2]answer
	var errs [2]error
	var wg sync.WaitGroup
	for n := range answers {
		wg.Go(func() { answers[n], errs[n] = x.until(c, payload, key) })
	}
	wg.Wait()
	for n := range answers {
		if errs[n] != nil {
			return errs[n]
		}
	}
	again, err := x.until(c, payload, key)
	if err != nil {
		return err
	}
	for _, a := range append(answers[:], again) {
		if a.status != http.StatusCreated && a.status != http.StatusOK || a.body != again.body {
			return fmt.Errorf("%d %s, and the repeat %d %s", a.status, a.body, again.status, again.body)
		}
	}
	if again.status != http.StatusOK || again.verdict != "duplicate" {
		return fmt.Errorf("the repeat is %d %s", again.status, again.verdict)
	}
	if i%5 == 4 { // other content under a known reference is a drift, whoever looks at it
		drift, err := x.until(c, x.partner.amounts(fmt.Sprint("REF", i), "7.00", fmt.Sprintf("RG-%d", i)), "")
		if err != nil {
			return err
		}
		if drift.status != http.StatusUnprocessableEntity || drift.verdict != "drift" {
			return fmt.Errorf("other content is told %d %s: %s", drift.status, drift.verdict, drift.body)
		}
	}
	x.sent = append(x.sent, again.body)
	return nil
}

// until sends, to whoever is there, until there is an answer that stands.
func (x *traffic) until(c *cluster, payload, key string) (answer, error) {
	for range 1000 {
		to := c.pick()
		a, err := x.partner.send(to, payload, key)
		if err != nil { // it is being replaced
			continue
		}
		if err := a.wellFormed(); err != nil {
			return a, err
		}
		if !a.isTryAgain() {
			n, _ := x.by.LoadOrStore(to, &atomic.Int64{})
			n.(*atomic.Int64).Add(1)
			return a, nil
		}
	}
	return answer{}, fmt.Errorf("no answer that stands after 1000 tries")
}

// TestRollingRestart replaces two gateways of the release before by two of this
// one, one after the other, under load, on one database: this one brings the schema
// up to date while the others go on.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	old, err := previous()
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{"stopped", "killed"} {
		for n := range *runs {
			run(t, fmt.Sprintf("the old ones are %s/%d", way, n+1), func(t *testing.T) {
				rolling(t, old, func(p *program) {
					if way == "killed" {
						p.kill(t)
						return
					}
					p.terminate(t)
					p.ended(t)
					if code := p.state.ExitCode(); code != 0 {
						t.Errorf("a gateway that was stopped ended with %d:\n%s", code, p.said())
					}
				})
			})
		}
	}
}

func rolling(t *testing.T, old string, end func(*program)) {
	const partners = 4
	site := emptySite(t)
	dir := t.TempDir()
	one := startProgram(t, old, dir, "EDIGW_DATABASE_URL="+site.url)
	site.applyBy(t, old, dir, partners)
	two := startProgram(t, old, t.TempDir(), "EDIGW_DATABASE_URL="+site.url)
	behind := &cluster{list: []*program{one, two}}
	before := site.version(t)

	var acknowledged sync.Map
	by := func(p *program) int64 {
		n, ok := acknowledged.Load(p)
		if !ok {
			return 0
		}
		return n.(*atomic.Int64).Load()
	}
	more := func(p *program, what string) {
		t.Helper()
		had := by(p)
		eventually(t, what, func() bool { return by(p) >= had+5 })
	}
	stop, all := make(chan struct{}), make([]*traffic, partners)
	var wg sync.WaitGroup
	defer wg.Wait()
	ended := sync.OnceFunc(func() { close(stop) })
	defer ended()
	for i := range all {
		x := &traffic{partner: site.partner(t), keyed: i%2 == 0, by: &acknowledged}
		all[i] = x
		wg.Go(func() { x.run(behind, stop) })
	}
	more(one, "the old ones take deliveries")
	more(two, "the old ones take deliveries")

	three := start(t, site.url) // migrates
	if now := site.version(t); now < before {
		t.Errorf("the schema was version %d and is %d", before, now)
	}
	more(one, "an old one takes deliveries on the new schema")
	more(two, "an old one takes deliveries on the new schema")
	behind.replace(one, three)
	end(one)
	more(three, "the new one takes deliveries beside the old one")
	more(two, "the old one takes deliveries beside the new one")
	four := start(t, site.url)
	behind.replace(two, four)
	end(two)
	more(three, "the new ones take deliveries")
	more(four, "the new ones take deliveries")
	ended()
	wg.Wait()

	total := 0
	for _, x := range all {
		if x.fault != nil {
			t.Error(x.fault)
		}
		total += len(x.sent)
		rows := x.partner.rows(t, site.pool)
		if x.fault == nil && rows["document"] != len(x.sent) {
			t.Errorf("%s: %d documents of %d messages", x.partner.id(), rows["document"], len(x.sent))
		}
		x.partner.eachOnce(t, site.pool)
		for i, body := range x.sent { // what any of them promised, the new ones repeat
			key := ""
			if x.keyed {
				key = fmt.Sprint("key-", i)
			}
			again := x.partner.retry(t, three, x.partner.interchange(fmt.Sprint("REF", i), fmt.Sprintf("RG-%d", i)), key)
			if diff := cmp.Diff(body, again.body); diff != "" {
				t.Fatalf("%s: another receipt for message %d:\n%s", x.partner.id(), i, diff)
			}
		}
	}
	t.Logf("schema %d to %d; %d messages, each sent three times; answered by the old ones %d and %d, by the new ones %d and %d",
		before, site.version(t), total, by(one), by(two), by(three), by(four))
	three.noPanic(t)
	four.noPanic(t)
}

// emptySite is a site whose database has no table yet.
func emptySite(t *testing.T) *site {
	t.Helper()
	server, dir := pgtest.Server(t)
	pool := pgtest.Pool(t, server.URL())
	if _, err := pool.Exec(context.Background(), `create database rolling template template0`); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/rolling"
	s := &site{server: server, dir: dir, url: u.String()}
	s.pool = pgtest.Pool(t, s.url)
	return s
}

// applyBy connects that many partners with the command line of a program whose
// gateway runs in a data folder.
func (s *site) applyBy(t *testing.T, path, dataDir string, count int) {
	t.Helper()
	apply := exec.Command(path, "partners", "apply", "--data-dir", dataDir, "-f", "-")
	apply.Stdin = strings.NewReader(partnersYAML(count))
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("partners apply: %v\n%s", err, out)
	}
	s.have = int64(count)
}

// version is that of the schema.
func (s *site) version(t *testing.T) (n int64) {
	t.Helper()
	if err := s.pool.QueryRow(context.Background(), `select max(version_id) from goose_db_version`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
