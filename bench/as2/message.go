package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// message is what a sender is told to send: a line of fields NAME=VALUE.
type message struct {
	url        string
	from, to   string // AS2 names
	messageID  string // its left side; the sender puts @ and itself behind
	digest     string // "" unsigned, md5, sha1, sha224, sha256, sha384, sha512
	pss        bool   // signed by RSASSA-PSS
	encryption string // "" not encrypted, 3des, aes128-cbc … aes256-gcm
	oaep       bool   // the key by RSAES-OAEP
	compressed bool
	last       bool   // compressed after it was signed
	mdn        string // none, sync, async
	mdnDigest  string // "" unsigned
	file, kind string // the payload and its MIME type
	filename   string

	content []byte
}

func (m message) line() string {
	return strings.Join([]string{
		"url=" + m.url, "from=" + m.from, "to=" + m.to, "messageId=" + m.messageID,
		"digest=" + m.digest, "pss=" + strconv.FormatBool(m.pss), "encryption=" + m.encryption, "oaep=" + strconv.FormatBool(m.oaep),
		"compressed=" + strconv.FormatBool(m.compressed), "compressedLast=" + strconv.FormatBool(m.last),
		"mdn=" + m.mdn, "mdnDigest=" + m.mdnDigest, "file=" + m.file, "type=" + m.kind, "filename=" + m.filename,
	}, "\t")
}

// answer is what a sender tells of what came back.
type answer struct {
	status      string
	disposition string // what stands behind the ; and before a :
	detail      string
	signedWith  string // digest of the MDN's signature, "" unsigned
	mic         string // equal, none, unchecked, or what both say
	messageID   string
	failure     string
}

func parseAnswer(line string) (a answer, err error) {
	fields := map[string]*string{
		"status": &a.status, "disposition": &a.disposition, "detail": &a.detail, "signedWith": &a.signedWith,
		"mic": &a.mic, "messageId": &a.messageID, "failure": &a.failure,
	}
	for field := range strings.SplitSeq(line, "\t") {
		name, value, is := strings.Cut(field, "=")
		if !is {
			return a, fmt.Errorf("no answer: %q", line)
		}
		if to, is := fields[name]; is {
			*to = value
		}
	}
	return a, nil
}

// as holds an answer to be that of a combination: in the manner that the message
// asked for, and where it was processed with the MIC that the sender has.
func (a answer) as(c combination, checksMIC bool) error {
	m := c.message
	switch {
	case a.failure != "":
		return errors.New("the sender does not take the answer: " + a.failure)
	case !strings.HasPrefix(a.status, "20"):
		return errors.New("status " + a.status)
	case m.mdn == "none":
		return nil
	case a.disposition != "processed":
		return fmt.Errorf("disposition %s: %s", a.disposition, a.detail)
	case a.signedWith != m.mdnDigest:
		return fmt.Errorf("the MDN is signed with %q, %q was asked for", a.signedWith, m.mdnDigest)
	case c.ownMIC && a.mic != "none":
		return nil
	case a.mic == "none":
		return errors.New("the MDN has no Received-content-MIC")
	case a.mic != "equal" && (checksMIC || a.mic != "unchecked"):
		return errors.New("MIC " + a.mic)
	}
	return nil
}

// arrival is what a receiver tells of a message.
type arrival struct {
	MessageID  string `json:"messageId"`
	From       string `json:"from"`
	Filename   string `json:"filename"`
	Signed     bool   `json:"signed"`
	Encrypted  bool   `json:"encrypted"`
	Compressed bool   `json:"compressed"`
	MDN        string `json:"mdn"` // sync, async or none; "" where it does not tell

	content []byte
	untold  bool // it tells the payload and its name alone
}

// of holds an arrival to be what was sent.
func (a arrival) of(m message) error {
	if string(a.content) != string(m.content) {
		return fmt.Errorf("the payload has arrived changed: %d bytes, %d were sent", len(a.content), len(m.content))
	}
	if a.untold {
		return nil
	}
	got := fmt.Sprint(strings.Trim(a.From, `"`), a.Signed, a.Encrypted, a.Compressed)
	want := fmt.Sprint(m.from, m.digest != "", m.encryption != "", m.compressed)
	if got != want {
		return fmt.Errorf("arrived as %s, sent as %s", got, want)
	}
	return nil
}
