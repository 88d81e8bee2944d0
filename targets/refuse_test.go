package targets

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/outbox"
)

func TestWhatWouldNotBeSentIsRefusedWhenItIsConfigured(t *testing.T) {
	webhook := func(address string) outbox.Spec { return outbox.Spec{Webhook: &outbox.WebhookSpec{URL: address}} }
	mail := func(server string) outbox.Spec { return outbox.Spec{Mail: &outbox.MailSpec{Server: server}} }
	for _, c := range []struct {
		name  string
		allow []string
		spec  outbox.Spec
		key   string // "" is taken
	}{
		{"a public host", nil, webhook("https://erp.example/in"), ""},
		{"a public address", nil, webhook("https://8.8.8.8/in"), ""},
		{"one that anybody on the way could read", nil, webhook("http://erp.example/in"), "webhook.url"},
		{"one that the administrator names", []string{"erp.example"}, webhook("http://erp.example/in"), ""},
		{"a cloud's metadata", nil, webhook("https://169.254.169.254/latest"), "webhook.url"},
		{"a private address as IPv6", nil, webhook("https://[::ffff:10.0.0.1]/"), "webhook.url"},
		{"this machine by name", nil, webhook("https://LOCALHOST./"), "webhook.url"},
		{"a name of this machine", nil, webhook("https://db.localhost/"), "webhook.url"},
		{"this machine by name where its address is allowed", []string{"127.0.0.0/8"}, webhook("https://localhost/"), ""},
		{"a broker in a private network", nil, outbox.Spec{Kafka: &outbox.KafkaSpec{Brokers: []string{"kafka.example:9092", "10.0.0.1:9092"}}}, "kafka.brokers[2]"},
		{"a mail server on this machine", nil, mail("[::1]:25"), "mail.server"},
		{"a mail server on this machine, allowed", []string{"::1"}, mail("[::1]:25"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			guard, err := NewGuard(c.allow)
			if err != nil {
				t.Fatal(err)
			}
			key := ""
			if fault, ok := errors.AsType[*outbox.SpecFault](guard.RefuseSpec(&c.spec)); ok {
				key = fault.Key
			}
			if diff := cmp.Diff(c.key, key); diff != "" {
				t.Error(diff)
			}
		})
	}
}
