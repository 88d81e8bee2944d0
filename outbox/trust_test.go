package outbox_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/outbox"
)

// issuer is a certificate for tests, of an issuer that is nobody.
const issuer = `-----BEGIN CERTIFICATE-----
MIIBdzCCAR2gAwIBAgIUQ+z0wXn2
-----END CERTIFICATE-----
`

func TestSpecsSayWhoIsTrusted(t *testing.T) {
	block := func(typ, content string) string {
		return "-----BEGIN " + typ + "-----\n" + base64.StdEncoding.EncodeToString([]byte(content)) + "\n-----END " + typ + "-----\n"
	}
	webhook := func(address, ca string) outbox.Spec {
		return outbox.Spec{Name: "erp", Webhook: &outbox.WebhookSpec{URL: address, Secrets: []string{"erp"}, CA: ca}}
	}
	kafka := func(k outbox.KafkaSpec) outbox.Spec {
		k.Brokers, k.Topic = []string{"kafka.example:9092"}, "edi"
		return outbox.Spec{Name: "erp", Kafka: &k}
	}
	for _, c := range []struct {
		name string
		spec outbox.Spec
		want string
	}{
		{"text that is no PEM", webhook("https://erp.example/", "ca.pem"), "webhook.ca: must be certificates in PEM"},
		{"a certificate that is none", webhook("https://erp.example/", issuer), "webhook.ca: certificate 1 cannot be read"},
		{"a private key", webhook("https://erp.example/", block("EC PRIVATE KEY", "x")), "webhook.ca: holds a private key"},
		{"a request", webhook("https://erp.example/", block("CERTIFICATE REQUEST", "x")), "webhook.ca: holds CERTIFICATE REQUEST"},
		{"text that no database keeps", webhook("https://erp.example/", "\x00"+block("CERTIFICATE", "x")), "webhook.ca: hold a NUL"},
		{"a user's name that none keeps", kafka(outbox.KafkaSpec{TLS: true, User: "edi\x00", Secret: "kafka"}), "kafka.user: must be a name"},
		{"white space", webhook("https://erp.example/", " \n"), "webhook.ca: holds no certificate"},
		{"more than anybody needs", webhook("https://erp.example/", strings.Repeat(issuer, 1000)), "webhook.ca: are "},
		{"an issuer without TLS", webhook("http://erp.example/", issuer), "webhook.ca: is of no use without TLS"},
		{"brokers' issuer without TLS", kafka(outbox.KafkaSpec{CA: issuer}), "kafka.ca: is of no use without TLS: set tls: true"},
		{"a certificate that is none of ours", kafka(outbox.KafkaSpec{TLS: true, Certificate: issuer, Key: "kafka"}), "kafka.certificate: certificate 1 cannot be read"},
		{"a key without a certificate", kafka(outbox.KafkaSpec{TLS: true, Key: "kafka"}), "kafka.key: certificate and the name of a secret"},
		{"a mail server's issuer without TLS", outbox.Spec{Name: "erp", Mail: &outbox.MailSpec{Server: "mail.example:25", TLS: "none", From: "a@b.example", To: []string{"c@d.example"}, CA: issuer}}, "mail.ca: is of no use without TLS"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if fault, ok := errors.AsType[*outbox.SpecFault](c.spec.Complete()); ok {
				got = fault.Key + ": " + fault.Text
			}
			if !strings.HasPrefix(got, c.want) {
				t.Error(cmp.Diff(c.want, got))
			}
		})
	}
}
