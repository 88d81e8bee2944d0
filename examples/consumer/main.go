// Command consumer is a downstream service that takes invoices from edigw into a
// ledger of its own, each once: an example to begin from, with nothing of edigw
// imported.
//
// edigw tells of an event at least once, under one id. The whole trick is in
// consume.go: the id is kept in the transaction of what the event causes, so that
// both are there or neither is, and an id that is there already causes nothing.
// feed.go asks the pull feed and keeps its place in the same transactions;
// webhook.go is told instead, and verifies who tells (Standard Webhooks 1.0.0).
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const usage = `consumer takes invoices from edigw into the table payable. It is set up by its environment:

  DATABASE_URL      its own PostgreSQL
  EDIGW_API         edigw's operations listener, like http://127.0.0.1:8081
  EDIGW_TOKEN       a token with the role viewer
  LISTEN            where webhooks are told, like 127.0.0.1:9000; without it the feed is asked
  WEBHOOK_SECRETS   the webhook's secrets, separated by blanks: two while one replaces the other
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Getenv); err != nil {
		slog.Error("consumer ends", "err", err)
		os.Exit(1)
	}
}

// run takes events until ctx ends.
func run(ctx context.Context, env func(string) string) error {
	for _, needed := range []string{"DATABASE_URL", "EDIGW_API", "EDIGW_TOKEN"} {
		if env(needed) == "" {
			return fmt.Errorf("%s is not set\n%s", needed, usage)
		}
	}
	pool, err := pgxpool.New(ctx, env("DATABASE_URL"))
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := prepare(ctx, pool); err != nil {
		return err
	}
	gateway := &gateway{url: env("EDIGW_API"), token: env("EDIGW_TOKEN"), http: &http.Client{Timeout: time.Minute}}
	c := &consumer{pool: pool, document: gateway.document}
	if env("LISTEN") == "" {
		slog.Info("asking the feed", "at", gateway.url)
		return follow(ctx, c, gateway)
	}
	secrets, err := readSecrets(env("WEBHOOK_SECRETS"))
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", env("LISTEN"))
	if err != nil {
		return err
	}
	slog.Info("being told", "at", ln.Addr())
	server := &http.Server{Handler: &webhook{consumer: c, secrets: secrets, now: time.Now}, ReadTimeout: time.Minute}
	unhook := context.AfterFunc(ctx, func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_ = server.Shutdown(last) // what it cuts off is told again
	})
	defer unhook()
	if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
