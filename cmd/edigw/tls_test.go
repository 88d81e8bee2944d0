package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/pgtest"
)

// openssl runs it with standard input at its end, and gives what it says.
func openssl(t *testing.T, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "openssl", args...).CombinedOutput()
	return string(out), err
}

// ownCertificate has openssl make a key and a certificate of its own issue, as a
// partner does, and gives their files.
func ownCertificate(t *testing.T, dir, name string, more ...string) (cert, key string) {
	t.Helper()
	cert, key = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key")
	args := append([]string{"req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=" + name, "-keyout", key, "-out", cert}, more...)
	if out, err := openssl(t, args...); err != nil {
		t.Fatalf("openssl: %v\n%s", err, out)
	}
	return cert, key
}

func TestOpenSSLHandshakes(t *testing.T) {
	ec := func(t *testing.T) (string, string) { return selfSigned(t, t.TempDir(), "gw") }
	rsa := func(t *testing.T) (string, string) {
		return ownCertificate(t, t.TempDir(), "gw")
	}
	for _, c := range []struct {
		name   string
		suites string
		pair   func(*testing.T) (string, string)
		client []string
		taken  bool
	}{
		{"TLS 1.0 is refused", "modern", ec, []string{"-tls1", "-cipher", "DEFAULT@SECLEVEL=0"}, false},
		{"TLS 1.1 is refused", "modern", ec, []string{"-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"}, false},
		{"TLS 1.2 is taken", "modern", ec, []string{"-tls1_2"}, true},
		{"TLS 1.3 is taken", "modern", ec, []string{"-tls1_3"}, true},
		{"a suite without forward secrecy is refused", "modern", rsa, []string{"-tls1_2", "-cipher", "AES128-GCM-SHA256:AES256-SHA"}, false},
		{"one that encrypts by CBC is refused", "modern", rsa, []string{"-tls1_2", "-cipher", "ECDHE-RSA-AES128-SHA:ECDHE-RSA-AES256-SHA384"}, false},
		{"unless partners need it", "compatible", rsa, []string{"-tls1_2", "-cipher", "ECDHE-RSA-AES128-SHA"}, true},
		{"which brings back nothing without forward secrecy", "compatible", rsa, []string{"-tls1_2", "-cipher", "AES128-GCM-SHA256:AES256-SHA"}, false},
		{"nor TLS 1.1", "compatible", rsa, []string{"-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cert, key := c.pair(t)
			s := &started{log: slog.New(slog.DiscardHandler)}
			if err := s.listen(t.Context(), listenFlags{Listen: "127.0.0.1:0", TLSCert: cert, TLSKey: key, TLSSuites: c.suites, OpsListen: "127.0.0.1:0"}, http.NotFoundHandler(), http.NotFoundHandler()); err != nil {
				t.Fatal(err)
			}
			defer func() {
				for _, l := range []*listener{s.ingress, s.operations} {
					if err := l.stop(within(t, time.Second)); err != nil {
						t.Error(err)
					}
				}
			}()
			out, err := openssl(t, append([]string{"s_client", "-connect", s.ingress.socket.Addr().String(), "-servername", "gw"}, c.client...)...)
			if (err == nil) != c.taken {
				t.Errorf("%v\n%s", err, out)
			}
			if !c.taken && !strings.Contains(out, "alert") {
				t.Errorf("it was not refused by the server:\n%s", out)
			}
		})
	}
}

func TestACertificateChangesUnderConnections(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := selfSigned(t, dir, "first")
	received := make(chan string, 1)
	s := serveFor(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.Method == http.MethodPost {
			received <- string(b)
		}
	}), certFile, keyFile)

	conn, err := tls.Dial("tcp", s.socket.Addr().String(), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }() // the test is over
	if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: gw\r\nContent-Length: 10\r\n\r\nfirst"); err != nil {
		t.Fatal(err)
	}

	selfSigned(t, dir, "second")
	later := time.Now().Add(time.Minute) // a file system's clock may stand still between two writes
	for _, f := range []string{certFile, keyFile} {
		if err := os.Chtimes(f, later, later); err != nil {
			t.Fatal(err)
		}
	}
	s.pair.readAgain()
	t.Run("who connects now sees the new one", func(t *testing.T) {
		if name, err := shownTo(t, s, &tls.Config{}); err != nil || name != "second" {
			t.Errorf("%s, %v", name, err)
		}
	})
	t.Run("a request that had begun before ends on its connection, and the next one goes there, too", func(t *testing.T) {
		answers := bufio.NewReader(conn)
		for i, more := range []string{"-then", "GET / HTTP/1.1\r\nHost: gw\r\n\r\n"} {
			if _, err := io.WriteString(conn, more); err != nil {
				t.Fatal(err)
			}
			r, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r.StatusCode != 200 {
				t.Errorf("%d: %d", i, r.StatusCode)
			}
		}
		if got := <-received; got != "first-then" {
			t.Errorf("got %q", got)
		}
		if name := conn.ConnectionState().PeerCertificates[0].Subject.CommonName; name != "first" {
			t.Errorf("the connection is %s's", name)
		}
	})
}

