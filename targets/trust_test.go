package targets

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/edigw/edigw/outbox"
)

// issued is a certificate of its own issuer for this machine, in PEM, and its key.
func issued(t *testing.T) (certificate, key string, pair tls.Certificate) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "here"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certificate = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	key = string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text}))
	if pair, err = tls.X509KeyPair([]byte(certificate), []byte(key)); err != nil {
		t.Fatal(err)
	}
	return certificate, key, pair
}

func TestAWebhookOfAnIssuerOfItsOwn(t *testing.T) {
	ca, _, pair := issued(t)
	other, _, _ := issued(t)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	s.StartTLS()
	defer s.Close()
	guard, err := NewGuard([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, ca string
		taken    bool
	}{
		{"is trusted where the subscription names him", ca, true},
		{"is not where it does not", "", false},
		{"is not where it names another", other, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &Webhook{URL: s.URL, CA: c.ca, Timeout: 5 * time.Second, Guard: guard, Now: time.Now}
			sink, err := w.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer sink.Close()
			if _, _, err := sink.Send(t.Context(), []*outbox.Record{record()}); (err == nil) != c.taken {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestKafkaBrokersOfAnIssuerOfTheirOwn(t *testing.T) {
	ca, _, pair := issued(t)
	ours, key, _ := issued(t)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(ours))
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool})
	if err != nil {
		t.Fatal(err)
	}
	shaken := make(chan error)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			shaken <- errors.Join(conn.(*tls.Conn).HandshakeContext(context.Background()), conn.Close())
		}
	}()
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	guard, err := NewGuard([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		spec  outbox.KafkaSpec
		taken bool
	}{
		{"we are known by our certificate", outbox.KafkaSpec{CA: ca, Certificate: ours, Key: "kafka"}, true},
		{"without it we are not", outbox.KafkaSpec{CA: ca}, false},
		{"without their issuer they are not", outbox.KafkaSpec{Certificate: ours, Key: "kafka"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.spec.Brokers, c.spec.Topic, c.spec.TLS = []string{l.Addr().String()}, "edi", true
			k := &Kafka{Spec: c.spec, Guard: guard, Secret: func(name string) (string, error) { return map[string]string{"kafka": key}[name], nil }}
			sink, err := k.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer sink.Close()
			conn, err := k.dial(t.Context(), "tcp", l.Addr().String())
			if err == nil {
				defer func() { _ = conn.Close() }() // the broker has ended it
			}
			if broker := <-shaken; (err == nil && broker == nil) != c.taken {
				t.Errorf("we: %v; the broker: %v", err, broker)
			}
		})
	}
	t.Run("a key that is none is told when it is opened", func(t *testing.T) {
		k := &Kafka{Spec: outbox.KafkaSpec{Brokers: []string{"kafka.example:9093"}, Topic: "edi", TLS: true, Certificate: ours, Key: "kafka"}, Guard: guard,
			Secret: func(string) (string, error) { return "hunter2", nil }}
		if _, err := k.Open(); err == nil || !strings.Contains(err.Error(), "secret kafka") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v", err)
		}
	})
}

func TestAMailServerOfAnIssuerOfItsOwn(t *testing.T) {
	ca, _, pair := issued(t)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			takeMail(conn, func(string, string) string { return "250 ok" })
		}
	}()
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, c := range []struct {
		ca    string
		taken bool
	}{{ca, true}, {"", false}} {
		sink := mailTo(t, l.Addr().String(), func(m *Mail) { m.Spec.TLS, m.Spec.CA = "tls", c.ca })
		if _, _, err := sink.Send(t.Context(), []*outbox.Record{record()}); (err == nil) != c.taken {
			t.Errorf("with issuer %t: %v", c.ca != "", err)
		}
	}
}
