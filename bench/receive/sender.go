package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/edigw/edigw/bench/invoic"
	"github.com/edigw/edigw/bench/site"
)

// sender is a partner that sends. Names, tokens and addresses of those that have
// numbers are of one length.
type sender struct{ id, token, address string }

// theOne is the only partner where no others are asked for.
var theOne = sender{site.Partner, site.Token, invoic.Sender}

func senderNumber(n int) sender {
	return sender{fmt.Sprintf("partner%04d", n), fmt.Sprintf("edigw_p_bench%04d", n), fmt.Sprintf("95200030%05d", n)}
}

// partnersYAML declares the organisation with that many partners.
func partnersYAML(count int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "kind: Organisation\nid: nordhafen\nidentifiers: [{qualifier: \"%s\", id: \"%s\"}]\n", invoic.Qualifier, invoic.Recipient)
	for n := range count {
		s := senderNumber(n)
		digest := sha256.Sum256([]byte(s.token))
		fmt.Fprintf(&b, "---\nkind: Partner\nid: %s\norganisation: nordhafen\nidentifiers: [{qualifier: \"%s\", id: \"%s\"}]\ntypes: [INVOIC]\nhttp:\n  tokens: [{label: bench, sha256: %s}]\n",
			s.id, invoic.Qualifier, s.address, hex.EncodeToString(digest[:]))
	}
	return b.String()
}

// envelope is one sender's request, into which numbers are written. Not for
// concurrent use.
type envelope struct {
	head string
	text *invoic.Template
	key  int // where its digits stand
}

func newEnvelope(s sender, address string) *envelope {
	const key = "k000000000000"
	head := fmt.Sprintf("POST /in/%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nIdempotency-Key: \"%s\"\r\nContent-Type: application/EDIFACT\r\nContent-Length: %d\r\n\r\n",
		s.id, address, s.token, key, invoic.Size())
	text := invoic.NewTemplate(len(head))
	text.From(s.address)
	return &envelope{head, text, strings.Index(head, key) + 1}
}

// request is interchange n under that key, valid until the next.
func (e *envelope) request(n, key int64) []byte {
	b := e.text.Set(n)
	copy(b, e.head)
	copy(b[e.key:], fmt.Sprintf("%012d", key))
	return b
}
