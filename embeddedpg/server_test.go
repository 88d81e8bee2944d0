package embeddedpg_test

import (
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/edigw/edigw/embeddedpg"
	"github.com/edigw/edigw/pgtest"
	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("EMBEDDEDPG_TEST_GATEWAY"); dir != "" {
		gateway(dir)
		return
	}
	if url := os.Getenv("EMBEDDEDPG_TEST_CLIENT"); url != "" {
		client(url)
		return
	}
	goleak.VerifyTestMain(m)
}

func TestColdAndWarmStart(t *testing.T) {
	dir := filepath.Join(pgtest.Dir(t), "not", "there", "yet")
	pg := start(t, embeddedpg.Options{DataDir: dir})
	execute(t, pg, `create table kept (n int)`)
	execute(t, pg, `insert into kept values (7)`)

	t.Run("nothing listens on TCP, nothing is turned off that makes a commit durable", func(t *testing.T) {
		for name, want := range map[string]string{
			"listen_addresses": "", "fsync": "on", "full_page_writes": "on", "synchronous_commit": "on",
			"data_checksums": "on", "server_encoding": "UTF8", "timezone": "UTC",
		} {
			if got := ask(t, pg, `select current_setting($1)`, name); got != want {
				t.Errorf("%s = %q, want %q", name, got, want)
			}
		}
	})

	t.Run("the password is needed, and nobody else can read it", func(t *testing.T) {
		st, err := os.Stat(filepath.Join(dir, "password"))
		if err != nil {
			t.Fatal(err)
		}
		if st.Mode().Perm() != 0o600 {
			t.Errorf("password has mode %04o, want 0600", st.Mode().Perm())
		}
		config, err := pgx.ParseConfig(pg.URL())
		if err != nil {
			t.Fatal(err)
		}
		config.Password = "guess"
		if conn, err := pgx.ConnectConfig(t.Context(), config); err == nil {
			t.Error("a wrong password was accepted", conn.Close(t.Context()))
		}
	})

	t.Run("another process on this machine finds the URL", func(t *testing.T) {
		got, err := embeddedpg.URL(dir)
		if err != nil || got != pg.URL() {
			t.Errorf("URL = %q, %v; want %q", got, err, pg.URL())
		}
	})

	t.Run("a clean stop is no error, and a warm start has the rows", func(t *testing.T) {
		stop(t, pg)
		select {
		case <-pg.Exited():
		default:
			t.Error("stopped, but Exited is open")
		}
		if err := pg.Err(); err != nil {
			t.Errorf("Err after a clean stop: %v", err)
		}
		pg = start(t, embeddedpg.Options{DataDir: dir})
		if got := ask(t, pg, `select n::text from kept`); got != "7" {
			t.Errorf("kept = %q, want 7", got)
		}
	})
}

func TestSettings(t *testing.T) {
	pg := start(t, embeddedpg.Options{DataDir: pgtest.Cluster(t), Unsafe: true, Settings: map[string]string{"work_mem": "9MB", "fsync": "on"}})
	if got := ask(t, pg, `select current_setting('work_mem')`); got != "9MB" {
		t.Errorf("work_mem = %s, want 9MB", got)
	}
	if got := ask(t, pg, `select current_setting('fsync')`); got != "on" {
		t.Errorf("a setting that was given lost against Unsafe: fsync = %s", got)
	}
	if got := ask(t, pg, `select current_setting('full_page_writes')`); got != "off" {
		t.Errorf("Unsafe left full_page_writes = %s", got)
	}
}

func TestABadSettingIsToldInPostgresWords(t *testing.T) {
	_, err := embeddedpg.Start(t.Context(), embeddedpg.Options{DataDir: pgtest.Cluster(t), Unsafe: true, Settings: map[string]string{"work_mem": "lots"}})
	if err == nil || !strings.Contains(err.Error(), `invalid value for parameter "work_mem"`) {
		t.Errorf("got %v", err)
	}
}