// sender sends interchanges with curl, as a partner does.
type sender struct {
	t   *testing.T
	g   *gatewayUnderTest
	n   int
	dir string
}

// send gives the status that curl saw; 000 is none.
func (s *sender) send(partner string, args ...string) string {
	s.t.Helper()
	s.n++
	file := filepath.Join(s.dir, "invoice.edi")
	text, err := os.ReadFile("testdata/invoice.edi")
	if err != nil {
		s.t.Fatal(err)
	}
	writeText(s.t, file, bytes.ReplaceAll(text, []byte("REF000709"), []byte(fmt.Sprintf("REF%06d", s.n))))
	args = append([]string{"-s", "-k", "-o", filepath.Join(s.dir, "answer"), "-w", "%{http_code}", "--data-binary", "@" + file}, args...)
	out, err := exec.CommandContext(s.t.Context(), "curl", append(args, s.g.at.Ingress+"/in/"+partner)...).CombinedOutput()
	if err != nil {
		s.t.Errorf("curl: %v\n%s", err, out)
	}
	return string(out)
}

// refusals are what the journal holds of partner's refused deliveries, the latest
// first: the outcome and who sent it.
//
// They are journalled after the answer, so that it waits until there are so many.
func refusals(t *testing.T, g *gatewayUnderTest, partner string, many int) (told []string) {
	t.Helper()
	waitFor(t, func() bool {
		told = refusedSoFar(t, g, partner)
		return len(told) >= many
	})
	return told
}

func refusedSoFar(t *testing.T, g *gatewayUnderTest, partner string) []string {
	t.Helper()
	var list struct {
		Items []struct {
			Verdict string `json:"verdict"`
			Outcome string `json:"outcome"`
			Status  int    `json:"status"`
			Remote  string `json:"remote"`
		} `json:"items"`
	}
	g.must(&list, "messages", "list", "--partner", partner, "-o", "json")
	var told []string
	for _, d := range list.Items {
		if d.Verdict == "refused" {
			told = append(told, fmt.Sprintf("%s %d %s", d.Outcome, d.Status, d.Remote))
		}
	}
	return told
}

// withCertificates writes partner acme with certificates given as flow mappings.
func withCertificates(t *testing.T, g *gatewayUnderTest, dir string, certificates ...string) {
	t.Helper()
	text, err := os.ReadFile("testdata/partners.yaml")
	if err != nil {
		t.Fatal(err)
	}
	yaml := string(text) + "certificates:\n"
	for _, c := range certificates {
		yaml += "  - {" + c + "}\n"
	}
	file := filepath.Join(dir, "partners.yaml")
	writeText(t, file, []byte(yaml))
	g.must(nil, "partners", "apply", "-f", file)
}

