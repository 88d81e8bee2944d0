package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edigw/edigw/bench/invoic"
)

// combination is a message that phase4 sends, and what has to come of it.
type combination struct {
	name    string
	message message
	again   bool // it is sent a second time, signed and encrypted anew, under its MessageId
	ours    bool // phase4 itself does not read it
	test    bool // by the test service: answered, and delivered to nobody
}

// Party types, services and the like of the profiles.
const (
	unregistered = "urn:oasis:names:tc:ebcore:partyid-type:unregistered"
	testService  = "http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/service"
	initiator    = "http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/initiator"
	responder    = "http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/responder"
	testAction   = "http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/test"

	service, serviceType, action = "urn:edigw:edi", "urn:edigw:services", "deliver"

	peppolParty     = "urn:fdc:peppol.eu:2017:identifiers:ap"
	peppolAgreement = "urn:fdc:peppol.eu:2017:agreements:tia:ap_provider"
)

// base is a message that is signed, with one EDIFACT interchange.
func base(suite string) message {
	return message{
		Suite: suite, Token: "bst", KeyReference: "bst", From: sender + "-" + keysOf(suite), To: receiver + "-" + keysOf(suite), PartyType: unregistered,
		Agreement: "urn:edigw:agreement", Service: service, ServiceType: serviceType, Action: action,
		Conversation: "c1", Payloads: []payload{{Type: "application/EDIFACT"}},
	}
}

// keysOf is the kind of a suite's keys: rsa384 has those of rsa.
func keysOf(suite string) string {
	if strings.HasPrefix(suite, "rsa") {
		return "rsa"
	}
	return suite
}

// Changes to a message, by their names in a combination's.
var changes = map[string]func(*message){
	"signed":                         func(*message) {},
	"encrypted":                      func(m *message) { m.Encrypted = true },
	"compressed":                     func(m *message) { m.Compressed = true },
	"signer by pkipath":              func(m *message) { m.Token = "pkipath" },
	"signer by issuer-serial":        func(m *message) { m.Token = "issuer-serial" },
	"signer by ski":                  func(m *message) { m.Token = "ski" },
	"key by issuer-serial":           func(m *message) { m.KeyReference = "issuer-serial" },
	"key by ski":                     func(m *message) { m.KeyReference = "ski" },
	"empty ConversationId":           func(m *message) { m.Conversation = "" },
	"no AgreementRef":                func(m *message) { m.Agreement = "" },
	"2 payloads":                     func(m *message) { m.Payloads = make([]payload, 2) },
	"10 payloads":                    func(m *message) { m.Payloads = make([]payload, 10) },
	"a payload as text/plain":        func(m *message) { m.Payloads = []payload{{Type: "text/plain", Charset: "UTF-8"}} },
	"a payload as text/plain, lines": func(m *message) { m.Payloads = []payload{{Type: "text/plain", lines: true}} },
	"a payload as octet-stream":      func(m *message) { m.Payloads = []payload{{Type: "application/octet-stream"}} },
	"a payload as application/xml":   func(m *message) { m.Payloads = []payload{{Type: "application/xml"}} },
	"a payload of 1 MB":              func(m *message) { m.Payloads = []payload{{Type: "application/EDIFACT", copies: 256}} },
	"a Content-ID with + and =": func(m *message) {
		m.Payloads = []payload{{Type: "application/EDIFACT", ContentID: "in+voice=1@brennholm"}}
	},
	"no payload":       func(m *message) { m.Payloads = []payload{} },
	"the test service": func(m *message) { m.Service, m.ServiceType, m.Action = testService, "", testAction },
	"by Peppol's agreement and types": func(m *message) {
		m.From, m.PartyType, m.Agreement = sender+"-peppol", peppolParty, peppolAgreement
	},
}

// combinations are those that phase4 sends.
func combinations() []combination { return parse(planned) }

// parse reads combinations: names of changes, with the suite in front.
func parse(lines string) (list []combination) {
	for _, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		suite, rest, _ := strings.Cut(line, ": ")
		c := combination{name: line, message: base(suite)}
		for _, change := range strings.Split(rest, "; ") {
			switch change {
			case "again":
				c.again = true
			case "not phase4's to read":
				c.ours = true
			default:
				changes[change](&c.message)
			}
		}
		c.test = c.message.Action == testAction
		list = append(list, c)
	}
	return list
}

