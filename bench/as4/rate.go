package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/bench/site"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/partners/keys"
)

// load is what one measurement sends: eight clients, each the next message when it
// has the receipt of the last one.
type load struct {
	name   string
	copies int // interchanges in the one payload, about 4 KB each
	share  int // of -messages, one in so many
}

// clients are at once.
const clients = 8

var loads = []load{{"4 KB", 1, 1}, {"1 MB of 256 invoices", 256, 16}}

// figure is what a measurement gave, by message.
type figure struct {
	rate float64       // messages a second
	cpu  time.Duration // of the receiver, with its database
}

// measureRates has edigw and phase4's servlet receive the same messages, signed,
// encrypted and compressed, made before and all different, by turns.
func (r *run) measureRates(ctx context.Context) (err error) {
	// Eight documents of 1 MB at once are more than a gateway gives one partner by itself.
	g, err := r.startGateway(ctx, "GOMEMLIMIT=1GiB")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.close(context.WithoutCancel(ctx))) }()
	folder := filepath.Join(r.work, "received")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	s, err := startServer(ctx, r.dir, r.keys, receiver, sender, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.process.Stop()) }()
	targets := []struct {
		url string
		cpu func() (time.Duration, error)
	}{
		{"http://" + g.running.Address + "/as4", func() (time.Duration, error) { return sum(site.CPU(g.running.Pid))(site.TreeCPU(g.site.Postmaster())) }},
		{s.address + "/rsa", func() (time.Duration, error) { return site.CPU(s.process.Pid()) }},
	}
	number := 100_000
	fmt.Fprintf(r.out, "%-22s %10s %12s %10s %12s %10s %14s\n", "", "edigw/s", "CPU/message", "phase4/s", "CPU/message", "ratio", "bare crypto")
	for _, l := range loads {
		messages := max(clients, r.messages/l.share)
		got := make([][]figure, len(targets))
		var crypto time.Duration
		for round := range r.rounds + 1 { // the first warms up
			batch, err := r.compose(number, messages, l.copies)
			if err != nil {
				return err
			}
			number += messages
			if crypto, err = bareCrypto(r.keys, batch); err != nil {
				return err
			}
			for i, t := range targets {
				f, err := measure(ctx, t.url, t.cpu, batch)
				if err != nil {
					return err
				}
				if round > 0 {
					got[i] = append(got[i], f)
				}
			}
		}
		ours, theirs := medianOf(got[0]), medianOf(got[1])
		fmt.Fprintf(r.out, "%-22s %10.1f %12s %10.1f %12s %10.2f %14s\n", l.name, ours.rate, ours.cpu.Round(time.Microsecond), theirs.rate, theirs.cpu.Round(time.Microsecond),
			ours.rate/theirs.rate, crypto.Round(time.Microsecond))
	}
	return nil
}

// sum adds two durations that may both have failed.
func sum(a time.Duration, aErr error) func(time.Duration, error) (time.Duration, error) {
	return func(b time.Duration, bErr error) (time.Duration, error) { return a + b, errors.Join(aErr, bErr) }
}

// medianOf are the medians of rates and of CPU.
func medianOf(list []figure) (m figure) {
	slices.SortFunc(list, func(a, b figure) int { return int(a.cpu - b.cpu) })
	m.cpu = list[len(list)/2].cpu
	slices.SortFunc(list, func(a, b figure) int {
		if a.rate < b.rate {
			return -1
		}
		return 1
	})
	m.rate = list[len(list)/2].rate
	return m
}

// request is a message as it goes over the line.
type request struct {
	contentType string
	body        []byte
	plain       [][]byte // its payloads
}

// compose makes messages from number on, each with so many interchanges.
func (r *run) compose(number, messages, copies int) (list []request, err error) {
	own, err := chained(filepath.Join(r.keys, sender+"-rsa-sign"), filepath.Join(r.keys, "ca.cert.pem"))
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(own)
	if err != nil {
		return nil, err
	}
	key, chain, err := keys.Read(text, "")
	if err != nil {
		return nil, err
	}
	if text, err = os.ReadFile(filepath.Join(r.keys, receiver+"-rsa-encrypt.cert.pem")); err != nil {
		return nil, err
	}
	to, err := partners.ParseCertificate(text)
	if err != nil {
		return nil, err
	}
	m := base("rsa")
	for i := range messages {
		p := payload{copies: copies}
		p.fill(int64(number+i)*1000, m.From)
		u := &as4.UserMessage{
			MessageInfo: as4.MessageInfo{Timestamp: time.Now(), MessageID: fmt.Sprintf("%d@%s", number+i, sender)},
			From:        as4.Party{ID: m.From, Type: m.PartyType, Role: initiator}, To: as4.Party{ID: m.To, Type: m.PartyType, Role: responder},
			Collaboration: as4.CollaborationInfo{Agreement: as4.Agreement{Value: m.Agreement}, Service: m.Service, ServiceType: m.ServiceType, Action: m.Action, ConversationID: m.Conversation},
		}
		part := as4.Bytes(p.content, "application/EDIFACT")
		part.Compress = true
		composed, err := as4.Compose(u, []as4.Payload{part}, &wssec.Signing{Key: key, Certificate: chain[0], Chain: chain[1:]}, &wssec.Encrypting{Recipient: to})
		if err != nil {
			return nil, err
		}
		in := composed.Body()
		body, err := io.ReadAll(in)
		if err := errors.Join(err, in.Close()); err != nil {
			return nil, err
		}
		list = append(list, request{composed.ContentType, body, [][]byte{p.content}})
	}
	return list, nil
}

// measure sends a batch. An answer without a receipt ends it.
func measure(ctx context.Context, url string, cpu func() (time.Duration, error), batch []request) (f figure, err error) {
	before, err := cpu()
	if err != nil {
		return f, err
	}
	next := make(chan request, len(batch))
	for _, q := range batch {
		next <- q
	}
	close(next)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	errs := make([]error, clients)
	var wg sync.WaitGroup
	begun := time.Now()
	for i := range clients {
		wg.Go(func() {
			for q := range next {
				if errs[i] = q.post(ctx, client, url); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(begun)
	client.CloseIdleConnections()
	after, err := cpu()
	if err := errors.Join(append(errs, err)...); err != nil {
		return f, err
	}
	n := len(batch)
	return figure{rate: float64(n) / took.Seconds(), cpu: (after - before) / time.Duration(n)}, nil
}

// post sends it, and again where it is told to come again.
func (q request) post(ctx context.Context, client *http.Client, url string) error {
	for {
		again, err := q.once(ctx, client, url)
		if err != nil || again == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(again):
		}
	}
}

// once sends it. again is how long to wait before the next time, 0 with a receipt.
func (q request) once(ctx context.Context, client *http.Client, url string) (again time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(q.body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", q.contentType)
	answer, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	text, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return 0, err
	}
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && answer.StatusCode == http.StatusServiceUnavailable {
		return time.Duration(seconds) * time.Second, nil
	}
	if answer.StatusCode != http.StatusOK || !bytes.Contains(text, []byte("NonRepudiationInformation")) {
		_, detail, _ := bytes.Cut(text, []byte("ErrorDetail>"))
		return 0, fmt.Errorf("%s: no receipt, status %d: %.300s", url, answer.StatusCode, detail)
	}
	return 0, nil
}
