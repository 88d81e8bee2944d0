package targets

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/edigw/edigw/outbox"
)

// Kafka writes events to a topic in structured CloudEvents (Kafka protocol binding
// 1.0.2 §3.3). The key is the partner, so that a partner's events stand in one partition
// and in their order. A write counts when all replicas in sync have it; the client's own
// retries write a record once (idempotent producer), ours after a crash may write it
// again under the same id.
type Kafka struct {
	Spec   outbox.KafkaSpec
	Secret func(name string) (string, error)
	Guard  *Guard

	secure *tls.Config // nil: without TLS
	client *kgo.Client
}

// kafkaBatch is how many events are on their way at once for one partner.
const kafkaBatch = 2000

// kafkaTime is how long a batch may take until what is not under way is given up; what
// is under way is waited for, since it may have arrived.
const kafkaTime = 30 * time.Second

// Open makes the client, which connects when there is something to send.
func (k *Kafka) Open() (outbox.Sink, error) {
	opts := []kgo.Opt{
		kgo.SeedBrokers(k.Spec.Brokers...), kgo.DefaultProduceTopic(k.Spec.Topic), kgo.ClientID("edigw"), kgo.Dialer(k.dial),
		kgo.RequiredAcks(kgo.AllISRAcks()), kgo.ProducerLinger(0), kgo.UnknownTopicRetries(2),
		kgo.MaxBufferedRecords(16 * kafkaBatch), kgo.ProducerBatchCompression(kgo.Lz4Compression(), kgo.NoCompression()),
	}
	if k.Spec.TLS {
		var err error
		if k.secure, err = k.identity(); err != nil {
			return outbox.Sink{}, err
		}
	}
	if k.Spec.Mechanism != "" {
		m, err := k.mechanism()
		if err != nil {
			return outbox.Sink{}, err
		}
		opts = append(opts, kgo.SASL(m))
	}
	client, err := kgo.NewClient(opts...)
	if err != nil {
		return outbox.Sink{}, err
	}
	k.client = client
	return outbox.Sink{Send: k.send, Batch: kafkaBatch, Close: client.Close}, nil
}

// identity is by what brokers are known, and we by them.
func (k *Kafka) identity() (*tls.Config, error) {
	c, err := trusting(k.Spec.CA)
	if err != nil {
		return nil, fmt.Errorf("ca: %w", err)
	}
	if k.Spec.Certificate == "" {
		return c, nil
	}
	key, err := k.Secret(k.Spec.Key)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair([]byte(k.Spec.Certificate), []byte(key))
	if err != nil {
		return nil, fmt.Errorf("certificate, and secret %s as its key: %w", k.Spec.Key, err)
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}

func (k *Kafka) mechanism() (sasl.Mechanism, error) {
	password, err := k.Secret(k.Spec.Secret)
	if err != nil {
		return nil, err
	}
	switch k.Spec.Mechanism {
	case "plain":
		return plain.Auth{User: k.Spec.User, Pass: password}.AsMechanism(), nil
	case "scram-sha-256":
		return scram.Auth{User: k.Spec.User, Pass: password}.AsSha256Mechanism(), nil
	case "scram-sha-512":
		return scram.Auth{User: k.Spec.User, Pass: password}.AsSha512Mechanism(), nil
	}
	return nil, fmt.Errorf("there is no mechanism %q", k.Spec.Mechanism)
}

// dial goes where the guard lets it: to the brokers that are named, and to those that
// they name.
func (k *Kafka) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := k.Guard.DialContext(ctx, network, address)
	if err != nil || k.secure == nil {
		return conn, err
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	config := k.secure.Clone()
	config.ServerName = host
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return secure, nil
}

// kafkaContentType is a header of every record.
var kafkaContentType = []byte(outbox.CloudEventType + "; charset=UTF-8")

func (k *Kafka) send(ctx context.Context, batch []*outbox.Record) (int, []outbox.Attempt, error) {
	// No RecordDeliveryTimeout: the client counts it from a record's own time, and that is
	// the event's.
	within, cancel := context.WithTimeout(ctx, kafkaTime)
	defer cancel()
	results := make([]error, len(batch))
	ended := make(chan struct{}, len(batch))
	size := 0
	for _, r := range batch {
		size += len(r.Body) + len(r.Subject) + 320
	}
	values := make([]byte, 0, size) // of all records, one behind the other
	for i, r := range batch {
		from := len(values)
		values = r.AppendCloudEvent(values)
		record := &kgo.Record{Key: []byte(r.Partner), Value: values[from:len(values):len(values)], Timestamp: r.At, Headers: []kgo.RecordHeader{
			{Key: "content-type", Value: kafkaContentType}, {Key: "ce_id", Value: []byte(r.ID.String())}, {Key: "ce_type", Value: []byte(outbox.TypePrefix + r.Type)}}}
		k.client.Produce(within, record, func(_ *kgo.Record, err error) {
			results[i] = err
			ended <- struct{}{}
		})
	}
	for range batch {
		select {
		case <-ended:
		case <-ctx.Done(): // what is under way may arrive; it comes again under the same ids
			return 0, nil, ctx.Err()
		}
	}
	for i, err := range results {
		if err != nil {
			return i, []outbox.Attempt{{Event: batch[i].ID, At: time.Now(), Failure: kafkaFault(err).Error()}}, kafkaFault(err)
		}
	}
	return len(batch), nil, nil
}

// kafkaFault says what an error means: only a record that is too large, or that the
// broker finds invalid or too old, is refused for its content.
func kafkaFault(err error) error {
	switch {
	case errors.Is(err, kerr.MessageTooLarge), errors.Is(err, kerr.RecordListTooLarge), errors.Is(err, kerr.InvalidRecord), errors.Is(err, kerr.InvalidTimestamp):
		return fmt.Errorf("%w: %w", outbox.ErrRefused, err)
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return fmt.Errorf("%w; create the topic, with as many partitions as you want partners side by side", err)
	}
	return err
}
