package embeddedpg_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
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
)

// gateway is the body of the process that TestKilledGateway kills: a server
// without anybody to stop it.
func gateway(dir string) {
	pg, err := embeddedpg.Start(context.Background(), embeddedpg.Options{DataDir: dir})
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	fmt.Println(pg.Pid(), pg.URL())
	select {}
}

// client is the body of a process that has its backend compute for minutes.
func client(url string) {
	conn, err := pgx.Connect(context.Background(), url)
	if err == nil {
		_, err = conn.Exec(context.Background(), `select count(*) from generate_series(1, 100000) a, generate_series(1, 100000) b`)
	}
	fmt.Println(err)
	os.Exit(1)
}

func TestKilledGateway(t *testing.T) {
	dir := pgtest.Cluster(t)
	for round := range 3 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "EMBEDDEDPG_TEST_GATEWAY="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.Fields(line)[0])
		if err != nil {
			t.Fatalf("the gateway says %q", line)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("a killed gateway ended well")
		}
		if round < 2 {
			continue // start again at once, while the old postgres is stopping
		}
		// Nobody waits for the orphan: it is gone, or a zombie without command line.
		for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
			cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			if errors.Is(err, os.ErrNotExist) || err == nil && len(cmdline) == 0 {
				break
			}
			if time.Since(begun) > 10*time.Second {
				t.Fatalf("postgres %d lives on after its gateway was killed", pid)
			}
		}
	}
	start(t, embeddedpg.Options{DataDir: dir})
}

func TestStalePid(t *testing.T) {
	dir := pgtest.Cluster(t)
	pg := start(t, embeddedpg.Options{DataDir: dir, Unsafe: true})
	stop(t, pg)
	data := filepath.Join(dir, "data")
	st, err := os.Stat(data)
	if err != nil {
		t.Fatal(err)
	}
	owner := st.Sys().(*syscall.Stat_t)

	t.Run("its number belongs to another process of the same user now", func(t *testing.T) {
		sleep := exec.Command("sleep", "60")
		sleep.SysProcAttr = &syscall.SysProcAttr{}
		if os.Geteuid() == 0 {
			sleep.SysProcAttr.Credential = &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}
		}
		if err := sleep.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := sleep.Process.Kill(); err != nil {
				t.Error(err)
			}
			_ = sleep.Wait() // killed
		})
		stale(t, data, sleep.Process.Pid, owner)
		stop(t, start(t, embeddedpg.Options{DataDir: dir, Unsafe: true}))
	})

	t.Run("its number is free", func(t *testing.T) {
		gone := exec.Command("true")
		if err := gone.Run(); err != nil {
			t.Fatal(err)
		}
		stale(t, data, gone.Process.Pid, owner)
		stop(t, start(t, embeddedpg.Options{DataDir: dir, Unsafe: true}))
	})

	t.Run("a postgres of this cluster that does not stop is left alone", func(t *testing.T) {
		// What an operator does by hand: its argument is our data folder.
		foreign := exec.Command("sh", "-c", "sleep 60", "-D", data)
		if err := foreign.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := foreign.Process.Kill(); err != nil {
				t.Error(err)
			}
			_ = foreign.Wait() // killed
		})
		stale(t, data, foreign.Process.Pid, owner)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		_, err := embeddedpg.Start(ctx, embeddedpg.Options{DataDir: dir, Unsafe: true})
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), strconv.Itoa(foreign.Process.Pid)) {
			t.Errorf("got %v, want a wait for process %d that ends with the context", err, foreign.Process.Pid)
		}
		if _, err := os.Stat(filepath.Join(data, "postmaster.pid")); err != nil {
			t.Errorf("its postmaster.pid was taken away: %v", err)
		}
	})
}

// stale writes what a postgres that was killed leaves: postmaster.pid and the
// lock of its socket.
func stale(t *testing.T, data string, pid int, owner *syscall.Stat_t) {
	t.Helper()
	run := filepath.Join(filepath.Dir(data), "run")
	for file, text := range map[string]string{
		filepath.Join(data, "postmaster.pid"):    fmt.Sprintf("%d\n%s\n%d\n5432\n%s\n\n  0  0\nready   \n", pid, data, time.Now().Unix(), run),
		filepath.Join(run, ".s.PGSQL.5432.lock"): fmt.Sprintf("%d\n%s\n%d\n5432\n%s\n", pid, data, time.Now().Unix(), run),
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(file, int(owner.Uid), int(owner.Gid)); err != nil {
			t.Fatal(err)
		}
	}
}
