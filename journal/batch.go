package journal

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Batch writes journal rows of plain duplicates after their answer has left, a
// batch a second: a crash may lose a second of them, never anything else.
type Batch struct {
	Pool  Batcher
	Log   *slog.Logger
	Every time.Duration                 // 0 is one second
	Also  func(*pgx.Batch, []*Delivery) // queued with the rows: the keys' last delivery

	mu      sync.Mutex
	pending []*Delivery
	dropped int
	stop    chan struct{}
	done    chan struct{}
	giveUp  context.CancelFunc // of the flush that is running
}

// lastFlush bounds the flush of Stop, and any that runs then: the database may
// hang.
const lastFlush = 5 * time.Second

// maxPending bounds the rows kept while the database does not answer.
const maxPending = 20_000

// Start runs the writer until Stop.
func (w *Batch) Start() {
	w.stop, w.done = make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	w.giveUp = cancel
	every := w.Every
	if every == 0 {
		every = time.Second
	}
	go func() {
		defer close(w.done)
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				w.Flush(ctx)
			case <-w.stop:
				w.Flush(ctx)
				return
			}
		}
	}()
}

// Stop writes what is left and ends the writer, within some seconds.
func (w *Batch) Stop() {
	close(w.stop)
	late := time.AfterFunc(lastFlush, w.giveUp)
	<-w.done
	late.Stop()
	w.giveUp()
}

// Add takes rows to be written soon. It never waits for the database.
func (w *Batch) Add(ds ...*Delivery) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.pending)+len(ds) > maxPending {
		w.dropped += len(ds)
		return
	}
	w.pending = append(w.pending, ds...)
}

// Flush writes what waits now.
func (w *Batch) Flush(ctx context.Context) {
	w.mu.Lock()
	ds, dropped := w.pending, w.dropped
	w.pending, w.dropped = nil, 0
	w.mu.Unlock()
	if dropped > 0 {
		w.Log.Warn("journal rows of duplicates lost: the database was too slow", "rows", dropped)
	}
	if len(ds) == 0 {
		return
	}
	var b pgx.Batch
	QueueDeliveries(&b, ds)
	if w.Also != nil {
		w.Also(&b, ds)
	}
	if err := w.Pool.SendBatch(ctx, &b).Close(); err != nil {
		w.Log.Warn("journal rows of duplicates not written", "rows", len(ds), "err", err)
	}
}
