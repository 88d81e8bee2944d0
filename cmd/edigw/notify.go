package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// systemd tells the service manager how the gateway is: sd_notify(3), a datagram to a Unix
// socket. Its zero value tells nobody.
type systemd struct {
	socket   string        // NOTIFY_SOCKET
	watchdog time.Duration // within which it wants to hear of us; 0: never
	log      *slog.Logger
}

// newSystemd reads what the manager has set for this process.
func newSystemd(env func(string) (string, bool), log *slog.Logger) systemd {
	m := systemd{log: log}
	m.socket, _ = env("NOTIFY_SOCKET")
	if pid, given := env("WATCHDOG_PID"); !given || pid == strconv.Itoa(os.Getpid()) {
		if usec, _ := env("WATCHDOG_USEC"); usec != "" {
			if n, err := strconv.ParseInt(usec, 10, 64); err == nil && n > 0 {
				m.watchdog = time.Duration(n) * time.Microsecond
			}
		}
	}
	return m
}

// tell sends one state, such as READY=1. A manager that does not listen is no fault of a
// delivery: it is logged, and the gateway goes on.
func (m systemd) tell(state string) {
	if m.socket == "" {
		return
	}
	if err := m.send(state); err != nil {
		m.log.Warn("systemd was not told", "state", state, "error", err)
	}
}

func (m systemd) send(state string) (err error) {
	name := m.socket
	if strings.HasPrefix(name, "@") { // Linux's abstract namespace
		name = "\x00" + name[1:]
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("NOTIFY_SOCKET: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	_, err = conn.Write([]byte(state))
	return err
}

// watch tells the watchdog that we are well, twice within its time, for as long as the
// operations listener answers /livez: a process that cannot do that is started again. The
// database is not asked: to start again would not mend it.
func (m systemd) watch(ctx context.Context, at localAccess) {
	if m.socket == "" || m.watchdog == 0 {
		return
	}
	t := time.NewTicker(m.watchdog / 2)
	defer t.Stop()
	for {
		asked, cancel := context.WithTimeout(ctx, m.watchdog/2)
		_, err := health(asked, at, "/livez")
		cancel()
		switch {
		case err == nil:
			m.tell("WATCHDOG=1")
		case ctx.Err() == nil:
			m.log.Warn("the gateway does not answer itself, and the watchdog is not told that it is well", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}
