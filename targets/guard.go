package targets

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Guard keeps what we call from leading back into our own network: an address that
// somebody configured, or that a name resolves to when it is dialled, may be that of a
// database or of a cloud's metadata (server-side request forgery). It looks at the
// address the connection is made to, so that a name that changes in between does not
// get past it.
type Guard struct {
	hosts    []string // allowed by name, lower case
	prefixes []netip.Prefix
}

// ErrGuarded: the address is one that only the administrator can allow.
var ErrGuarded = errors.New("is not on the public network, and --allow-targets does not name it")

// NewGuard makes a guard that lets through what the administrator allows: host names,
// addresses, and networks like 10.1.0.0/16. IPv4 may be written in IPv6 (RFC 4291
// §2.5.5.2), as a log may show it.
func NewGuard(allow []string) (*Guard, error) {
	g := &Guard{}
	for _, a := range allow {
		a = strings.ToLower(strings.TrimSpace(a))
		if p, err := netip.ParsePrefix(a); err == nil {
			if p.Addr().Is4In6() {
				if p.Bits() < 96 {
					return nil, fmt.Errorf("%q is wider than IPv4 within IPv6; write the networks like 10.1.0.0/16 and 2001:db8::/32 each", a)
				}
				p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
			}
			g.prefixes = append(g.prefixes, p.Masked())
			continue
		}
		if ip, err := netip.ParseAddr(strings.Trim(a, "[]")); err == nil {
			ip = ip.WithZone("").Unmap()
			g.prefixes = append(g.prefixes, netip.PrefixFrom(ip, ip.BitLen()))
			continue
		}
		if a == "" || strings.ContainsAny(a, "/:@ *") {
			return nil, fmt.Errorf("%q is no host, address or network like erp.north.example, 10.1.2.3 or 10.1.0.0/16", a)
		}
		g.hosts = append(g.hosts, a)
	}
	return g, nil
}

// Allows reports whether the administrator names the host.
func (g *Guard) Allows(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if slices.Contains(g.hosts, host) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && g.named(ip)
}

func (g *Guard) named(ip netip.Addr) bool {
	return slices.ContainsFunc(g.prefixes, func(p netip.Prefix) bool { return p.Contains(ip.WithZone("").Unmap()) })
}

// reserved are networks that are not the public one, beside those netip knows
// (RFC 6890 and the IANA registries of special-purpose addresses).
var reserved = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10")

func prefixes(list ...string) (p []netip.Prefix) {
	for _, s := range list {
		p = append(p, netip.MustParsePrefix(s))
	}
	return p
}

// public reports whether an address is one of the public network.
func public(ip netip.Addr) bool {
	ip = ip.WithZone("").Unmap()
	return ip.IsGlobalUnicast() && !ip.IsPrivate() && !slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// DialContext dials as net.Dialer does. The error wraps ErrGuarded where the address is
// refused.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if !g.Allows(host) {
		d.Control = func(_, at string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(at)
			if err != nil {
				return err
			}
			if !public(to.Addr()) && !g.named(to.Addr()) {
				return fmt.Errorf("%s (%s) %w", host, to.Addr(), ErrGuarded)
			}
			return nil
		}
	}
	return d.DialContext(ctx, network, address)
}
