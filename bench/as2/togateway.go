package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// withGateway has every sender send to edigw, and edigw to the receivers.
func (r *run) withGateway(ctx context.Context) (err error) {
	var programs []program
	var all [][]combination
	defer func() {
		for _, p := range programs {
			err = errors.Join(err, p.process.Stop())
		}
	}()
	servers, err := r.startReceivers(ctx, sender, "OUT", receiver)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopAll(servers)) }()
	ports, err := freeOpenAS2Ports()
	if err != nil {
		return err
	}
	if !r.short {
		servers["openas2"] = r.openAS2Receives(ports)
		if servers["libas2"], err = r.receiver(ctx, "libas2", func(folder string) []string {
			return node(r.dir, "libas2_server.js", r.keys, sender, receiver, folder)
		}); err != nil {
			return err
		}
	}
	names, hosts := []string{senderName}, []string{}
	for _, s := range r.senders() {
		p, err := s.start(ctx)
		if err != nil {
			return err
		}
		programs, all = append(programs, p), append(all, s.combinations)
		if p.listens != "" {
			hosts = append(hosts, "127.0.0.1:"+p.listens)
		}
	}
	for i := range len(variants()) + 1 {
		names = append(names, alias(i))
	}
	yaml, err := r.partner(names, append(hosts, fmt.Sprint("127.0.0.1:", ports.mdns)))
	if err != nil {
		return err
	}
	more, err := r.partnersSentTo(servers)
	if err != nil {
		return err
	}
	g, err := r.startGateway(ctx, yaml+more)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close(context.WithoutCancel(ctx))) }()
	number := 0
	for i, p := range programs {
		for _, c := range append(all[i], again(all[i])) {
			number++
			if !r.Choice.Wants(c.String()) {
				continue
			}
			if err := c.write(r.work, number); err != nil {
				return err
			}
			c.message.url = "http://" + g.Running.Address + "/as2"
			failure, err := c.toGateway(ctx, p, g)
			if err != nil {
				return err
			}
			r.Says("to edigw, "+c.String(), failure)
		}
	}
	if r.by == "" || r.by == "openssl" {
		if err := r.openSSLToGateway(ctx, g); err != nil {
			return err
		}
	}
	return r.bothWays(ctx, g, servers, ports)
}

// bothWays has edigw send to the receivers, and OpenAS2, which is one of them, to edigw.
func (r *run) bothWays(ctx context.Context, g *gateway, servers map[string]*server, ports openAS2Ports) (err error) {
	var o *sendingOpenAS2
	if !r.short && (r.by == "" || r.by == "openas2" || r.by == "edigw") {
		var received []string
		for i := range ours() {
			received = append(received, strings.ToUpper(partnerSentTo(i)))
		}
		for _, a := range r.acknowledgedTo(servers) {
			received = append(received, a.name())
		}
		if o, err = r.startOpenAS2ToGateway(ctx, g, received, ports); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, o.stop()) }()
	}
	if r.by == "" || r.by == "edigw" {
		if err := errors.Join(r.edigwToPeers(ctx, g, servers), r.edigwAcknowledges(ctx, g, servers)); err != nil {
			return err
		}
	}
	if !r.short && (r.by == "" || r.by == "openas2") {
		return r.openAS2ToGateway(ctx, g, o)
	}
	return nil
}

// again is the last of them a second time, for a sender that got no MDN.
func again(list []combination) combination {
	c := list[len(list)-1]
	c.again = true
	return c
}

// toGateway sends it to edigw. failure says why the combination does not hold; err
// that there is no saying.
func (c combination) toGateway(ctx context.Context, from program, g *gateway) (failure, err error) {
	before, err := g.documents(ctx)
	if err != nil {
		return nil, err
	}
	times := 1
	if c.again {
		times = 2
	}
	for time := range times {
		a, err := from.send(c.message)
		if err != nil {
			return nil, err
		}
		if err := a.as(c.fromEdigw(), from.checksMIC); err != nil {
			return fmt.Errorf("time %d: %w", time+1, err), nil
		}
	}
	return g.holds(ctx, c.message, before), nil
}

// fromEdigw is the combination as edigw answers it: it signs MDNs by SHA-256 where it was
// asked for a digest that it verifies alone.
func (c combination) fromEdigw() combination {
	if c.message.mdnDigest == "md5" || c.message.mdnDigest == "sha224" {
		c.message.mdnDigest = "sha256"
	}
	return c
}
