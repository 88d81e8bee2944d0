package targets

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/edigw/edigw/outbox"
)

// Refuse says of an address for requests, when it is configured, that it would be refused
// when something is sent: it is not https, or of no public network. A name is not looked
// up, since it may lead elsewhere tomorrow; the address it leads to is looked at when it
// is dialled.
func (g *Guard) Refuse(address string) error {
	if err := g.Private(address); err != nil {
		return err
	}
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	return g.refuseHost(u.Hostname())
}

// refuseHost says whether a host can be seen to be none of the public network.
func (g *Guard) refuseHost(host string) error {
	if g.Allows(host) {
		return nil
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	ip, err := netip.ParseAddr(name)
	switch {
	case err == nil && !public(ip):
		return fmt.Errorf("%s %w", host, ErrGuarded)
	case (name == "localhost" || strings.HasSuffix(name, ".localhost")) && !g.named(netip.AddrFrom4([4]byte{127, 0, 0, 1})) && !g.named(netip.IPv6Loopback()): // RFC 6761 §6.3
		return fmt.Errorf("%s %w", host, ErrGuarded)
	}
	return nil
}

// RefuseSpec says of a subscription, when it is configured, that its target would be
// refused when something is sent. The error is an *outbox.SpecFault.
func (g *Guard) RefuseSpec(s *outbox.Spec) error {
	fault := func(key string, err error) error {
		if err == nil {
			return nil
		}
		return &outbox.SpecFault{Name: s.Name, Key: key, Text: err.Error()}
	}
	switch {
	case s.Webhook != nil:
		return fault("webhook.url", g.Refuse(s.Webhook.URL))
	case s.Kafka != nil:
		for i, broker := range s.Kafka.Brokers {
			if err := g.refuseServer(broker); err != nil {
				return fault("kafka.brokers["+strconv.Itoa(i+1)+"]", err)
			}
		}
	case s.Mail != nil:
		return fault("mail.server", g.refuseServer(s.Mail.Server))
	}
	return nil
}

// refuseServer is refuseHost of host:port.
func (g *Guard) refuseServer(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	return g.refuseHost(host)
}
