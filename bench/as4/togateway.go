package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// phase4ToGateway has phase4 send to edigw.
func (r *run) phase4ToGateway(ctx context.Context, g *gateway) (err error) {
	c, err := startClient(ctx, r.dir, r.keys, sender, receiver)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.process.Stop()) }()
	for i, each := range combinations() {
		name := "phase4 to edigw: " + each.name
		if !r.Choice.Wants(name) {
			continue
		}
		each.address("http://" + g.Running.Address + "/as4")
		if err := each.write(r.work, i); err != nil {
			return err
		}
		each.message.Dump = filepath.Join(r.work, fmt.Sprint("request-", i))
		failure, err := each.toGateway(ctx, c, g)
		if err != nil {
			return err
		}
		r.Says(name, failure)
	}
	return nil
}

// toGateway sends it to edigw. failure says why the combination does not hold; err
// that there is no saying.
func (c *combination) toGateway(ctx context.Context, from client, g *gateway) (failure, err error) {
	before, err := g.documents(ctx)
	if err != nil {
		return nil, err
	}
	m := c.message
	a, err := from.send(m)
	if err != nil {
		return nil, err
	}
	if code := c.refusal(); code != "" {
		return a.refused(code), nil
	}
	if err := a.acknowledged(m.MessageID); err != nil {
		return err, nil
	}
	if c.test {
		m.Payloads = nil // delivered to nobody
	}
	if err := g.holds(ctx, m, before); err != nil {
		return err, nil
	}
	if !c.again {
		return nil, nil
	}
	// The same bytes have the same receipt; signed and encrypted anew it has one for
	// what was signed now.
	if err := sameBytes(ctx, m, a); err != nil {
		return err, nil
	}
	m.Dump = ""
	if a, err = from.send(m); err != nil {
		return nil, err
	}
	if err := a.acknowledged(m.MessageID); err != nil {
		return fmt.Errorf("the second time: %w", err), nil
	}
	return g.holds(ctx, m, before), nil
}

// refusal is the error that edigw has to answer with, "" where it has to take the
// message. It takes EDI alone; where the signature did not hold, the code would be
// EBMS:0101.
func (c *combination) refusal() string {
	switch {
	case slices.ContainsFunc(c.message.Payloads, func(p payload) bool { return p.Type == "application/xml" }) && !c.test:
		return "EBMS:0004"
	case len(c.message.Payloads) == 0 && !c.test:
		return "EBMS:0010"
	}
	return ""
}

// sameBytes posts twice what phase4 has sent, as a retry of its HTTP client would,
// and holds the answers to be the receipt that phase4 has got.
func sameBytes(ctx context.Context, m message, first answer) error {
	var answers [][]byte
	for range 2 {
		text, err := os.ReadFile(m.Dump)
		if err != nil {
			return err
		}
		in := bufio.NewReader(bytes.NewReader(text))
		head, err := textproto.NewReader(in).ReadMIMEHeader()
		if err != nil {
			return err
		}
		body, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(body))
		if err != nil {
			return err
		}
		request.Header = http.Header(head)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		text, err = io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			return err
		}
		answers = append(answers, text)
	}
	if !bytes.Equal(answers[0], answers[1]) {
		return errors.New("the same bytes have two receipts")
	}
	if !strings.Contains(string(answers[0]), first.SignalID) {
		return fmt.Errorf("the same bytes have not the receipt %s that they had: %.400s", first.SignalID, answers[0])
	}
	return nil
}
