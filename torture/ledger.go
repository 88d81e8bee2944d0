package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// shipment is what a partner hands to his sender: contents in one payload, under
// a transport id or none.
type shipment struct {
	sender   *partner
	contents []*content
	id       string // of the transport; "" sends none
	faulty   string // why it must fail verification or be refused; "" for nothing
}

// The faults of a shipment.
const (
	badToken  = "token"
	badDigest = "digest"
	foreign   = "sender"
)

func (s *shipment) payload() string {
	text := ""
	for _, c := range s.contents {
		text += c.text
	}
	return text
}

func (s *shipment) digest() [32]byte { return sha256.Sum256([]byte(s.payload())) }

// transportKey is the key of the transport id.
func (s *shipment) transportKey() ref {
	return ref{s.sender.id(), "http:" + organisation + ":" + s.id}
}

// delivery is one arrival as the partner saw it.
type delivery struct {
	shipment
	n              int64
	sent, answered time.Time
	err            error // there was no whole answer
	status         int
	verdict        string
	deliveryID     string
	retryAfter     bool
	body           string
	receipt        receipt
}

// receipt is what of an answer's body is read.
type receipt struct {
	Type          string            `json:"type"`
	MessageID     string            `json:"message_id"`
	Outcome       string            `json:"outcome"`
	PayloadSHA256 string            `json:"payload_sha256"`
	AlertID       string            `json:"alert_id"`
	Interchanges  []json.RawMessage `json:"interchanges"`
	items         []item
}

// item is the part of one interchange.
type item struct {
	MessageID       string         `json:"message_id"`
	Verdict         string         `json:"verdict"`
	Outcome         string         `json:"outcome"`
	Problem         string         `json:"problem"`
	PayloadSHA256   string         `json:"payload_sha256"`
	Alert           string         `json:"alert_id"`
	Documents       []itemDocument `json:"documents"`
	Findings        []itemFinding  `json:"findings"`
	Acknowledgement *struct {
		Content string `json:"content"`
	} `json:"acknowledgement"`
}

// itemDocument is a document of an interchange.
type itemDocument struct {
	Number string `json:"number"`
	State  string `json:"state"`
}

// itemFinding is a finding on one.
type itemFinding struct {
	Code string `json:"code"`
}

// taken reports whether all of it was taken: posted, or to be posted by a worker.
func (d *delivery) taken() bool {
	return d.status == 200 || d.status == 201 || d.status == 202 && d.receipt.Outcome == "received"
}

// final reports whether the partner need not send it again.
func (d *delivery) final() bool {
	return d.err == nil && d.status != 409 && d.status != 503 && d.status != 408
}

func (d *delivery) positive() bool { return d.final() && d.status < 300 }

// keyed reports whether item i is the answer for content i under its key: not so
// for a transport drift, nor for a sender who is not allowed.
func (d *delivery) keyed(i int) bool {
	return i < len(d.receipt.items) && i < len(d.contents) && d.receipt.items[i].MessageID == d.contents[i].key().id
}

// transportDrift reports whether nothing of it was taken since its id was used
// for another payload.
func (d *delivery) transportDrift() bool {
	return d.final() && d.id != "" && len(d.receipt.items) == 1 && d.receipt.items[0].MessageID == d.transportKey().id && d.receipt.items[0].Alert != ""
}

func (d *delivery) String() string {
	answer := fmt.Sprintf("%d %s", d.status, d.verdict)
	if d.err != nil {
		answer = "no answer: " + d.err.Error()
	} else if d.receipt.Outcome != "" {
		answer += ", " + d.receipt.Outcome
	}
	text := fmt.Sprintf("delivery %d by %s under %q of", d.n, d.sender.id(), d.id)
	for _, c := range d.contents {
		text += " " + c.reference + "/" + short(c.digest)
	}
	return fmt.Sprintf("%s, sent %s, took %v: %s %s", text, d.sent.Format("15:04:05.000"), d.answered.Sub(d.sent).Round(time.Millisecond), answer, d.deliveryID)
}

// act is what an operator asked for.
type act struct {
	alert, decision   string
	key               ref
	digest            string // hex, "" where none was named
	person            string
	asked, answered   time.Time
	status            int // 0: no answer
	state             string
	letter, posts     bool // a dead letter; whether it may post
	replayed, discard bool
}

// ledger is what everybody knows of what he did.
type ledger struct {
	mu         sync.Mutex
	deliveries []*delivery
	acts       []*act
	contents   map[ref]map[[32]byte]*content
}

func newLedger() *ledger { return &ledger{contents: map[ref]map[[32]byte]*content{}} }

// begin notes a delivery before it is sent.
func (l *ledger) begin(d *delivery) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deliveries = append(l.deliveries, d)
	d.n = int64(len(l.deliveries))
	for _, c := range d.contents {
		k := c.key()
		if l.contents[k] == nil {
			l.contents[k] = map[[32]byte]*content{}
		}
		l.contents[k][c.digest] = c
	}
}

// ask notes an operator's act before it is sent.
func (l *ledger) ask(a *act) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acts = append(l.acts, a)
}

// counts gives the logical messages, which are interchange keys that were sent
// something sound enough to be known, and the deliveries.
func (l *ledger) counts() (messages, deliveries int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.contents), len(l.deliveries)
}
