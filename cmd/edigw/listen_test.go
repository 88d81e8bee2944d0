package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// buffer is a log that may be written while it is read.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// served is a listener that serves until it is stopped.
type served struct {
	*listener
	log    *buffer
	failed chan error
}

// serveFor serves h, and TLS if it is given a certificate and its key.
func serveFor(t *testing.T, h http.Handler, files ...string) *served {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	s := &served{log: &buffer{}, failed: make(chan error, 1)}
	files = append(files, "", "")
	l, err := listen("--listen", "127.0.0.1:0", h, files[0], files[1], slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	s.listener = l
	l.serve(s.failed)
	t.Cleanup(func() {
		if err := s.stop(within(t, 5*time.Second)); err != nil {
			t.Error(err)
		}
		goleak.VerifyNone(t, leaks)
	})
	return s
}

// within is a context that ends after d.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// selfSigned writes a self-signed certificate for name and its key.
func selfSigned(t *testing.T, dir, name string) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeText(t, certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	writeText(t, keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
	return certFile, keyFile
}

func writeText(t *testing.T, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// shownTo makes a TLS connection and gives the server's name in its certificate.
func shownTo(t *testing.T, s *served, c *tls.Config) (string, error) {
	t.Helper()
	c.InsecureSkipVerify = true // the test looks at the certificate itself
	conn, err := tls.Dial("tcp", s.socket.Addr().String(), c)
	if err != nil {
		return "", err
	}
	name := conn.ConnectionState().PeerCertificates[0].Subject.CommonName
	return name, conn.Close()
}

func TestListenTLS(t *testing.T) {
	t.Run("TLS begins at 1.2", func(t *testing.T) {
		certFile, keyFile := selfSigned(t, t.TempDir(), "gw")
		s := serveFor(t, http.NotFoundHandler(), certFile, keyFile)
		if _, err := shownTo(t, s, &tls.Config{MaxVersion: tls.VersionTLS12}); err != nil {
			t.Error(err)
		}
		if _, err := shownTo(t, s, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}); err == nil {
			t.Error("TLS 1.1 is taken")
		}
		if strings.Contains(s.log.String(), "level=ERROR") {
			t.Errorf("a broken handshake is logged as an error: %s", s.log)
		}
	})

	t.Run("while a file system is slow, others shake hands with what there is", func(t *testing.T) {
		certFile, keyFile := selfSigned(t, t.TempDir(), "first")
		c, err := loadCertificate(certFile, keyFile, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		later := time.Now().Add(certificateEvery)
		c.now = func() time.Time { return later }
		asked, answer, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
		c.stat = func(name string) (fs.FileInfo, error) {
			if name == certFile {
				close(asked)
				<-answer
			}
			return os.Stat(name)
		}
		go func() {
			defer close(done)
			if _, err := c.get(nil); err != nil {
				t.Error(err)
			}
		}()
		<-asked
		if got, err := c.get(nil); err != nil || got.Leaf.Subject.CommonName != "first" { // it waited for the first
			t.Errorf("%v", err)
		}
		close(answer)
		<-done
	})
	t.Run("a new certificate is taken when its files change, a broken one is not", func(t *testing.T) {
		dir := t.TempDir()
		certFile, keyFile := selfSigned(t, dir, "first")
		var log buffer
		c, err := loadCertificate(certFile, keyFile, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		clock := time.Now()
		c.now = func() time.Time { return clock }
		name := func() string {
			t.Helper()
			got, err := c.get(nil)
			if err != nil {
				t.Fatal(err)
			}
			return got.Leaf.Subject.CommonName
		}
		stamp := func(files ...string) { // a file system's clock may stand still between two writes
			clock = clock.Add(certificateEvery)
			for _, f := range files {
				if err := os.Chtimes(f, clock, clock); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := name(); got != "first" {
			t.Errorf("got %s", got)
		}

		otherCert, otherKey := selfSigned(t, t.TempDir(), "second")
		replace := func(to, from string) {
			t.Helper()
			b, err := os.ReadFile(from)
			if err != nil {
				t.Fatal(err)
			}
			writeText(t, to, b)
		}
		replace(certFile, otherCert) // and its key not yet
		stamp(certFile)
		for range 3 {
			clock = clock.Add(certificateEvery)
			if got := name(); got != "first" {
				t.Errorf("got %s", got)
			}
		}
		if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
			t.Errorf("%d errors are logged for one broken pair", n)
		}
		replace(keyFile, otherKey)
		if got := name(); got != "first" {
			t.Errorf("the files are looked at again within %v", certificateEvery)
		}
		stamp(keyFile)
		if got := name(); got != "second" {
			t.Errorf("got %s", got)
		}
		if err := os.Remove(keyFile); err != nil {
			t.Fatal(err)
		}
		clock = clock.Add(certificateEvery)
		if got := name(); got != "second" {
			t.Errorf("got %s", got)
		}
	})

	t.Run("what cannot be served is said at once", func(t *testing.T) {
		certFile, keyFile := selfSigned(t, t.TempDir(), "gw")
		s := serveFor(t, http.NotFoundHandler())
		for _, c := range []struct{ address, certFile, keyFile, says string }{
			{"127.0.0.1:0", certFile, "", "together"},
			{"127.0.0.1:0", certFile, certFile, "read certificate"},
			{"127.0.0.1:0", certFile + "x", keyFile, "no such file"},
			{s.socket.Addr().String(), "", "", "--listen " + s.socket.Addr().String()},
			{"127.0.0.1:not-a-port", "", "", "--listen 127.0.0.1:not-a-port"},
		} {
			l, err := listen("--listen", c.address, nil, c.certFile, c.keyFile, slog.Default())
			if err == nil {
				t.Errorf("%+v: no error", c)
				err = l.stop(within(t, time.Second))
			}
			if !strings.Contains(fmt.Sprint(err), c.says) {
				t.Errorf("%+v: %v", c, err)
			}
		}
	})
}

func TestListenBoth(t *testing.T) {
	peers := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := fmt.Fprint(w, len(r.TLS.PeerCertificates)); err != nil {
			t.Error(err)
		}
	})
	certFile, keyFile := selfSigned(t, t.TempDir(), "gw")
	s := &started{log: slog.Default()}
	f := listenFlags{Listen: "127.0.0.1:0", TLSCert: certFile, TLSKey: keyFile, OpsListen: "127.0.0.1:0", OpsTLSCert: certFile, OpsTLSKey: keyFile}
	if err := s.listen(context.Background(), f, peers, peers); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(s.ingress.stop(within(t, time.Second)), s.operations.stop(within(t, time.Second))); err != nil {
			t.Error(err)
		}
	}()
	client, err := tls.LoadX509KeyPair(selfSigned(t, t.TempDir(), "acme"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, url, want string
		certificates    []tls.Certificate
	}{
		{"partners are asked for a certificate", s.access.Ingress, "1", []tls.Certificate{client}},
		{"they need not have one", s.access.Ingress, "0", nil},
		{"operators are not asked", s.access.URL, "0", []tls.Certificate{client}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true, Certificates: c.certificates}}}
			if got := fetched(t, h, c.url); got != c.want {
				t.Errorf("%s shows %s certificates, not %s", c.url, got, c.want)
			}
		})
	}
	if s.access.Certificate != certFile || s.access.IngressCertificate != certFile {
		t.Errorf("the command line is told %+v", s.access)
	}

	t.Run("one address that cannot be had gives the other up", func(t *testing.T) {
		half := &started{log: slog.Default()}
		if err := half.listen(context.Background(), listenFlags{Listen: "127.0.0.1:0", OpsListen: s.operations.socket.Addr().String()}, peers, peers); err == nil {
			t.Error("no error")
		}
		if err := errors.Join(half.ingress.stop(within(t, time.Second)), half.operations.stop(within(t, time.Second))); err != nil {
			t.Error(err)
		}
	})
}

