// Package proxy says who is at the other end of a request: the address it came
// from and the client certificate that was proved there, whether the gateway
// ended TLS itself or a proxy before it did.
//
// A proxy is believed by rule alone: if its address is in Rule.Trusted. It tells
// the certificate of its client in a header that Rule.Header names, in any of the
// forms that proxies write (RFC 9440, Envoy's X-Forwarded-Client-Cert, escaped
// PEM, base64), and the address in X-Forwarded-For. The same header from anybody
// else is a forgery, and the request one to refuse.
//
// It does not say whose certificate it is, nor whether it holds: partners does.
package proxy

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Rule says which proxies are believed. The zero Rule believes none.
type Rule struct {
	Trusted []netip.Prefix // where proxies connect from
	Header  string         // that a proxy writes its client's certificate into; "" is none
}

// Client is who is at the other end.
type Client struct {
	Address     string            // without port
	Certificate *x509.Certificate // nil if none was shown; that its key is there has been proved
	Proxy       string            // address of the proxy that told so; "" if there is none
}

// Why a request is not believed; errors.Is finds them.
var (
	ErrForged   = errors.New("a client certificate stands in a header that no trusted proxy sent")
	ErrDoubtful = errors.New("the proxy's header does not name one certificate")
)

// Of says who sent r. Where the error is not nil the request is to be refused;
// the address is told all the same, and no certificate.
func (rule Rule) Of(r *http.Request) (Client, error) {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	c := Client{Address: r.RemoteAddr}
	if err == nil {
		c.Address = peer.Addr().Unmap().String()
	}
	told := []string(nil)
	if rule.Header != "" {
		told = r.Header.Values(rule.Header)
	}
	if err != nil || !rule.trusts(peer.Addr()) {
		if len(told) > 0 {
			return c, fmt.Errorf("%w: %s came from %s", ErrForged, rule.Header, c.Address)
		}
		if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
			c.Certificate = r.TLS.PeerCertificates[0]
		}
		return c, nil
	}
	// What the proxy shows on its own connection is the proxy's.
	c.Proxy, c.Address = c.Address, rule.behind(c.Address, r.Header.Values("X-Forwarded-For"))
	switch len(told) {
	case 0:
		return c, nil
	case 1:
	default:
		// The proxy added its own to what its client had sent.
		return c, fmt.Errorf("%w: %s stands %d times; have the proxy replace what its clients send", ErrDoubtful, rule.Header, len(told))
	}
	if c.Certificate, err = certificateIn(told[0]); err != nil {
		return c, fmt.Errorf("%w: %s from %s: %w", ErrDoubtful, rule.Header, c.Proxy, err)
	}
	return c, nil
}

func (rule Rule) trusts(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(rule.Trusted, func(p netip.Prefix) bool { return p.Contains(a) })
}

// behind is the address that the trusted proxies tell: the last one in the list
// that is none of theirs, since everything before it is hearsay.
func (rule Rule) behind(proxy string, forwarded []string) string {
	list := strings.Split(strings.Join(forwarded, ","), ",")
	for _, text := range slices.Backward(list) {
		a, err := address(strings.TrimSpace(text))
		if err != nil {
			return proxy
		}
		if proxy = a.Unmap().String(); !rule.trusts(a) {
			break
		}
	}
	return proxy
}

// address reads what X-Forwarded-For holds.
//
// QUIRK: some proxies add the port, which the field has no place for.
func address(text string) (netip.Addr, error) {
	if a, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return a.WithZone(""), nil
	}
	a, err := netip.ParseAddrPort(text)
	return a.Addr(), err
}

// ParseTrusted reads addresses and networks like 10.0.0.0/8. Every address there
// is cannot be trusted: the header would be anybody's to write.
func ParseTrusted(list []string) ([]netip.Prefix, error) {
	var trusted []netip.Prefix
	for _, text := range list {
		text = strings.TrimSpace(text)
		p, err := netip.ParsePrefix(text)
		if a, bad := netip.ParseAddr(text); err != nil && bad == nil {
			a = a.Unmap()
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err == nil && p.Addr().Is4In6() && p.Bits() >= 96 { // what it is held against is unmapped
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
		if err != nil {
			return nil, fmt.Errorf("%q is no address and no network: write 10.0.0.7 or 10.0.0.0/24", text)
		}
		if p.Bits() == 0 {
			return nil, fmt.Errorf("%s trusts everybody to say who they are: name the proxies' own addresses", text)
		}
		trusted = append(trusted, p.Masked())
	}
	return trusted, nil
}
