package gateway_test

import (
	"fmt"
	"strings"
)

// draft is one message that the model sends.
type draft struct {
	kind     string // INVOIC or DESADV
	number   string
	amount   string // of money, or in a DESADV of pieces
	function string // 1225: 9 original, 7 copy, 5 replaces, 1 cancels
	ref      string // 0062
	bad      bool   // UNT counts wrong
}

// sending is one interchange that the model sends.
type sending struct {
	ref         string // 0020
	date, clock string // S004, YYMMDD and HHMM
	stranger    bool   // the sender's address is nobody's, or ours since a change of the configuration
	fold        bool   // a line feed behind each segment
	miscounted  bool   // UNZ counts wrong
	messages    []draft
	junk        bool // no interchange at all
}

const (
	ownAddress      = "9520001000010"
	strangerAddress = "9520009999999"
)

func (d draft) segments() []string {
	var s []string
	if d.kind == "DESADV" {
		s = []string{"UNH+" + d.ref + "+DESADV:D:96A:UN:EAN005", "BGM+351+" + d.number + "+" + d.function, "DTM+137:20261126:102",
			"NAD+SU+9520001000010::9", "NAD+BY+9520002000019::9", "CPS+1", "LIN+1++9520000001018:EN", "QTY+12:" + d.amount + ":PCE"}
	} else {
		s = []string{"UNH+" + d.ref + "+INVOIC:D:96A:UN:EAN008", "BGM+380+" + d.number + "+" + d.function, "DTM+137:20261127:102",
			"NAD+SU+9520001000010::9", "NAD+BY+9520002000019::9", "CUX+2:EUR:4", "LIN+1++9520000001018:EN", "QTY+47:10",
			"MOA+203:" + d.amount, "PRI+AAA:10.00", "UNS+S", "MOA+77:" + d.amount, "MOA+79:" + d.amount, "CNT+2:1"}
	}
	count := len(s) + 1
	if d.bad {
		count += 7
	}
	return append(s, fmt.Sprintf("UNT+%d+%s", count, d.ref))
}

func (s *sending) end() string {
	if s.fold {
		return "'\n"
	}
	return "'"
}

// message gives the bytes of message i, without what stands between it and the
// next segment.
func (s *sending) message(i int) string {
	return strings.Join(s.messages[i].segments(), s.end()) + "'"
}

// text gives the interchange's bytes, without a line feed behind it.
func (s *sending) text() string {
	if s.junk {
		return "NO EDI " + s.ref
	}
	b := s.header(s.date+":"+s.clock) + s.end()
	for i := range s.messages {
		b += strings.Join(s.messages[i].segments(), s.end()) + s.end()
	}
	return b + s.trailer() + "'"
}

func (s *sending) header(when string) string {
	sender := ownAddress
	if s.stranger {
		sender = strangerAddress
	}
	return "UNB+UNOC:3+" + sender + ":14+9520002000019:14+" + when + "+" + s.ref
}

func (s *sending) trailer() string {
	n := len(s.messages)
	if s.miscounted {
		n++
	}
	return fmt.Sprintf("UNZ+%d+%s", n, s.ref)
}

// content is what the interchange says, however it was written and whenever it
// was sent.
func (s *sending) content() string {
	b := s.header("") + "'"
	for i := range s.messages {
		b += strings.Join(s.messages[i].segments(), "'") + "'"
	}
	return b + s.trailer()
}

func (s *sending) digest() [32]byte { return sha(s.text()) }

func (s *sending) digests() [][32]byte {
	d := make([][32]byte, len(s.messages))
	for i := range d {
		d[i] = sha(s.message(i))
	}
	return d
}

// document names the business document that a message carries, says what it
// says.
func (d draft) document() string { return d.class() + " " + d.number }

func (d draft) class() string {
	if d.kind == "DESADV" {
		return "despatch"
	}
	return "invoice"
}

func (d draft) says() string { return d.number + " " + d.saysUnnumbered() }

func (d draft) saysUnnumbered() string {
	f := d.function
	if f == "9" || f == "7" {
		f = ""
	}
	return d.kind + "/" + d.amount + "/" + f
}

// String is the short form in which a trace shows a message.
func (d draft) String() string {
	s := d.number + "=" + d.amount
	if d.function != "9" {
		s += "/" + d.function
	}
	if d.bad {
		s += "!bad"
	}
	return d.ref + ":" + s
}

// String is the short form in which a trace shows an interchange.
func (s *sending) String() string {
	if s.junk {
		return "{" + s.text() + "}"
	}
	b := "{" + s.ref + "@" + s.date + "T" + s.clock
	if s.stranger {
		b += " stranger"
	}
	if s.fold {
		b += " folded"
	}
	if s.miscounted {
		b += " miscounted"
	}
	for _, m := range s.messages {
		b += " " + m.String()
	}
	return b + "}"
}

// payload is what a delivery carries.
func payload(parts []*sending) string {
	var b strings.Builder
	for _, s := range parts {
		b.WriteString(s.text())
	}
	return b.String()
}
