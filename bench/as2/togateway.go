package main

import (
	"context"
	"errors"
	"fmt"
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
	mdns, err := freePort()
	if err != nil {
		return err
	}
	for i := range len(variants()) + 1 {
		names = append(names, alias(i))
	}
	yaml, err := r.partner(names, append(hosts, fmt.Sprint("127.0.0.1:", mdns)))
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
	defer func() { err = errors.Join(err, g.close(context.WithoutCancel(ctx))) }()
	number := 0
	for i, p := range programs {
		for _, c := range append(all[i], again(all[i])) {
			number++
			if !r.choice.Wants(c.String()) {
				continue
			}
			if err := c.write(r.work, number); err != nil {
				return err
			}
			c.message.url = "http://" + g.running.Address + "/as2"
			failure, err := c.toGateway(ctx, p, g)
			if err != nil {
				return err
			}
			r.says("to edigw, "+c.String(), failure)
		}
	}
	if r.by == "" || r.by == "openssl" {
		if err := r.openSSLToGateway(ctx, g); err != nil {
			return err
		}
	}
	if r.by == "" || r.by == "edigw" {
		if err := r.edigwToPeers(ctx, g, servers); err != nil {
			return err
		}
	}
	if !r.short && (r.by == "" || r.by == "openas2") {
		return r.openAS2ToGateway(ctx, g, mdns)
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
		if err := a.as(c, from.checksMIC); err != nil {
			return fmt.Errorf("time %d: %w", time+1, err), nil
		}
	}
	return g.holds(ctx, c.message, before), nil
}
