//go:build faults

package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
)

// A build with this tag can be told to fail, for the tests in crash/:
//
//	EDIGW_FAULT=point=action[,point=action]   fail when a point is reached
//	EDIGW_FAULT_HANDLER=number                the handler panics on the document of that number; with RG-* on all that begin so
//	EDIGW_FAULT_PATIENCE=duration             how long the database may take for one delivery
//	EDIGW_FAULT_CLOCK=duration                how far the gateway's time is off the database's
//
// Points are those of gateway.Gateway.Hook and, of a request to the ingress,
// "request body" (some of it was read), "response header" (it was sent) and
// "mid body" (half of the response was sent). Actions are kill (SIGKILL, which
// no code sees), exit, panic, and stop:5s (sleep). Each is done once, with *2 behind
// it twice, and told on standard error before.

// fault is what to do at one point, so many times, after it was passed so often.
type fault struct {
	pass, left atomic.Int64
	act        func()
}

type faults map[string]*fault

// withFaults wires the faults that the environment asks for into the gateway and
// its ingress.
func withFaults(a *app, g *gateway.Gateway, ingress http.Handler) http.Handler {
	set := faultsOf(a)
	if len(set) > 0 {
		g.Hook = set.reached
	}
	if number, ok := a.env("EDIGW_FAULT_HANDLER"); ok {
		g.Handlers = failing(g.Handlers, number)
	}
	if text, ok := a.env("EDIGW_FAULT_PATIENCE"); ok {
		d, err := time.ParseDuration(text)
		if err != nil {
			fmt.Fprintf(a.stderr, "edigw: EDIGW_FAULT_PATIENCE: %v\n", err)
			os.Exit(exitUsage)
		}
		g.Patience = d
	}
	if text, ok := a.env("EDIGW_FAULT_CLOCK"); ok {
		d, err := time.ParseDuration(text)
		if err != nil {
			fmt.Fprintf(a.stderr, "edigw: EDIGW_FAULT_CLOCK: %v\n", err)
			os.Exit(exitUsage)
		}
		right := g.Now
		g.Now = func() time.Time { return right().Add(d) }
	}
	return set.handler(ingress)
}

// watchHook fails where the environment asks for it: when a file was "watch taken",
// "watch hashed", "watch answered", its receipt or reason "watch told", and it
// "watch moved" beside it.
func watchHook(a *app) func(point string) { return faultsOf(a).reached }

// faultsOf reads EDIGW_FAULT.
func faultsOf(a *app) faults {
	set := faults{}
	text, ok := a.env("EDIGW_FAULT")
	if !ok {
		return set
	}
	for one := range strings.SplitSeq(text, ",") {
		point, action, _ := strings.Cut(one, "=")
		f, err := faultOf(a, point, action)
		if err != nil {
			fmt.Fprintf(a.stderr, "edigw: EDIGW_FAULT: %v\n", err)
			os.Exit(exitUsage)
		}
		set[point] = f
	}
	return set
}

func faultOf(a *app, point, text string) (*fault, error) {
	text, nth, later := strings.Cut(text, "@")
	text, times, counted := strings.Cut(text, "*")
	act, err := actionOf(text)
	if err != nil {
		return nil, err
	}
	f := &fault{act: func() {
		fmt.Fprintf(a.stderr, "edigw: fault at %s\n", point)
		act()
	}}
	f.left.Store(1)
	if counted {
		n, err := strconv.Atoi(times)
		if err != nil {
			return nil, err
		}
		f.left.Store(int64(n))
	}
	if later {
		n, err := strconv.Atoi(nth)
		if err != nil {
			return nil, err
		}
		f.pass.Store(int64(n) - 1)
	}
	return f, nil
}

func actionOf(text string) (func(), error) {
	name, value, _ := strings.Cut(text, ":")
	switch name {
	case "kill":
		return func() {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // it does not return
			select {}
		}, nil
	case "exit":
		return func() { os.Exit(exitFailed) }, nil
	case "panic":
		return func() { panic("a fault was asked for") }, nil
	case "stop":
		d, err := time.ParseDuration(value)
		return func() { time.Sleep(d) }, err
	}
	return nil, fmt.Errorf("%q is none of kill, exit, panic, stop:DURATION", text)
}

func (f faults) reached(point string) {
	if at := f[point]; at != nil && at.pass.Add(-1) < 0 && at.left.Add(-1) >= 0 {
		at.act()
	}
}

// failing makes every handler panic on the document of that number, or on those
// that begin with what stands before a star.
func failing(handlers []documents.Handler, number string) []documents.Handler {
	begins, many := strings.CutSuffix(number, "*")
	failing := make([]documents.Handler, len(handlers))
	for i, h := range handlers {
		failing[i] = h
		failing[i].Map = func(ic *edi.Interchange, n int, b *edi.Body, by *documents.Reading) (*documents.Document, []*edi.Error) {
			d, errs := h.Map(ic, n, b, by)
			if d != nil && (d.Number == number || many && strings.HasPrefix(d.Number, begins)) {
				panic("a fault was asked for on " + d.Number)
			}
			return d, errs
		}
	}
	return failing
}

// handler fails on the way of a request and its response.
func (f faults) handler(inner http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f["request body"] != nil {
			r.Body = &faultyBody{r.Body, f}
		}
		inner.ServeHTTP(&faultyWriter{w, f}, r)
	})
}

type faultyBody struct {
	io.ReadCloser
	faults faults
}

func (b *faultyBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.faults.reached("request body")
	}
	return n, err
}

type faultyWriter struct {
	http.ResponseWriter
	faults faults
}

// Unwrap is for http.ResponseController.
func (w *faultyWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *faultyWriter) WriteHeader(status int) {
	w.ResponseWriter.WriteHeader(status)
	if w.faults["response header"] != nil {
		w.send()
		w.faults.reached("response header")
	}
}

func (w *faultyWriter) Write(p []byte) (int, error) {
	if w.faults["mid body"] == nil {
		return w.ResponseWriter.Write(p)
	}
	half, err := w.ResponseWriter.Write(p[:len(p)/2])
	if err != nil {
		return half, err
	}
	w.send()
	w.faults.reached("mid body")
	rest, err := w.ResponseWriter.Write(p[half:])
	return half + rest, err
}

// send hands what was written to the network.
func (w *faultyWriter) send() {
	if err := http.NewResponseController(w.ResponseWriter).Flush(); err != nil {
		panic(err)
	}
}
