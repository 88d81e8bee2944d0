package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/edigw/edigw/proxy"
)

// What a connection may cost before a handler has looked at it. There is no
// timeout over a whole request or answer: a large body may take its time, and
// who reads one sets deadlines as it comes.
const (
	headerPatience = 10 * time.Second
	headerBytes    = 64 << 10 // a proxy may write its client's chain into one: four of RSA 4096, percent-encoded, are 40 KB
	idlePatience   = 2 * time.Minute
)

// listenFlags say where the gateway listens, and with which certificates.
type listenFlags struct {
	Listen           string   `setting:"" default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Where partners send to."`
	TLSCert          string   `setting:"" placeholder:"FILE" help:"Certificate of --listen, PEM, with those of its issuers behind it; read again when it changes."`
	TLSKey           string   `setting:"" placeholder:"FILE" help:"Its private key, PEM."`
	TLSSuites        string   `setting:"" name:"tls-suites" enum:"modern,compatible" default:"modern" help:"Of TLS 1.2 at --listen: modern, or compatible for partners that can only encrypt by CBC (Windows Server 2012). TLS 1.3 has its own."`
	TrustedProxies   []string `setting:"" placeholder:"NETWORK" help:"Addresses and networks of proxies in front of --listen, like 10.0.0.0/24, with commas between; X-Forwarded-For is believed from these alone."`
	ClientCertHeader string   `setting:"" placeholder:"NAME" help:"Header that those proxies write their client's certificate into, like X-Forwarded-Client-Cert; from anybody else it is refused as forged."`
	OpsListen        string   `setting:"" default:"127.0.0.1:8081" placeholder:"ADDRESS" help:"Where operators and programs ask."`
	OpsTLSCert       string   `setting:"" name:"ops-tls-cert" placeholder:"FILE" help:"Certificate of --ops-listen."`
	OpsTLSKey        string   `setting:"" name:"ops-tls-key" placeholder:"FILE" help:"Its private key."`
}

// fieldName is a token: RFC 9110 §5.6.2.
var fieldName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// proxies is the rule by which proxies are believed.
func (f listenFlags) proxies() (proxy.Rule, error) {
	trusted, err := proxy.ParseTrusted(f.TrustedProxies)
	if err != nil {
		return proxy.Rule{}, usage("--trusted-proxies: %w", err)
	}
	switch {
	case f.ClientCertHeader == "":
	case len(trusted) == 0:
		return proxy.Rule{}, usage("--client-cert-header %s is believed from --trusted-proxies alone: name them", f.ClientCertHeader)
	case !fieldName.MatchString(f.ClientCertHeader):
		return proxy.Rule{}, usage("--client-cert-header: %q is no name of a header; write one like X-Forwarded-Client-Cert", f.ClientCertHeader)
	}
	return proxy.Rule{Trusted: trusted, Header: f.ClientCertHeader}, nil
}

// listen binds both addresses, then serves them. Partners are asked for a client
// certificate; who pins one, verifies it.
func (s *started) listen(_ context.Context, f listenFlags, ingress, operations http.Handler) (err error) {
	failed := make(chan error, 2)
	s.failed = failed
	if s.ingress, err = listen("--listen", f.Listen, ingress, f.TLSCert, f.TLSKey, s.log); err != nil {
		return err
	}
	if s.operations, err = listen("--ops-listen", f.OpsListen, operations, f.OpsTLSCert, f.OpsTLSKey, s.log); err != nil {
		return err
	}
	if s.ingress.secure {
		s.ingress.server.TLSConfig.ClientAuth = tls.RequestClientCert
		if f.TLSSuites == "compatible" {
			s.ingress.server.TLSConfig.CipherSuites = append(slices.Clone(modernSuites), compatibleSuites...)
		}
	}
	for _, told := range f.inTheClear() {
		s.log.Warn("what is sent there can be read on the way", "flag", told.flag, "address", told.address, "do", told.do)
	}
	s.ingress.serve(failed)
	s.operations.serve(failed)
	s.access.URL, s.access.Certificate = s.operations.url(), f.OpsTLSCert
	s.access.Ingress, s.access.IngressCertificate = s.ingress.url(), f.TLSCert
	return nil
}

