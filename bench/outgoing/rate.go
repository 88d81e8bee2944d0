package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/targets"
)

// rounds of either, one after the other; the median of the ratios counts.
const (
	rounds   = 3
	relayBar = 0.3
)

// rate measures how many events a second the relay brings from the outbox to Kafka, and
// a bare producer of the same bytes under the same keys and headers with the same settings.
func (r *run) rate(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.open(ctx, partnersYAML); err != nil {
		return err
	}
	if err := r.fill(ctx); err != nil {
		return err
	}
	var ratios []float64
	for n := range rounds {
		bare, err := r.bare(ctx, fmt.Sprint("bare-", n))
		if err != nil {
			return err
		}
		relay, err := r.relay(ctx, fmt.Sprint("relay-", n))
		if err != nil {
			return err
		}
		ratios = append(ratios, relay/bare)
		fmt.Printf("relay %.0f/s, bare producer %.0f/s: %.2f\n", relay, bare, relay/bare)
	}
	r.judgeRatio("relay to Kafka, as a ratio to a bare producer", ratios, relayBar)
	return nil
}

// fill writes the events.
func (r *run) fill(ctx context.Context) error {
	for n := 0; n < r.events; n += 1000 {
		var events []outbox.Event
		for i := range min(1000, r.events-n) {
			events = append(events, event(partnerIDs[i%len(partnerIDs)]))
		}
		var b pgx.Batch
		if err := outbox.QueueEvents(&b, events); err != nil {
			return err
		}
		if err := r.site.Pool.SendBatch(ctx, &b).Close(); err != nil {
			return err
		}
	}
	_, err := r.site.Pool.Exec(ctx, `vacuum analyze outbox`)
	return err
}

// records gives the events as the relay sends them, headers and all.
func (r *run) records(ctx context.Context) (list []*kgo.Record, err error) {
	f := outbox.FeedFilter{Types: outbox.Types, Limit: 5000}
	for {
		page, err := outbox.Feed{Pool: r.site.Pool}.Read(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, e := range page.Events {
			list = append(list, &kgo.Record{Key: []byte(e.Partner), Value: e.AppendCloudEvent(nil), Timestamp: e.At, Headers: []kgo.RecordHeader{
				{Key: "content-type", Value: []byte(outbox.CloudEventType + "; charset=UTF-8")}, {Key: "ce_id", Value: []byte(e.ID.String())}, {Key: "ce_type", Value: []byte(outbox.TypePrefix + e.Type)}}})
		}
		if f.After = page.Next; !page.More {
			return list, nil
		}
	}
}

func (r *run) bare(ctx context.Context, topic string) (float64, error) {
	if err := r.broker.create(ctx, topic); err != nil {
		return 0, err
	}
	list, err := r.records(ctx)
	if err != nil {
		return 0, err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(r.broker.address), kgo.DefaultProduceTopic(topic), kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.ProducerBatchCompression(kgo.Lz4Compression(), kgo.NoCompression()))
	if err != nil {
		return 0, err
	}
	defer client.Close()
	if err := client.Ping(ctx); err != nil {
		return 0, err
	}
	began := time.Now()
	if err := client.ProduceSync(ctx, list...).FirstErr(); err != nil {
		return 0, err
	}
	return float64(len(list)) / time.Since(began).Seconds(), nil
}

func (r *run) relay(ctx context.Context, topic string) (float64, error) {
	if err := r.broker.create(ctx, topic); err != nil {
		return 0, err
	}
	if err := r.subscribe(ctx, outbox.Spec{Name: topic, From: outbox.FromBeginning, Kafka: &outbox.KafkaSpec{Brokers: []string{r.broker.address}, Topic: topic}}); err != nil {
		return 0, err
	}
	guard, err := targets.NewGuard([]string{"127.0.0.1"})
	if err != nil {
		return 0, err
	}
	sent, done := make(chan int, 1024), make(chan struct{})
	runner := &outbox.Runner{Pool: r.site.Pool, Log: slog.New(slog.DiscardHandler), NewID: func() uuid.UUID { return uuid.Must(uuid.NewV7()) },
		Partners: func() []string { return partnerIDs }, Sent: func(_, _ string, n int) { sent <- n },
		Open: func(s outbox.Spec) (outbox.Sink, error) {
			if s.Name != topic {
				return outbox.Sink{}, errors.New("of an earlier round")
			}
			k := &targets.Kafka{Spec: *s.Kafka, Guard: guard}
			return k.Open()
		}}
	go func() {
		defer close(done)
		for n := 0; n < r.events; {
			select {
			case k := <-sent:
				n += k
			case <-ctx.Done():
				return
			}
		}
	}()
	began := time.Now()
	runner.Start()
	<-done
	took := time.Since(began)
	runner.Stop(ctx)
	return float64(r.events) / took.Seconds(), ctx.Err()
}