func TestPartnersByCertificate(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := selfSigned(t, dir, "gw")
	g := serveGateway(t, "--tls-cert", certFile, "--tls-key", keyFile)
	older, olderKey := ownCertificate(t, t.TempDir(), "older")
	newer, newerKey := ownCertificate(t, dir, "newer", "-addext", "extendedKeyUsage=clientAuth")
	stranger, strangerKey := ownCertificate(t, dir, "older") // another one of the same name
	renewed := filepath.Join(dir, "renewed.pem")
	s := &sender{t: t, g: g, dir: dir}

	withCertificates(t, g, dir, "label: older, file: "+older+", purposes: [tls_client]")
	t.Run("the certificate that is pinned is taken, with no token", func(t *testing.T) {
		if got := s.send("acme", "--cert", older, "--key", olderKey); got != "201" {
			t.Error(got)
		}
	})
	t.Run("another of the same name is not, nor is none", func(t *testing.T) {
		if got := s.send("acme", "--cert", stranger, "--key", strangerKey) + s.send("acme"); got != "401401" {
			t.Error(got)
		}
	})
	t.Run("TLS 1.2 and 1.3 alike", func(t *testing.T) {
		for _, version := range []string{"1.2", "1.3"} {
			if got := s.send("acme", "--cert", older, "--key", olderKey, "--tlsv"+version, "--tls-max", version); got != "201" {
				t.Errorf("%s: %s", version, got)
			}
		}
	})
	t.Run("while one follows another, both are taken", func(t *testing.T) {
		if got := s.send("acme", "--cert", newer, "--key", newerKey); got != "401" {
			t.Errorf("before: %s", got)
		}
		withCertificates(t, g, dir, "label: older, file: "+older+", purposes: [tls_client]", "label: newer, file: "+newer+", purposes: [tls_client]")
		if got := s.send("acme", "--cert", older, "--key", olderKey) + s.send("acme", "--cert", newer, "--key", newerKey); got != "201201" {
			t.Error(got)
		}
	})
	t.Run("one whose use has ended is refused and journalled, one whose use is to come as well", func(t *testing.T) {
		tomorrow := time.Now().UTC().AddDate(0, 0, 1)
		withCertificates(t, g, dir, "label: older, file: "+older+", purposes: [tls_client], until: "+time.Now().UTC().Add(time.Second).Truncate(time.Second).Format(time.RFC3339),
			"label: newer, file: "+newer+", purposes: [tls_client], from: "+tomorrow.Format(time.RFC3339))
		for deadline := time.Now().Add(10 * time.Second); s.send("acme", "--cert", older, "--key", olderKey) != "401"; {
			if time.Now().After(deadline) {
				t.Fatal("it is still taken")
			}
		}
		if got := s.send("acme", "--cert", newer, "--key", newerKey); got != "401" {
			t.Error(got)
		}
		if diff := cmp.Diff([]string{"certificate-not-yet-valid 401 127.0.0.1", "expired-certificate 401 127.0.0.1"}, refusals(t, g, "acme", 2)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a renewal under the same key is taken where the key is pinned", func(t *testing.T) {
		if out, err := openssl(t, "req", "-x509", "-new", "-key", newerKey, "-days", "60", "-subj", "/CN=renewed", "-out", renewed); err != nil {
			t.Fatalf("%v %s", err, out)
		}
		withCertificates(t, g, dir, "label: newer, file: "+newer+", purposes: [tls_client]")
		if got := s.send("acme", "--cert", renewed, "--key", newerKey); got != "401" {
			t.Errorf("the certificate is pinned: %s", got)
		}
		withCertificates(t, g, dir, "label: newer, file: "+newer+", purposes: [tls_client], pin: key")
		if got := s.send("acme", "--cert", renewed, "--key", newerKey); got != "201" {
			t.Errorf("the key is pinned: %s", got)
		}
	})
	t.Run("a server's certificate cannot be configured for a client", func(t *testing.T) {
		server, _ := ownCertificate(t, dir, "server", "-addext", "extendedKeyUsage=serverAuth")
		text, err := os.ReadFile("testdata/partners.yaml")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "wrong.yaml")
		writeText(t, file, append(text, "certificates: [{label: a, file: "+server+", purposes: [tls_client]}]\n"...))
		r := g.do("partners", "apply", "-f", file)
		if r.code != exitFailed || !strings.Contains(r.stderr, "needs the extended usage clientAuth") {
			t.Errorf("%d %s", r.code, r.stderr)
		}
	})
}

