package lease

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// Workers take and do pieces of a Source until they are stopped.
type Workers struct {
	Source Source
	Count  int           // at once
	Term   time.Duration // of a lease; 0 is 30 seconds
	Poll   time.Duration // how often it is asked what is due where nobody woke them; 0 is a second
	Log    *slog.Logger

	turns turns
	wake  chan struct{}
	stop  chan struct{} // closed: nothing more is taken
	ended sync.WaitGroup
	ctx   context.Context
	abort context.CancelCauseFunc
}

const (
	defaultTerm = 30 * time.Second
	defaultPoll = time.Second
	returnTime  = 5 * time.Second // for giving a piece back when the process stops
)

// ErrLost: the lease of a piece ran out and was taken by somebody else.
var ErrLost = errors.New("the lease was lost")

// errStopping ends what is being done when the process may wait no longer.
var errStopping = errors.New("the process stops")

// Start starts the workers.
func (w *Workers) Start() {
	if w.Term == 0 {
		w.Term = defaultTerm
	}
	if w.Poll == 0 {
		w.Poll = defaultPoll
	}
	w.wake, w.stop = make(chan struct{}, 1), make(chan struct{})
	w.ctx, w.abort = context.WithCancelCause(context.Background())
	for range w.Count {
		w.ended.Go(w.run)
	}
}

// Wake tells a worker that something has become due in this process. It never
// waits, and workers that were not started do not hear it.
func (w *Workers) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Stop takes nothing more, and waits until what is being done has ended. When ctx
// ends before, it is broken off and given back.
func (w *Workers) Stop(ctx context.Context) {
	if w.stop == nil {
		return
	}
	close(w.stop)
	done := make(chan struct{})
	go func() {
		w.ended.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		w.abort(errStopping)
		<-done
	}
	w.abort(nil)
}

func (w *Workers) run() {
	for {
		if w.stopped() {
			return
		}
		piece, partner := w.take()
		if piece == nil {
			if !w.wait() {
				return
			}
			continue
		}
		w.do(piece)
		w.turns.done(partner, false)
	}
}

// wait until something may be due; false: no more.
func (w *Workers) wait() bool {
	t := time.NewTimer(w.Poll)
	defer t.Stop()
	select {
	case <-w.stop:
		return false
	case <-t.C:
	case <-w.wake:
		w.turns.forget()
	}
	return true
}

// take takes a piece of the partner whose turn it is; nil where nothing can be
// taken. It asks once what is due: a piece may be due and yet be nobody's to take,
// while a transaction that ends it lasts beyond its lease.
func (w *Workers) take() (Piece, string) {
	ask := w.Source.Due
	once := func(ctx context.Context) ([]string, error) {
		began := time.Now()
		due, err := ask(ctx)
		ask = func(context.Context) ([]string, error) { return nil, nil }
		if err == nil {
			w.turns.took(time.Since(began))
		}
		return due, err
	}
	for !w.stopped() {
		partner, err := w.turns.next(w.ctx, w.Poll, once)
		if err != nil {
			w.Log.Error("what is due is not known", "work", w.Source.Name, "err", err)
			return nil, ""
		}
		if partner == "" {
			return nil, ""
		}
		piece, err := w.Source.Take(w.ctx, partner, w.Term)
		if err == nil && piece != nil {
			return piece, partner
		}
		w.turns.done(partner, true)
		if err != nil {
			w.Log.Error("nothing could be taken", "work", w.Source.Name, "partner", partner, "err", err)
			return nil, ""
		}
	}
	return nil, ""
}

func (w *Workers) stopped() bool {
	select {
	case <-w.stop:
		return true
	default:
		return w.ctx.Err() != nil
	}
}

// do does a piece, renewing its lease meanwhile.
func (w *Workers) do(p Piece) {
	ctx, cancel := context.WithCancelCause(w.ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() { w.renew(ctx, p, cancel) })
	err := p.Do(ctx)
	lost := errors.Is(err, ErrLost) || errors.Is(context.Cause(ctx), ErrLost)
	cancel(nil)
	renewing.Wait()
	switch {
	case err == nil:
	case lost:
		w.Log.Warn("another worker has taken it", "work", w.Source.Name, "piece", p)
	case w.ctx.Err() != nil:
		back, cancel := context.WithTimeout(context.Background(), returnTime)
		defer cancel()
		if err := p.Return(back); err != nil {
			w.Log.Error("not given back: it is taken when its lease runs out", "work", w.Source.Name, "piece", p, "err", err)
		}
	}
}

// renew makes the lease last until ctx ends. Where that fails the work goes on:
// whether the lease was kept is asked again when it ends.
func (w *Workers) renew(ctx context.Context, p Piece, cancel context.CancelCauseFunc) {
	t := time.NewTicker(w.Term / 3)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		kept, err := p.Renew(ctx, w.Term)
		switch {
		case err != nil && ctx.Err() == nil:
			w.Log.Warn("a lease was not renewed", "work", w.Source.Name, "piece", p, "err", err)
		case err == nil && !kept:
			cancel(ErrLost)
			return
		}
	}
}
