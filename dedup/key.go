package dedup

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/edigw/edigw/edi"
)

// MaxKey is the longest key kept as it is; longer ones are stored as sha256: of
// themselves, never cut.
const MaxKey = 200

// Shape is how a partner's interchange keys are made (outcomes.md, settings).
type Shape struct {
	ControlReference   string // unique, unique_per_day, unreliable
	IncludeApplication bool   // UNB 0026 joins the key
}

// InterchangeKey is the natural key of an interchange (design §4):
//
//	unb:[test:]<0004>:<0007>:<0010>:<0007>:<0020>
//	isa:[test:]<ISA05>:<ISA06>:<ISA07>:<ISA08>:<ISA13>
//
// Separators inside values are escaped by \. With unique_per_day the date
// (CCYYMMDD) stands at its end, with IncludeApplication 0026 before that; with
// unreliable it is sha256: of the interchange's bytes.
func InterchangeKey(ic *edi.Interchange, s Shape) string {
	if s.ControlReference == "unreliable" {
		return DigestKey(ic.PayloadSHA256)
	}
	var k strings.Builder
	if ic.Syntax == "x12" {
		k.WriteString("isa")
	} else {
		k.WriteString("unb")
	}
	if ic.Test {
		k.WriteString(":test")
	}
	if ic.Syntax == "x12" {
		field(&k, ic.Sender.Qualifier)
		field(&k, ic.Sender.ID)
		field(&k, ic.Recipient.Qualifier)
		field(&k, ic.Recipient.ID)
	} else {
		field(&k, ic.Sender.ID)
		field(&k, ic.Sender.Qualifier)
		field(&k, ic.Recipient.ID)
		field(&k, ic.Recipient.Qualifier)
	}
	field(&k, ic.ControlReference)
	if s.IncludeApplication && ic.Syntax != "x12" {
		field(&k, ic.ApplicationReference)
	}
	if s.ControlReference == "unique_per_day" {
		field(&k, ic.Date)
	}
	return bounded(k.String())
}

// TransportKey is as2:<AS2-To>:<Message-ID>, as4:<to party>:<MessageId> or
// http:<organisation>:<Idempotency-Key>.
func TransportKey(transport, to, id string) string {
	var k strings.Builder
	k.WriteString(transport)
	field(&k, to)
	field(&k, id)
	return bounded(k.String())
}

// DigestKey names a payload by its digest.
func DigestKey(d [32]byte) string { return "sha256:" + hex.EncodeToString(d[:]) }

// PayloadKey names a delivery that holds no interchange and came without an id.
// It is no interchange's key, also where those are digests.
func PayloadKey(d [32]byte) string { return "payload:" + DigestKey(d) }

func field(k *strings.Builder, v string) {
	k.WriteByte(':')
	for len(v) > 0 {
		r, n := utf8.DecodeRuneInString(v)
		switch c := v[0]; {
		case c == ':' || c == '\\':
			k.WriteByte('\\')
			k.WriteByte(c)
		case c < 0x20 || c == 0x7f, r == utf8.RuneError && n == 1: // a key is one printable line of UTF-8
			fmt.Fprintf(k, `\x%02x`, c)
		default:
			k.WriteString(v[:n])
		}
		v = v[n:]
	}
}

func bounded(k string) string {
	if len(k) <= MaxKey {
		return k
	}
	return DigestKey(sha256.Sum256([]byte(k)))
}

// PartsDigest is the transport digest of a delivery: of one part its SHA-256
// itself, of several the digest of the framed part digests and labels (for AS4
// Service, Action, From and To) in order.
func PartsDigest(parts [][32]byte, labels ...string) [32]byte {
	if len(parts) == 1 && len(labels) == 0 {
		return parts[0]
	}
	h := sha256.New()
	var n [8]byte
	frame := func(b []byte) {
		binary.BigEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	for _, p := range parts {
		frame(p[:])
	}
	for _, l := range labels {
		frame([]byte(l))
	}
	return [32]byte(h.Sum(nil))
}
