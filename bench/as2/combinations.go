package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/edigw/edigw/bench/invoic"
)

// combination is a message that one of the senders sends.
type combination struct {
	by      string // pyas2, phase2, libas2, openssl
	message message
	again   bool // it is sent a second time, under its Message-ID
	ownMIC  bool // the sender's own MIC is over other bytes than the specifications say
}

func (c combination) String() string {
	m, words := c.message, []string{}
	add := func(is bool, word string) {
		if is {
			words = append(words, word)
		}
	}
	add(m.compressed && !m.last, "compressed")
	add(m.digest != "", "signed "+m.digest)
	add(m.pss, "PSS")
	add(m.compressed && m.last, "compressed last")
	add(m.encryption != "", "encrypted "+m.encryption)
	add(m.oaep, "OAEP")
	add(len(words) == 0, "plain")
	mdn := "no MDN"
	if m.mdn != "none" {
		mdn = m.mdn + " MDN unsigned"
		if m.mdnDigest != "" {
			mdn = m.mdn + " MDN " + m.mdnDigest
		}
	}
	words = append(words, mdn)
	add(c.again, "again")
	return c.by + ": " + strings.Join(words, ", ")
}

// mdns are the ways to ask for an answer to a message signed with digest.
func mdns(digest string) []message {
	digest = cmp.Or(digest, "sha256")
	return []message{{mdn: "sync"}, {mdn: "sync", mdnDigest: digest}, {mdn: "async"}, {mdn: "async", mdnDigest: digest}}
}

// byPyas2 are all combinations of signing with each digest, encryption, compression
// and the ways of MDNs, and each of the other algorithms.
func byPyas2() (list []combination) {
	add := func(m message) { list = append(list, combination{by: "pyas2", message: m}) }
	for _, digest := range []string{"", "md5", "sha1", "sha224", "sha256", "sha384", "sha512"} {
		for _, encryption := range []string{"", "aes128-cbc"} {
			for _, compressed := range []bool{false, true} {
				for _, m := range mdns(digest) {
					m.digest, m.encryption, m.compressed = digest, encryption, compressed
					add(m)
				}
			}
		}
	}
	for _, encryption := range []string{"3des", "aes192-cbc", "aes256-cbc"} {
		add(message{digest: "sha256", encryption: encryption, mdn: "sync", mdnDigest: "sha256"})
	}
	add(message{digest: "sha256", encryption: "aes256-cbc", oaep: true, mdn: "sync", mdnDigest: "sha256"})
	add(message{digest: "sha256", encryption: "aes128-cbc", mdn: "none"})
	return list
}

// byPhase2 adds what pyas2lib cannot: GCM, PSS with its parameters, compression after
// the signature.
func byPhase2() (list []combination) {
	for _, m := range []message{
		{},
		{compressed: true},
		{digest: "sha256"},
		{digest: "sha1"},
		{digest: "sha384"},
		{digest: "sha512"},
		{digest: "sha256", pss: true},
		{digest: "sha512", pss: true, encryption: "aes256-cbc"},
		{digest: "sha256", compressed: true},
		{digest: "sha256", compressed: true, last: true},
		{encryption: "aes128-cbc"},
		{encryption: "aes128-cbc", compressed: true},
		{digest: "sha256", encryption: "3des"},
		{digest: "sha256", encryption: "aes128-cbc"},
		{digest: "sha256", encryption: "aes192-cbc"},
		{digest: "sha256", encryption: "aes256-cbc"},
		{digest: "sha256", encryption: "aes128-gcm"},
		{digest: "sha256", encryption: "aes192-gcm"},
		{digest: "sha256", encryption: "aes256-gcm"},
		{digest: "sha256", encryption: "aes128-cbc", compressed: true},
		{digest: "sha256", encryption: "aes256-gcm", compressed: true, last: true},
	} {
		// Without an algorithm asked for it expects SHA-256's, RFC 4130 §7.4.3 SHA-1's.
		m.mdn, m.mdnDigest = "sync", cmp.Or(m.digest, "sha256")
		c := combination{by: "phase2", message: m}
		// It takes that of the compressed part, where RFC 5402 §4.2 has that of what was
		// compressed.
		c.ownMIC = m.digest == "" && m.compressed
		list = append(list, c)
	}
	return list
}

// byLibas2 are what it can: no compression, and MDNs in the answer. Its GCM stands in
// EnvelopedData with the nonce alone for parameters.
func byLibas2() (list []combination) {
	for _, m := range []message{
		{digest: "sha256", encryption: "aes128-gcm"}, {digest: "sha256", encryption: "aes192-gcm"}, {digest: "sha256", encryption: "aes256-gcm"},
		{digest: "sha1"}, {digest: "sha256"}, {digest: "sha384"}, {digest: "sha512"},
		{digest: "sha256", encryption: "3des"}, {digest: "sha384", encryption: "aes192-cbc"}, {digest: "sha512", encryption: "aes256-cbc"},
		{digest: "sha256", encryption: "aes128-cbc"},
	} {
		m.mdn, m.mdnDigest = "sync", m.digest
		list = append(list, combination{by: "libas2", message: m})
	}
	return list
}

// write gives the message its id and its payload, which differ from those of all
// others, as a file in dir.
func (c *combination) write(dir string, number int) error {
	m := &c.message
	m.from, m.to, m.messageID = senderName, receiverName, fmt.Sprintf("%s-%04d", c.by, number)
	if c.by == "libas2" { // it quotes no name
		m.to = plainName
	}
	m.kind, m.filename = "application/EDIFACT", fmt.Sprintf("invoic-%d.edi", number)
	// Text in its canonical form: pyas2lib would make it that.
	m.content = bytes.ReplaceAll(invoic.TwentyLines(int64(number)), []byte("\n"), []byte("\r\n"))
	m.file = filepath.Join(dir, fmt.Sprintf("payload-%d", number))
	return os.WriteFile(m.file, m.content, 0o600)
}