func TestSecondInstance(t *testing.T) {
	dir := pgtest.Cluster(t)
	pg := start(t, embeddedpg.Options{DataDir: dir, Unsafe: true})
	_, err := embeddedpg.Start(t.Context(), embeddedpg.Options{DataDir: dir, Unsafe: true})
	inUse, ok := errors.AsType[*embeddedpg.InUseError](err)
	if !ok {
		t.Fatalf("got %v, want an InUseError", err)
	}
	if want := strconv.Itoa(os.Getpid()); inUse.Pid != want {
		t.Errorf("names process %q, want %s", inUse.Pid, want)
	}
	if got := ask(t, pg, `select 'alive'`); got != "alive" {
		t.Errorf("the first instance says %q", got)
	}
}

func TestKilledPostmaster(t *testing.T) {
	dir := pgtest.Cluster(t)
	pg := start(t, embeddedpg.Options{DataDir: dir})
	execute(t, pg, `create table kept (n int)`)
	execute(t, pg, `insert into kept values (1)`)

	// A backend in the middle of work outlives its postmaster, and bars the
	// next one until it notices that its client, the gateway, is gone too.
	client := exec.Command(os.Args[0])
	client.Env = append(os.Environ(), "EMBEDDEDPG_TEST_CLIENT="+pg.URL())
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); ask(t, pg, `select count(*)::text from pg_stat_activity where query like '%generate_series%' and pid <> pg_backend_pid()`) == "0"; {
		if time.Since(begun) > 10*time.Second {
			t.Fatal("the client does not begin")
		}
	}
	if err := syscall.Kill(pg.Pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}

	select {
	case <-pg.Exited():
	case <-time.After(10 * time.Second):
		t.Fatal("Exited stays open after the postmaster was killed")
	}
	if err := pg.Err(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("Err = %v, want it to say that it was killed", err)
	}
	if err := client.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := client.Wait(); err == nil {
		t.Error("the statement of the killed server succeeded")
	}
	stop(t, pg)
	pg = start(t, embeddedpg.Options{DataDir: dir})
	if got := ask(t, pg, `select n::text from kept`); got != "1" {
		t.Errorf("a committed row is gone: %q", got)
	}
}

func TestLongPath(t *testing.T) {
	dir := filepath.Join(pgtest.Dir(t), strings.Repeat("long/", 20), "end")
	pg := start(t, embeddedpg.Options{DataDir: dir, Unsafe: true})
	socket := ask(t, pg, `select current_setting('unix_socket_directories')`)
	if !strings.HasPrefix(socket, "/tmp/edigw-") {
		t.Errorf("socket in %s, want a short folder in /tmp", socket)
	}
	st, err := os.Stat(socket)
	if err != nil {
		t.Fatal(err)
	}
	if st.Mode().Perm() != 0o700 {
		t.Errorf("%s has mode %04o, want 0700", socket, st.Mode().Perm())
	}
	if got, err := embeddedpg.URL(dir); err != nil || got != pg.URL() {
		t.Errorf("URL = %q, %v; want %q", got, err, pg.URL())
	}
	stop(t, pg)
	if _, err := os.Stat(socket); !os.IsNotExist(err) {
		t.Errorf("%s is left behind: %v", socket, err)
	}
}

func TestLogCarriesNoValues(t *testing.T) {
	var lines strings.Builder
	log := slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
	pg, err := embeddedpg.Start(t.Context(), embeddedpg.Options{DataDir: pgtest.Cluster(t), Unsafe: true, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	execute(t, pg, `create table kept (n text primary key)`)
	execute(t, pg, `insert into kept values ('secret')`)
	conn, err := pgx.Connect(t.Context(), pg.URL())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `insert into kept values ('secret')`); err == nil {
		t.Error("a duplicate key was accepted")
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Error(err)
	}
	stop(t, pg)
	if got := lines.String(); !strings.Contains(got, "duplicate key") || strings.Contains(got, "secret") {
		t.Errorf("want the error without its values:\n%s", got)
	}
}
