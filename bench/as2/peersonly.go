package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edigw/edigw/bench/peers"
)

// peersOnly has each peer send to another one's receiver.
func (r *run) peersOnly(ctx context.Context) (err error) {
	servers, err := r.startReceivers(ctx, receiver, plainName, sender)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopAll(servers)) }()
	number := 0
	for _, s := range r.senders() {
		p, err := s.start(ctx)
		if err != nil {
			return err
		}
		for _, c := range s.combinations {
			number++
			if !c.peersReceive() {
				continue
			}
			if err := c.write(r.work, number); err != nil {
				return err
			}
			name := "phase2"
			if c.pyas2Receives() {
				name = "pyas2"
			}
			to := servers[name]
			c.message.url = to.address
			failure, err := c.to(p, to)
			if err != nil {
				return err
			}
			r.Says("to "+name+", "+c.String(), failure)
		}
		if err := p.process.Stop(); err != nil {
			return err
		}
	}
	return nil
}

// peersReceive tells whether one of the receivers can do it as it should be done. All
// is sent to ours.
func (c combination) peersReceive() bool {
	m := c.message
	switch {
	case c.by == "libas2":
		// It gives the key by RSAES-OAEP with SHA-512, which neither reads.
		return m.encryption == ""
	case c.by == "phase2":
		// phase2's receiver has the MIC of what is neither signed nor encrypted with its
		// header fields, as its sender and RFC 4130 §7.3.1 have not, and pyas2lib's has none.
		return m.digest != "" || m.encryption != ""
	}
	return true
}

// pyas2Receives tells which of the two receivers a message goes to: another one's than
// the sender's, where that one can do what RFC 4130 asks for.
func (c combination) pyas2Receives() bool {
	m := c.message
	switch {
	case c.by == "phase2":
		// pyas2lib has no MIC for what is not signed (§7.3.1), and no GCM.
		return m.digest != "" && !strings.HasSuffix(m.encryption, "-gcm")
	case c.by == "pyas2":
		// phase2's MIC is SHA-1's where no algorithm was asked for, whatever a message is
		// signed with (§7.4.3), and that of the payload where the signature was over what
		// it was compressed to (RFC 5402 §4.1).
		return m.digest != "" && (m.compressed || m.digest != "sha1" && m.mdnDigest == "")
	}
	return false
}

func stopAll(servers map[string]*server) (err error) {
	for _, s := range servers {
		if s.process == nil {
			continue
		}
		err = errors.Join(err, s.process.Stop())
	}
	return err
}

func (r *run) receiver(ctx context.Context, name string, argv func(folder string) []string) (*server, error) {
	folder := filepath.Join(r.work, "received-"+name)
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	return startServer(ctx, name+"'s receiver", folder, argv(folder))
}

// sending is a peer that sends.
type sending struct {
	name         string
	start        func(context.Context) (program, error)
	combinations []combination
}

// senders are those that are told a message a line.
func (r *run) senders() []sending {
	return slices.DeleteFunc([]sending{
		{"pyas2", func(ctx context.Context) (program, error) {
			p, err := peers.Start(ctx, "pyas2", python(r.dir, "pyas2_client.py", r.keys, sender, receiver)...)
			if err != nil {
				return program{}, err
			}
			port, err := listening(p)
			return program{process: p, listens: port}, err
		}, byPyas2()},
		{"phase2", func(ctx context.Context) (program, error) {
			p, err := peers.Start(ctx, "phase2", java(r.dir, "phase2", "Client", r.keys, sender, receiver)...)
			return program{process: p, checksMIC: true}, err
		}, byPhase2()},
		{"libas2", func(ctx context.Context) (program, error) {
			p, err := peers.Start(ctx, "libas2", node(r.dir, "libas2_client.js", r.keys, sender, receiver)...)
			return program{process: p}, err
		}, byLibas2()},
	}, func(s sending) bool { return r.by != "" && r.by != s.name || r.short && s.name == "libas2" })
}

// to sends it. failure says why the combination does not hold; err that there is no
// saying.
func (c combination) to(from program, to *server) (failure, err error) {
	if _, err := to.arrived(); err != nil { // what a combination that failed left behind
		return nil, err
	}
	a, err := from.send(c.message)
	if err != nil {
		return nil, err
	}
	if err := a.as(c, from.checksMIC); err != nil {
		return err, nil
	}
	got, err := to.arrived()
	if err != nil {
		return nil, err
	}
	if len(got) != 1 {
		return fmt.Errorf("%d have arrived", len(got)), nil
	}
	return got[0].of(c.message), nil
}