// What is spoken of TLS 1.2: forward secret and authenticated (RFC 9325 §4.2).
var modernSuites = []uint16{
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
}

// QUIRK: Schannel of Windows Server 2012 R2 has no suite with RSA certificates,
// ECDHE and GCM. These are forward secret at least.
var compatibleSuites = []uint16{
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA,
	tls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA, tls.TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA,
}

// readAgain looks at the files of both certificates now, and not when somebody
// connects. Connections that are there go on with what they have.
func (s *started) readAgain() {
	for _, l := range []*listener{s.ingress, s.operations} {
		if l != nil && l.pair != nil {
			l.pair.readAgain()
		}
	}
}

// listener is one address.
type listener struct {
	flag   string // that names it, for errors
	socket net.Listener
	server *http.Server
	pair   *certificate  // nil without TLS
	secure bool          // it speaks TLS; server.TLSConfig does not tell, net/http sets it as well
	ended  chan struct{} // closed when serve is over; nil before it
}

// listen binds an address, so that nobody else can take it, and reads its
// certificate. Without certFile and keyFile it speaks no TLS.
func listen(flag, address string, h http.Handler, certFile, keyFile string, to *slog.Logger) (*listener, error) {
	l := &listener{flag: flag, server: &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerPatience,
		IdleTimeout:       idlePatience,
		MaxHeaderBytes:    headerBytes,
		ErrorLog:          log.New(&serverLog{to}, "", 0),
	}}
	if (certFile == "") != (keyFile == "") {
		return nil, fmt.Errorf("%s %s: a certificate and its key are given together, or neither", flag, address)
	}
	if certFile != "" {
		c, err := loadCertificate(certFile, keyFile, to)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", flag, address, err)
		}
		l.pair, l.secure = c, true
		l.server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, CipherSuites: modernSuites, GetCertificate: c.get}
	}
	var err error
	if l.socket, err = net.Listen("tcp", address); err != nil {
		return nil, fmt.Errorf("%s %s: %w", flag, address, err)
	}
	return l, nil
}

// url is the address as bound.
func (l *listener) url() string {
	if l.secure {
		return "https://" + l.socket.Addr().String()
	}
	return "http://" + l.socket.Addr().String()
}

// serve begins to serve; failed hears of it if that ends by itself.
func (l *listener) serve(failed chan<- error) {
	l.ended = make(chan struct{})
	go func() {
		defer close(l.ended)
		serve := l.server.Serve
		if l.secure {
			serve = func(s net.Listener) error { return l.server.ServeTLS(s, "", "") }
		}
		if err := serve(l.socket); !errors.Is(err, http.ErrServerClosed) {
			failed <- fmt.Errorf("%s %s: %w", l.flag, l.socket.Addr(), err)
		}
	}()
}

// stop takes nothing new, and waits for what is running until ctx ends. What is
// cut off then was not answered, and is sent again by whoever sent it.
func (l *listener) stop(ctx context.Context) error {
	if l == nil {
		return nil
	}
	if l.ended == nil {
		return l.socket.Close()
	}
	err := l.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("%s: requests that were still running were cut off: %w", l.flag, err), l.server.Close())
	}
	<-l.ended
	return err
}

// serverLog takes what net/http has to say. Broken handshakes are anybody's
// doing and of no interest; the rest, panics above all, is.
type serverLog struct{ log *slog.Logger }

func (s *serverLog) Write(line []byte) (int, error) {
	level, text := slog.LevelError, bytes.TrimSpace(line)
	if bytes.HasPrefix(text, []byte("http: TLS handshake error")) {
		level = slog.LevelDebug
	}
	s.log.Log(context.Background(), level, string(text))
	return len(line), nil
}
