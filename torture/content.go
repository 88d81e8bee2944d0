package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// invoice is what a partner means to send as one message.
type invoice struct {
	number string
	amount int  // cents; another amount is another content
	wrong  bool // its segment count is wrong, so that it is refused
}

// deadly begins the numbers of invoices on which the handler of some gateways
// fails.
const deadly = "DEAD-"

// content is one interchange as it was written: a variant of its key.
type content struct {
	owner     *partner
	reference string
	text      string
	digest    [32]byte
	messages  []message
}

// message is one of its messages.
type message struct {
	invoice
	reference string
	sha256    [32]byte
}

// newContent writes an INVOIC interchange of the owner, from his address or a
// stranger's.
func newContent(owner *partner, from, reference string, invoices ...invoice) *content {
	c := &content{owner: owner, reference: reference}
	var b strings.Builder
	fmt.Fprintf(&b, "UNB+UNOC:3+%s:14+%s:14+261129:1015+%s'", from, ourAddress, reference)
	for i, v := range invoices {
		amount := fmt.Sprintf("%d.%02d", v.amount/100, v.amount%100)
		count := 15
		if v.wrong {
			count = 99
		}
		text := fmt.Sprintf("UNH+%d+INVOIC:D:96A:UN:EAN008'BGM+380+%s+9'DTM+137:20261127:102'NAD+SU+%[3]s::9'NAD+BY+%[4]s::9'CUX+2:EUR:4'"+
			"LIN+1++9520000001018:EN'QTY+47:1'MOA+203:%[5]s'PRI+AAA:%[5]s'UNS+S'MOA+77:%[5]s'MOA+79:%[5]s'CNT+2:1'UNT+%[6]d+%[1]d'",
			i+1, v.number, owner.address(), ourAddress, amount, count)
		c.messages = append(c.messages, message{v, fmt.Sprint(i + 1), sha256.Sum256([]byte(text))})
		b.WriteString(text)
	}
	fmt.Fprintf(&b, "UNZ+%d+%s'", len(invoices), reference)
	c.text = b.String()
	c.digest = sha256.Sum256([]byte(c.text))
	return c
}

// ref names a key: of an interchange under its owner, of a transport id under
// the one who sends.
type ref struct{ partner, id string }

func (r ref) String() string { return r.partner + " " + r.id }

// key is the interchange's: design of the keys, docs/reference/outcomes.md.
func (c *content) key() ref {
	return ref{c.owner.id(), "unb:" + c.owner.address() + ":14:" + ourAddress + ":14:" + c.reference}
}

// sound reports whether every message can be posted.
func (c *content) sound() bool {
	for _, m := range c.messages {
		if m.wrong || strings.HasPrefix(m.number, deadly) {
			return false
		}
	}
	return true
}

func (c *content) has(sha [32]byte) bool {
	for _, m := range c.messages {
		if m.sha256 == sha {
			return true
		}
	}
	return false
}

func hexOf(d [32]byte) string { return hex.EncodeToString(d[:]) }

func short(d [32]byte) string { return hex.EncodeToString(d[:4]) }