// What phase4 sends and cannot itself read: WSS4J takes the + of a cid URL for a
// space, as RFC 2392 does not.
//
// planned are eDelivery AS4 1.15 with RSA, Peppol, and 2.0 with its Ed25519 and
// X25519 and its elliptic curve profile.
const planned = `
rsa: signed
rsa: signed; compressed
rsa: encrypted
rsa: encrypted; compressed
rsa: encrypted; compressed; again
rsa: signed; again
rsa: signer by pkipath
rsa: signer by issuer-serial
rsa: signer by ski
rsa: encrypted; compressed; signer by pkipath
rsa: encrypted; compressed; signer by issuer-serial; key by issuer-serial
rsa: encrypted; compressed; signer by ski; key by ski
rsa: encrypted; key by issuer-serial
rsa: encrypted; key by ski
rsa384: encrypted; compressed
rsa512: encrypted; compressed
rsa: 2 payloads
rsa: encrypted; 2 payloads
rsa: encrypted; compressed; 10 payloads
rsa: encrypted; compressed; 10 payloads; again
rsa: a payload as text/plain
rsa: a payload as text/plain, lines
rsa: encrypted; a payload as text/plain, lines
rsa: compressed; a payload as text/plain, lines
rsa: encrypted; a payload as octet-stream
rsa: a payload as application/xml
rsa: encrypted; a payload as application/xml
rsa: encrypted; compressed; a payload as application/xml
rsa: a payload of 1 MB
rsa: encrypted; compressed; a payload of 1 MB
rsa: encrypted; a Content-ID with + and =; not phase4's to read
rsa: empty ConversationId; no AgreementRef
rsa: no payload
rsa: the test service; no payload
rsa: the test service; encrypted; compressed
rsa: by Peppol's agreement and types; encrypted; compressed
rsa: by Peppol's agreement and types; the test service; encrypted; compressed
ed25519: signed
ed25519: signed; compressed
ed25519: encrypted
ed25519: encrypted; compressed; key by ski
ed25519: encrypted; compressed; key by issuer-serial; signer by issuer-serial
ed25519: encrypted; compressed; key by ski; signer by ski; again
ed25519: encrypted; compressed; signer by pkipath; 2 payloads
ed25519: the test service; encrypted; compressed
p256: signed
p256: encrypted
p256: encrypted; compressed; key by ski
p256: encrypted; compressed; key by issuer-serial; signer by issuer-serial
p256: encrypted; compressed; key by ski; signer by ski; 2 payloads
`

func (c *combination) address(url string) { c.message.URL = url }

// write gives the message its MessageId and its payloads, which differ from those
// of all other combinations, as files in dir.
func (c *combination) write(dir string, number int) error {
	m := &c.message
	m.MessageID = fmt.Sprintf("%04d@%s", number, sender)
	m.Payloads = slices.Clone(m.Payloads)
	for i := range m.Payloads {
		p := &m.Payloads[i]
		p.Type = cmp.Or(p.Type, "application/EDIFACT")
		p.fill(int64(number)*100_000+int64(i)*1000, m.From)
		p.File = filepath.Join(dir, fmt.Sprintf("payload-%d-%d", number, i))
		if err := os.WriteFile(p.File, p.content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// fill makes the content: interchanges of the partner's, the first with that number.
func (p *payload) fill(first int64, partner string) {
	if p.Type == "application/xml" {
		// What its canonical form is not: quotes, an empty element, an unordered pair.
		p.content = fmt.Appendf(nil, "<?xml version='1.0'?>\n<!-- %d -->\n<a:order  z='1' a='2'\txmlns:a=\"urn:a\" xmlns:unused='urn:b'><a:line /></a:order>\n", first)
		return
	}
	parties := addresses(partner)
	for n := range max(1, p.copies) {
		text := parties.Replace(string(invoic.TwentyLines(first + int64(n))))
		if p.lines {
			text = strings.ReplaceAll(text, "'\n", "'")
			text = strings.ReplaceAll(text, "'", "'\n")
		}
		p.content = append(p.content, text...)
		// A line break behind the last segment is between interchanges.
		p.interchanges = append(p.interchanges, []byte(strings.TrimRight(text, "\r\n")))
	}
}

// addresses puts a partner's into an interchange.
func addresses(partner string) *strings.Replacer {
	var of agreement
	for _, a := range agreements() {
		if sender+"-"+a.name == partner {
			of = a
		}
	}
	return strings.NewReplacer(invoic.Sender, of.sender, invoic.Recipient, of.recipient)
}

// peers sends it to phase4's servlet. failure says why the combination does not
// hold; err that there is no saying.
func (c *combination) peers(from client, to *server) (failure, err error) {
	a, err := from.send(c.message)
	if err != nil {
		return nil, err
	}
	if err := a.acknowledged(c.message.MessageID); err != nil {
		return err, nil
	}
	got, err := to.arrived()
	switch {
	case err != nil:
		return nil, err
	case c.test && len(got) > 0:
		return fmt.Errorf("the test was delivered"), nil
	case c.test:
		return nil, nil
	case len(got) != 1:
		return fmt.Errorf("%d have arrived", len(got)), nil
	}
	if err := got[0].of(c.message); err != nil {
		return err, nil
	}
	if !c.again {
		return nil, nil
	}
	// phase4 refuses what it has received before, by EBMS:0004 (other).
	if a, err = from.send(c.message); err != nil {
		return nil, err
	}
	if err := a.refused("EBMS:0004"); err != nil {
		return err, nil
	}
	if got, err = to.arrived(); err == nil && len(got) > 0 {
		failure = fmt.Errorf("it has arrived twice")
	}
	return failure, err
}
