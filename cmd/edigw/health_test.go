package main

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestHealth(t *testing.T) {
	g := serveGateway(t)
	t.Run("a gateway that runs says that it answers", func(t *testing.T) {
		if r := g.do("health", "--live"); r.code != 0 || r.out != "ok\n" {
			t.Errorf("exit %d, %q %s", r.code, r.out, r.stderr)
		}
	})
	t.Run("what is not ready fails with what is wrong", func(t *testing.T) {
		// The tests' PostgreSQL does not flush, which is never ready.
		if r := g.do("health"); r.code != 1 || !strings.Contains(r.stderr, "503") || !strings.Contains(r.stderr, "[-] durability") {
			t.Errorf("exit %d, %q %s", r.code, r.out, r.stderr)
		}
	})
	t.Run("where none runs it fails", func(t *testing.T) {
		if r := edigw(t, "", []string{"EDIGW_DATA_DIR=" + t.TempDir()}, "health"); r.code != 1 || !strings.Contains(r.stderr, "no gateway found") {
			t.Errorf("exit %d, %q", r.code, r.stderr)
		}
	})
}

// listensAs stands for systemd: its socket, and what it was told.
func listensAs(t *testing.T, name string) (*net.UnixConn, func() string) {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return conn, func() string {
		t.Helper()
		if err := conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 256)
		n, err := conn.Read(b)
		if err != nil {
			t.Fatalf("systemd was told nothing: %v", err)
		}
		return string(b[:n])
	}
}

func TestSystemdIsTold(t *testing.T) {
	t.Run("states go to its socket, in the file system and without a name", func(t *testing.T) {
		for _, socket := range []string{filepath.Join(t.TempDir(), "notify"), "@edigw-test-" + strconv.Itoa(os.Getpid())} {
			_, told := listensAs(t, socket)
			m := newSystemd(lookup([]string{"NOTIFY_SOCKET=" + socket}), slog.New(slog.DiscardHandler))
			m.tell("READY=1")
			if got := told(); got != "READY=1" {
				t.Errorf("%s was told %q", socket, got)
			}
		}
	})
	t.Run("the watchdog is for the process that it names", func(t *testing.T) {
		for env, want := range map[string]time.Duration{
			"WATCHDOG_PID=" + strconv.Itoa(os.Getpid()): time.Minute,
			"WATCHDOG_PID=1": 0,
			"NONE=":          time.Minute,
		} {
			if m := newSystemd(lookup([]string{"WATCHDOG_USEC=60000000", env}), nil); m.watchdog != want {
				t.Errorf("%s: %s, want %s", env, m.watchdog, want)
			}
		}
	})
	t.Run("it hears of a gateway that answers itself, and not of one that does not", func(t *testing.T) {
		g := serveGateway(t)
		socket := filepath.Join(t.TempDir(), "notify")
		_, told := listensAs(t, socket)
		m := systemd{socket: socket, watchdog: 200 * time.Millisecond, log: slog.New(slog.DiscardHandler)}
		go m.watch(t.Context(), g.at)
		for range 2 {
			if got := told(); got != "WATCHDOG=1" {
				t.Errorf("it was told %q", got)
			}
		}
		if _, err := health(t.Context(), localAccess{URL: "http://127.0.0.1:1"}, "/livez"); err == nil {
			t.Error("a gateway that is not there is well")
		}
	})
}
