package docs_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/embeddedpg"
	"github.com/edigw/edigw/pgtest"
)

// patience is how long a block may take.
const patience = time.Minute

// sandbox is a folder that looks like a clone, with a shell in it.
type sandbox struct {
	t     *testing.T
	dir   string
	shell *shell
	ports map[string]string // as the page says, and as it is here
	jobs  []*job
	count int
}

// job is a block that runs in the background.
type job struct {
	block *block
	pid   int    // and process group
	out   string // file
}

// newSandbox makes one, with a database in a PostgreSQL at 127.0.0.1:5432, whose
// administrator the environment makes us. If given, the gateway gets its URL.
func newSandbox(t *testing.T, url string, given bool) *sandbox {
	t.Helper()
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	s := &sandbox{t: t, dir: pgtest.Dir(t), ports: map[string]string{}}
	tools := filepath.Join(s.dir, ".tools")
	for _, dir := range []string{"bin", "docs", "home", "tmp", ".tools"} {
		if err := os.Mkdir(filepath.Join(s.dir, dir), 0o711); err != nil {
			t.Fatal(err)
		}
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	// As if `make build` and `make setup` had been there.
	const tool = "#!/bin/sh\nPATH=${PATH#*:}\nexec make -o build -o setup \"$@\"\n"
	if err := errors.Join(
		os.Symlink(program, filepath.Join(s.dir, "bin", "edigw")),
		os.CopyFS(filepath.Join(s.dir, "docs", "examples"), os.DirFS("examples")),
		os.WriteFile(filepath.Join(s.dir, "Makefile"), makefile, 0o600),
		os.WriteFile(filepath.Join(tools, "make"), []byte(tool), 0o700),
	); err != nil {
		t.Fatal(err)
	}

	bin, err := embeddedpg.Bin()
	if err != nil {
		t.Fatal(err)
	}
	c, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{
		"PATH": strings.Join([]string{tools, filepath.Join(s.dir, "bin"), os.Getenv("PATH"), bin}, ":"), "HOME": filepath.Join(s.dir, "home"), "TMPDIR": filepath.Join(s.dir, "tmp"), "LC_ALL": "C.UTF-8",
		"EDIGW_LISTEN": "127.0.0.1:" + s.port("8080"), "EDIGW_OPS_LISTEN": "127.0.0.1:" + s.port("8081"),
		"EDIGW_DATA_DIR": filepath.Join(s.dir, "home", "edigw"),
		"PGHOST":         "127.0.0.1", "PGPORT": s.port("5432"), "PGUSER": c.User, "PGPASSWORD": c.Password, "PGDATABASE": c.Database, "PGTZ": "UTC",
	}
	if given {
		env["EDIGW_DATABASE_URL"] = url
	}
	if bin, given := os.LookupEnv("EDIGW_PG_BIN"); given {
		env["EDIGW_PG_BIN"] = bin
	}
	s.forward(s.port("5432"), c)
	s.shell = newShell(t, s.dir, env)
	t.Cleanup(s.clear)
	return s
}

// port gives the port that stands here for one of the pages. It is below those
// that the system hands out for connections.
func (s *sandbox) port(shown string) string {
	for s.ports[shown] == "" {
		p := strconv.Itoa(20_000 + rand.IntN(12_000))
		if ln, err := net.Listen("tcp", "127.0.0.1:"+p); err == nil {
			s.ports[shown] = p
			if err := ln.Close(); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	return s.ports[shown]
}

var address = regexp.MustCompile(`\b(127\.0\.0\.1|0\.0\.0\.0|localhost):(\d+)\b`)

// here puts our ports into a text of the pages.
func (s *sandbox) here(text string) string {
	return address.ReplaceAllStringFunc(text, func(a string) string {
		host, port, _ := strings.Cut(a, ":")
		return host + ":" + s.port(port)
	})
}

// shown puts the pages' ports into a text of ours.
func (s *sandbox) shown(text string) string {
	pages := map[string]string{}
	for shown, here := range maps.All(s.ports) {
		pages[here] = shown
	}
	return address.ReplaceAllStringFunc(text, func(a string) string {
		host, port, _ := strings.Cut(a, ":")
		if p := pages[port]; p != "" {
			port = p
		}
		return host + ":" + port
	})
}

// forward makes the tests' PostgreSQL, which may listen on a Unix socket alone,
// one that listens on a port.
func (s *sandbox) forward(port string, c *pgx.ConnConfig) {
	network, to := "tcp", net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	if filepath.IsAbs(c.Host) {
		network, to = "unix", filepath.Join(c.Host, fmt.Sprintf(".s.PGSQL.%d", c.Port))
	}
	ln, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := ln.Close(); err != nil {
			s.t.Error(err)
		}
	})
	pipe := func(to, from net.Conn) {
		_, err := io.Copy(to, from)
		_ = errors.Join(err, to.Close(), from.Close()) // either end may hang up: both are gone then
	}
	go func() {
		for {
			client, err := ln.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial(network, to)
			if err != nil {
				_ = client.Close() // who connected hears of it
				continue
			}
			go pipe(server, client)
			go pipe(client, server)
		}
	}()
}

// run runs every block of a page.
func (s *sandbox) run(p *page) {
	s.t.Helper()
	for _, b := range p.blocks {
		if name, given := b.attrs["file"]; given {
			if err := os.WriteFile(filepath.Join(s.dir, name), []byte(s.here(b.text)), 0o600); err != nil {
				s.t.Fatal(err)
			}
		}
		if b.lang != "sh" || b.has("no-run") {
			continue
		}
		if b.has("stopped") {
			s.end()
		}
		if b.has("background") {
			s.start(b)
		} else {
			s.do(b)
		}
	}
}

// script writes the commands of a block to a file, and names one for its output.
func (s *sandbox) script(b *block) (script, out string) {
	s.t.Helper()
	s.count++
	script = filepath.Join(s.dir, ".tools", fmt.Sprintf("%02d.sh", s.count))
	if err := os.WriteFile(script, []byte(s.here(b.text)), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return script, strings.TrimSuffix(script, "sh") + "out"
}

// do runs a block to its end, and compares its output.
func (s *sandbox) do(b *block) {
	s.t.Helper()
	script, out := s.script(b)
	wanted := b.attrs["exit"]
	if wanted == "" {
		wanted = "0"
	}
	for again := time.Now().Add(10 * time.Second); ; time.Sleep(300 * time.Millisecond) {
		status, ok := s.shell.source(script, out, wanted == "0" && !b.has("eventually"))
		printed := s.read(out)
		var fault string
		switch {
		case !ok || status != wanted:
			fault = fmt.Sprintf("it ended with status %q, not %s", status, wanted)
		case b.output != nil:
			fault = differs(b.output.text, printed)
		}
		if fault == "" {
			return
		}
		if ok && b.has("eventually") && time.Now().Before(again) {
			continue
		}
		s.t.Fatalf("%s:%d:\n%s%s\nit printed:\n%s%s", b.page, b.line, b.text, fault, printed, s.logs())
	}
}

// start runs a block in the background and waits until it is ready. What it asks
// to be typed elsewhere is typed: the line that begins with export.
func (s *sandbox) start(b *block) {
	s.t.Helper()
	script, out := s.script(b)
	j := &job{block: b, out: out}
	var err error
	if j.pid, err = s.shell.background(script, out); err != nil {
		s.t.Fatalf("%s:%d: %v", b.page, b.line, err)
	}
	s.jobs = append(s.jobs, j)
	for end := time.Now().Add(patience); ; time.Sleep(30 * time.Millisecond) {
		said := s.read(out)
		if strings.Contains(said, "msg=ready") || strings.Contains(said, "keeps running") && strings.Contains(said, "edigw drift list\n") {
			break
		}
		if !s.shell.alive(j.pid) || time.Now().After(end) {
			s.t.Fatalf("%s:%d: not ready:\n%s", b.page, b.line, said)
		}
	}
	said := s.read(out)
	if b.output != nil {
		if fault := differs(b.output.text, said); fault != "" {
			s.t.Fatalf("%s:%d:\n%s\nit printed:\n%s", b.page, b.line, fault, said)
		}
	}
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "export ") {
			s.shell.say(s.here(line))
		}
	}
}

// end ends what runs in the background as Ctrl-C does.
func (s *sandbox) end() {
	s.t.Helper()
	for _, j := range s.jobs {
		status := s.shell.interrupt(j.pid)
		// make tells that it was interrupted; the gateway ends well.
		if status != "0" && !strings.HasPrefix(j.block.text, "make ") {
			s.t.Errorf("%s:%d: it ended with status %s:\n%s", j.block.page, j.block.line, status, s.read(j.out))
		}
	}
	s.jobs = nil
}

// clear ends what a failed page has left.
func (s *sandbox) clear() {
	for _, j := range s.jobs {
		s.shell.kill(j.pid)
	}
	s.shell.close()
}

func (s *sandbox) read(out string) string {
	s.t.Helper()
	b, err := os.ReadFile(out)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.shown(string(b))
}

func (s *sandbox) logs() string {
	var all strings.Builder
	for _, j := range s.jobs {
		fmt.Fprintf(&all, "\nin the background, %s:%d:\n%s", j.block.page, j.block.line, s.read(j.out))
	}
	return all.String()
}
