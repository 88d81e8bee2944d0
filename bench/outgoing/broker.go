package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// broker is Apache Kafka: one process that is broker and controller (KRaft).
type broker struct {
	jars, dir, address string
	child              *child
}

// newBroker formats its storage.
func newBroker(jars, dir string) (*broker, error) {
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	jars, err = filepath.Abs(filepath.Join(jars, "kafka"))
	if err != nil {
		return nil, err
	}
	b := &broker{jars: jars, dir: filepath.Join(dir, "kafka"), address: fmt.Sprintf("127.0.0.1:%d", ports[0])}
	if err := os.Mkdir(b.dir, 0o700); err != nil {
		return nil, err
	}
	properties := strings.NewReplacer("BROKER", b.address, "CONTROLLER", fmt.Sprintf("127.0.0.1:%d", ports[1]), "DIR", filepath.Join(b.dir, "log")).Replace(`
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@CONTROLLER
listeners=PLAINTEXT://BROKER,CONTROLLER://CONTROLLER
controller.listener.names=CONTROLLER
log.dirs=DIR
offsets.topic.replication.factor=1
auto.create.topics.enable=false
`)
	if err := os.WriteFile(b.properties(), []byte(properties), 0o600); err != nil {
		return nil, err
	}
	format := exec.Command("java", "-Xmx256m", "-cp", b.jars+"/*", "kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", b.properties())
	if out, err := format.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("format Kafka's storage: %w\n%s", err, out)
	}
	return b, nil
}

func (b *broker) properties() string { return filepath.Join(b.dir, "server.properties") }

// start runs it and waits until it answers.
func (b *broker) start(ctx context.Context) (err error) {
	b.child, err = startChild(filepath.Join(b.dir, "out"), "java", "-Xmx512m", "-cp", b.jars+"/*", "kafka.Kafka", b.properties())
	if err != nil {
		return err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(b.address))
	if err != nil {
		return err
	}
	defer client.Close()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if err = client.Ping(ctx); err == nil {
			return nil
		}
		if b.child.ended() {
			return fmt.Errorf("the broker ended: %s", b.child.output())
		}
	}
	return fmt.Errorf("the broker does not answer after two minutes: %w\n%s", err, b.child.output())
}

func (b *broker) kill() error {
	if b.child == nil {
		return nil
	}
	return b.child.kill()
}

// create makes a topic.
func (b *broker) create(ctx context.Context, topic string) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(b.address))
	if err != nil {
		return err
	}
	defer client.Close()
	request := kmsg.NewPtrCreateTopicsRequest()
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = topic, 4, 1
	request.Topics = append(request.Topics, t)
	answer, err := request.RequestWith(ctx, client)
	if err != nil {
		return err
	}
	for _, t := range answer.Topics {
		if t.ErrorCode != 0 {
			return fmt.Errorf("create topic %s: error %d", t.Topic, t.ErrorCode)
		}
	}
	return nil
}

// read gives what arrived in a topic: partition by partition, each in its order.
func (b *broker) read(ctx context.Context, topic string) (list []arrival, err error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(b.address), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	for {
		quiet, cancel := context.WithTimeout(ctx, 5*time.Second)
		fetches := client.PollFetches(quiet)
		cancel()
		if fetches.NumRecords() == 0 {
			if err := fetches.Err0(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
				return nil, err
			}
			return list, nil
		}
		for it := fetches.RecordIter(); !it.Done(); {
			r := it.Next()
			a, err := arrivalOf(r.Value)
			if err != nil {
				return nil, err
			}
			if a.Partner != string(r.Key) {
				return nil, fmt.Errorf("event %s of %s stands under the key %s", a.ID, a.Partner, r.Key)
			}
			list = append(list, a)
		}
	}
}

// freePorts gives ports that nobody listens on.
func freePorts(n int) (ports []int, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }() // it has only shown a port
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