func TestListenStops(t *testing.T) {
	// slow answers when it is told to.
	slow := func(begun chan<- struct{}, release <-chan struct{}) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			begun <- struct{}{}
			<-release
			_, _ = io.WriteString(w, "done") // cut off in one of the tests
		})
	}

	t.Run("what is running is answered, and nothing new is taken", func(t *testing.T) {
		begun, release := make(chan struct{}, 1), make(chan struct{})
		s := serveFor(t, slow(begun, release))
		answered := make(chan string, 1)
		go func() {
			answered <- fetched(t, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, s.url())
		}()
		<-begun
		stopped := make(chan error, 1)
		go func() { stopped <- s.stop(within(t, 5*time.Second)) }()
		refused := false
		for range 200 {
			c, err := net.Dial("tcp", s.socket.Addr().String())
			if refused = err != nil; refused {
				break
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		if !refused {
			t.Error("connections are still taken")
		}
		select {
		case err := <-stopped:
			t.Errorf("it stopped with a request running: %v", err)
		default:
		}
		close(release)
		if got := <-answered; got != "done" {
			t.Errorf("got %q", got)
		}
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})

	t.Run("what outlasts the time is cut off, and that is said", func(t *testing.T) {
		begun, release := make(chan struct{}, 1), make(chan struct{})
		s := serveFor(t, slow(begun, release))
		failed := make(chan error, 1)
		go func() {
			r, err := http.Get(s.url())
			if err == nil {
				err = r.Body.Close()
			}
			failed <- err
		}()
		<-begun
		if err := s.stop(within(t, 50*time.Millisecond)); err == nil || !strings.Contains(err.Error(), "cut off") {
			t.Errorf("got %v", err)
		}
		close(release)
		if err := <-failed; err == nil {
			t.Error("the request was answered")
		}
	})

	t.Run("a socket that breaks is reported", func(t *testing.T) {
		s := serveFor(t, http.NotFoundHandler())
		if err := s.socket.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-s.failed; err == nil || !strings.Contains(err.Error(), "--listen 127.0.0.1") {
			t.Errorf("got %v", err)
		}
	})

	t.Run("what was never opened stops as well", func(t *testing.T) {
		var none *listener
		if err := none.stop(within(t, time.Second)); err != nil {
			t.Error(err)
		}
	})
}

func TestListenLimits(t *testing.T) {
	for size, status := range map[int]int{48 << 10: http.StatusNotFound, 72 << 10: http.StatusRequestHeaderFieldsTooLarge} {
		t.Run(fmt.Sprintf("a header of %d KB, four certificates of RSA 4096 or more, gets %d", size>>10, status), func(t *testing.T) {
			s := serveFor(t, http.NotFoundHandler())
			r, err := http.NewRequest("GET", s.url(), nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X", strings.Repeat("x", size))
			c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			response, err := c.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			if err := response.Body.Close(); err != nil {
				t.Error(err)
			}
			if response.StatusCode != status {
				t.Errorf("got %d", response.StatusCode)
			}
		})
	}

	t.Run("a header that does not come ends its connection, and holds no other one up", func(t *testing.T) {
		s := serveFor(t, http.NotFoundHandler())
		c, err := net.Dial("tcp", s.listener.socket.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }() // the other side is gone
		if _, err := io.WriteString(c, "POST /as2 HTTP/1.1\r\nHost: x\r\nX: "); err != nil {
			t.Fatal(err)
		}
		other := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		if got := fetched(t, other, s.url()); !strings.Contains(got, "not found") {
			t.Errorf("another one got %q", got)
		}
		if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, c)
		if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() {
			t.Error("it is kept")
		}
	})

	t.Run("a panic is logged as an error", func(t *testing.T) {
		s := serveFor(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("oh") }))
		c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		if r, err := c.Get(s.url()); err == nil {
			t.Errorf("got %d, %v", r.StatusCode, r.Body.Close())
		}
		if err := s.stop(within(t, time.Second)); err != nil {
			t.Error(err)
		}
		if !strings.Contains(s.log.String(), "level=ERROR") {
			t.Errorf("the log says %s", s.log)
		}
	})
}

func fetched(t *testing.T, c *http.Client, url string) string {
	r, err := c.Get(url)
	if err != nil {
		t.Error(err)
		return ""
	}
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	if err := r.Body.Close(); err != nil {
		t.Error(err)
	}
	return string(b)
}
