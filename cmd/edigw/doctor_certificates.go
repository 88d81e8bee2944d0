package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/partners"
)

// endsSoon is how long before its end a certificate wants a successor: partners
// take weeks for theirs.
const endsSoon = 30 * 24 * time.Hour

// tls looks at the certificates of our own listeners, and at what is said of
// proxies.
func (d *doctor) tls(f listenFlags) {
	if rule, err := f.proxies(); err != nil {
		d.ill("proxies", "see docs/how-to/tls.md", "%v", err)
	} else if len(rule.Trusted) > 0 {
		header := "no header with client certificates"
		if rule.Header != "" {
			header = "client certificates from " + rule.Header
		}
		d.well("proxies", "%s are believed; %s", strings.Join(f.TrustedProxies, ", "), header)
	}
	for _, l := range []struct{ what, cert, key string }{{"ingress TLS", f.TLSCert, f.TLSKey}, {"operations TLS", f.OpsTLSCert, f.OpsTLSKey}} {
		if l.cert == "" && l.key == "" {
			continue
		}
		pair, err := tls.LoadX509KeyPair(l.cert, l.key)
		if err != nil {
			d.ill(l.what, "give a certificate and its key, both PEM", "%s, %s: %v", l.cert, l.key, err)
			continue
		}
		d.lasts(l.what, l.cert, pair.Leaf, time.Now())
		// Not of a group, which is how Debian keeps /etc/ssl/private.
		if st, err := os.Stat(l.key); err == nil && runtime.GOOS != "windows" && st.Mode().Perm()&0o007 != 0 {
			d.ill(l.what, "chmod 640 "+l.key, "%s has mode %04o: everybody on this machine can have the private key", l.key, st.Mode().Perm())
		}
	}
}

func (d *doctor) lasts(what, where string, c *x509.Certificate, now time.Time) {
	left := c.NotAfter.Sub(now)
	told := fmt.Sprintf("%s is valid until %s", where, c.NotAfter.UTC().Format(time.DateOnly))
	switch {
	case now.Before(c.NotBefore):
		d.ill(what, "wait, or take another", "%s is not valid before %s", where, c.NotBefore.UTC().Format(time.RFC3339))
	case left < 0:
		d.ill(what, "replace it: partners refuse to connect", "%s ended on %s", where, c.NotAfter.UTC().Format(time.DateOnly))
	case left < endsSoon:
		d.ill(what, "renew it; the files are read again when they change", "%s", told)
	default:
		d.well(what, "%s", told)
	}
}

// partnersCertificates looks for purposes for which a partner will soon have no
// certificate, or has none any more.
func (d *doctor) partnersCertificates(ctx context.Context, pool *pgxpool.Pool) {
	list, err := (&partners.Store{Pool: pool}).List(ctx)
	if err != nil {
		d.ill("certificates", "try again", "%v", err)
		return
	}
	now, ill := time.Now(), 0
	for _, p := range list {
		for _, e := range p.Ends(now) {
			switch {
			case !p.Active || e.At.After(now.Add(endsSoon)):
				continue
			case e.At.After(now):
				d.ill("certificates", "ask the partner for its next one and add it beside", "partner %s has none for %s after %s", p.ID, e.Purpose, e.At.UTC().Format(time.RFC3339))
			default:
				d.ill("certificates", "ask the partner for its next one, or take the purpose out", "partner %s has none for %s that holds now; %q was the last", p.ID, e.Purpose, e.Label)
			}
			ill++
		}
	}
	if n := slices.IndexFunc(list, func(p *partners.Partner) bool { return len(p.Certificates) > 0 }); ill == 0 && n >= 0 {
		d.well("certificates", "of partners hold for %s at least", endsSoon)
	}
}