func TestBehindAProxy(t *testing.T) {
	dir := t.TempDir()
	cert, _ := ownCertificate(t, dir, "acme")
	text, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	header := "X-SSL-Client-Cert: " + url.PathEscape(string(text))
	g := serveGateway(t, "--trusted-proxies", "127.0.0.2,10.0.0.0/8", "--client-cert-header", "X-SSL-Client-Cert")
	withCertificates(t, g, dir, "label: a, file: "+cert+", purposes: [tls_client]")
	s := &sender{t: t, g: g, dir: dir}
	t.Run("what the proxy says of its client is believed", func(t *testing.T) {
		if got := s.send("acme", "--interface", "127.0.0.2", "-H", header, "-H", "X-Forwarded-For: 203.0.113.5"); got != "201" {
			t.Error(got)
		}
	})
	t.Run("a client that the proxy says had none is nobody", func(t *testing.T) {
		if got := s.send("acme", "--interface", "127.0.0.2", "-H", "X-SSL-Client-Cert;"); got != "401" {
			t.Error(got)
		}
	})
	t.Run("from anybody else the header is refused and journalled, whatever token is beside it", func(t *testing.T) {
		token := strings.TrimSpace(g.must(nil, "partners", "token", "acme", "--label", "a").out)
		if got := s.send("acme", "-H", header) + s.send("acme", "-H", header, "-H", "Authorization: Bearer "+token, "-H", "X-Forwarded-For: 203.0.113.5"); got != "401401" {
			t.Error(got)
		}
		if diff := cmp.Diff([]string{"forged-certificate-header 401 127.0.0.1", "forged-certificate-header 401 127.0.0.1"}, refusals(t, g, "acme", 2)); diff != "" {
			t.Error(diff)
		}
		if got := s.send("acme", "-H", "Authorization: Bearer "+token); got != "201" {
			t.Errorf("the token alone: %s", got)
		}
	})
	t.Run("the journal has the address that the proxy tells", func(t *testing.T) {
		var list struct {
			Items []struct {
				Remote string `json:"remote"`
			} `json:"items"`
		}
		g.must(&list, "messages", "list", "--partner", "acme", "--verdict", "first", "-o", "json")
		if len(list.Items) != 2 || list.Items[1].Remote != "203.0.113.5" || list.Items[0].Remote != "127.0.0.1" {
			t.Errorf("%+v", list)
		}
	})
}

func TestProxyFlags(t *testing.T) {
	for says, args := range map[string][]string{
		"is no address and no network": {"--trusted-proxies", "proxy.example"},
		"trusts everybody":             {"--trusted-proxies", "0.0.0.0/0"},
		"name them":                    {"--client-cert-header", "Client-Cert"},
		"is no name of a header":       {"--trusted-proxies", "10.0.0.1", "--client-cert-header", "Client Cert"},
	} {
		r := edigw(t, "", nil, append([]string{"serve", "--data-dir", t.TempDir()}, args...)...)
		if r.code != exitUsage || !strings.Contains(r.stderr, says) {
			t.Errorf("%v: exit %d %s", args, r.code, r.stderr)
		}
	}
}

func TestHangup(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := selfSigned(t, dir, "first")
	ctx, cancel := context.WithCancel(context.Background())
	hangup, log, code := make(chan os.Signal), &buffer{}, make(chan int, 1)
	a := &app{ctx: ctx, hangup: func() <-chan os.Signal { return hangup }, stdout: io.Discard, stderr: log, env: lookup(nil)}
	go func() {
		code <- a.end([]string{"serve", "--data-dir", dir, "--database-url", pgtest.URL(t), "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0", "--tls-cert", certFile, "--tls-key", keyFile})
	}()
	defer func() {
		cancel()
		if c := <-code; c != 0 {
			t.Errorf("serve ended with %d:\n%s", c, log)
		}
	}()
	hangup <- syscall.SIGHUP // it is taken when the gateway is ready
	selfSigned(t, dir, "second")
	later := time.Now().Add(time.Minute)
	for _, f := range []string{certFile, keyFile} {
		if err := os.Chtimes(f, later, later); err != nil {
			t.Fatal(err)
		}
	}
	hangup <- syscall.SIGHUP
	hangup <- syscall.SIGHUP // the one before has been done
	if !strings.Contains(log.String(), "certificate read again") {
		t.Errorf("the log says %s", log)
	}
	at, err := readLocalAccess(dir)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(at.Ingress)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := openssl(t, "s_client", "-connect", u.Host); err != nil || !strings.Contains(out, "CN = second") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestDoctorLooksAtCertificates(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := selfSigned(t, dir, "gw") // for an hour
	g := serveGateway(t)
	month, _ := ownCertificate(t, dir, "month", "-days", "29")
	withCertificates(t, g, dir, "label: a, file: "+month+", purposes: [tls_client]")
	r := g.do("doctor", "--database-url", g.url, "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0", "--tls-cert", certFile, "--tls-key", keyFile,
		"--ops-tls-cert", certFile, "--ops-tls-key", certFile, "--trusted-proxies", "10.0.0.1", "--client-cert-header", "Client-Cert")
	for _, want := range []string{"FAIL  ingress TLS", "FAIL  operations TLS", "ok    proxies            10.0.0.1 are believed; client certificates from Client-Cert",
		"FAIL  certificates       partner acme has none for tls_client after "} {
		if !strings.Contains(r.out, want) {
			t.Errorf("it does not say %q:\n%s", want, r.out)
		}
	}
	if r.code != exitFindings {
		t.Errorf("exit %d", r.code)
	}
}
