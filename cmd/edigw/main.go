// Command edigw is the gateway, its command line and its client.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

func main() {
	boundMemory()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks for an orderly end; the second ends at once.
	context.AfterFunc(ctx, stop)
	a := &app{ctx: ctx, hangup: hangup, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, env: os.LookupEnv, environ: os.Environ}
	code := a.end(os.Args[1:])
	stop()
	os.Exit(code)
}

// memoryLimit is the size the heap is held to where GOMEMLIMIT says nothing:
// soft, so that a burst is collected more often and not refused. In bytes.
const memoryLimit = 192 << 20

// growth is how much the heap may grow between collections where GOGC says
// nothing, in per cent of what is in use: below the limit memory is cheaper than
// the eighth of the processor that collecting at 100 takes.
const growth = 300

func boundMemory() {
	if _, given := os.LookupEnv("GOMEMLIMIT"); !given {
		debug.SetMemoryLimit(memoryLimit)
	}
	if _, given := os.LookupEnv("GOGC"); !given {
		debug.SetGCPercent(growth)
	}
}

func hangup() <-chan os.Signal {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGHUP)
	return told
}
