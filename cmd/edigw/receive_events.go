package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/edigw/edigw/targets"
)

// subscriptionsReceive is a receiver to try a webhook with before there is one: it does
// what each has to, but keeps nothing.
type subscriptionsReceive struct {
	Secret string `arg:"" placeholder:"FILE" help:"File with the webhook's secret."`
	Listen string `default:"127.0.0.1:9000" placeholder:"ADDRESS" help:"Where it listens."`
	Answer int    `default:"204" placeholder:"STATUS" help:"What it answers to events whose signature is right: 503 to see them come again, 422 to see one set aside."`
	Output string `short:"o" enum:"table,json" default:"table" help:"A line an event, or the events as they come."`
}

// maxEvent bounds an event that is received, in bytes.
const maxEvent = 1 << 20

func (c *subscriptionsReceive) Run(a *app) error {
	secret, err := os.ReadFile(c.Secret)
	if err != nil {
		return fmt.Errorf("%w; `edigw subscriptions secret > %s` makes one", err, c.Secret)
	}
	if c.Answer < 200 || c.Answer > 599 {
		return usage("--answer must be a status from 200 to 599, not %d", c.Answer)
	}
	ln, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("%w; --listen names another address", err)
	}
	log := a.logger("text", "info")
	s := &http.Server{Handler: c.handler(a, string(secret)), ReadTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ln) }()
	log.Info("ready", "webhook", "http://"+ln.Addr().String()+"/", "answers", c.Answer)
	select {
	case err := <-ended:
		return err
	case <-a.ctx.Done():
		ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), 2*time.Second)
		defer cancel()
		err := s.Shutdown(ctx)
		if e := <-ended; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
		return err
	}
}

// handler shows each event whose signature is right, and answers.
func (c *subscriptionsReceive) handler(a *app, secret string) http.Handler {
	var showing sync.Mutex
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxEvent))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		showing.Lock()
		defer showing.Unlock()
		if err := targets.Signed(r.Header, body, secret, time.Now()); err != nil {
			a.progress("refused: %v", err)
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		if err := c.show(a, body); err != nil {
			a.progress("%v", err)
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.WriteHeader(c.Answer)
	})
}

func (c *subscriptionsReceive) show(a *app, body []byte) error {
	var e struct {
		ID      string `json:"id"`
		Type    string `json:"type"`
		Subject string `json:"subject"`
		Time    string `json:"time"`
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return fmt.Errorf("what came is no event: %w", err)
	}
	if c.Output == "json" {
		var line bytes.Buffer
		if err := json.Compact(&line, body); err != nil {
			return err
		}
		return a.rawJSON(line.Bytes())
	}
	_, err := fmt.Fprintf(a.stdout, "%s  %s  %s  %s\n", printable(e.Time), printable(e.Type), printable(e.Subject), printable(e.ID))
	return err
}
