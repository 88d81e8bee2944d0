package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/lease"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/targets"
)

// workFlags say what this process does after COMMIT.
type workFlags struct {
	Workers            int           `setting:"" default:"2" placeholder:"N" help:"Deferred messages processed at once; 0 leaves them to other processes."`
	WorkLease          time.Duration `setting:"" default:"30s" placeholder:"TIME" help:"How long a message or document that a process has taken is left alone after that process was last heard of."`
	AcknowledgementDir string        `setting:"" placeholder:"DIR" help:"Folder into which functional acknowledgements are put, of partners with acknowledge_by: folder."`
	HandOverDir        string        `setting:"" placeholder:"DIR" help:"Folder into which posted documents are put as JSON, of partners with hand_over: folder."`
}

const shortestLease = time.Second

// prepareWork makes the workers, and the gateway's way to wake them. They are
// started last.
func (s *started) prepareWork(c workFlags, g *gateway.Gateway) error {
	if c.Workers < 0 || c.WorkLease != 0 && c.WorkLease < shortestLease {
		return usage("--workers must be 0 or more and --work-lease %v or more", shortestLease)
	}
	if c.Workers > 0 {
		w := &lease.Workers{Source: g.Deferred(), Count: c.Workers, Term: c.WorkLease, Log: s.log}
		g.Wake = w.Wake
		s.workers = append(s.workers, w)
	}
	if c.HandOverDir == "" {
		return nil
	}
	reached := func(point string) {
		if g.Hook != nil {
			g.Hook(point)
		}
	}
	folder := &targets.Folder{Dir: c.HandOverDir, Content: handedOver(documents.Store{Pool: s.database.pool}), Hook: reached}
	if err := folder.Open(); err != nil {
		return fmt.Errorf("the folder for documents that are handed over: %w", err)
	}
	relay := &outbox.Relay{Pool: s.database.pool, Target: folder.Target(), NewID: g.NewID, Log: s.log, Hook: reached}
	s.workers = append(s.workers, &lease.Workers{Source: relay.Source(), Count: 1, Term: c.WorkLease, Log: s.log})
	return nil
}

// handingOver names the partners whose documents are handed over to a folder.
func handingOver(list []*partners.Partner) (ids []string) {
	for _, p := range list {
		if p.Policy.HandOver == targets.FolderName {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// document is a document as it is handed over.
type documentHandedOver struct {
	Event    uuid.UUID         `json:"event_id"` // the same each time it is handed over
	Type     string            `json:"type"`
	Time     time.Time         `json:"time"`
	Document *documents.Stored `json:"document"`
}

// handedOver gives what a file of a posted document holds.
func handedOver(store documents.Store) func(context.Context, *outbox.Step) ([]byte, error) {
	return func(ctx context.Context, s *outbox.Step) ([]byte, error) {
		var of struct {
			Document uuid.UUID `json:"document_id"`
		}
		if err := json.Unmarshal(s.Body, &of); err != nil {
			return nil, fmt.Errorf("event %s: %w", s.Event, err)
		}
		d, err := store.Get(ctx, s.Partner, of.Document)
		if err != nil {
			return nil, err
		}
		return jsonLines(documentHandedOver{s.Event, s.Type, s.At.UTC(), d})
	}
}

// startWork starts what prepareWork made.
func (s *started) startWork() {
	for _, w := range s.workers {
		w.Start()
	}
	if s.runner != nil {
		s.runner.Start()
	}
}

// stopWork takes nothing more, and waits for what is being done as long as ctx.
func (s *started) stopWork(ctx context.Context) {
	for _, w := range s.workers {
		w.Stop(ctx)
	}
	if s.runner != nil {
		s.runner.Stop(ctx)
	}
}
