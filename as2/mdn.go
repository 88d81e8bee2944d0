package as2

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/edigw/edigw/cms"
	"github.com/edigw/edigw/gateway"
)

// product is what we call ourselves: RFC 8098 §3.2.1.
const product = "edigw"

// version is AS2-Version: 1.2 is with compression and EDIINT-Features (RFC 5402 §2, RFC
// 6017).
const version = "1.2"

// features are EDIINT-Features, RFC 6017: several attachments (RFC 6362), and that a
// retry is known by its Message-ID.
const features = "multiple-attachments, AS2-Reliability"

// MDN is a message disposition notification that we give: RFC 4130 §7.4.
type MDN struct {
	From, To    Name   // as the message had them: From sent it, To is what it calls us
	Original    string // its Message-ID, byte for byte; "" if it had none
	Disposition Disposition
	MIC         MIC      // what was received; none where nothing could be opened
	Errors      []string // sentences, for people
	Text        string   // for people, before those
}

// Render makes the entity with its header. With a signature it is signed, RFC 4130
// §7.3; the same MDN with the same signature is the same bytes.
func (m MDN) Render(s *cms.Signature) (gateway.Rendered, error) {
	report := m.report()
	c := report
	if s != nil {
		var err error
		if c, err = sign(*s, report.bytes()); err != nil {
			return gateway.Rendered{}, err
		}
	}
	sum := sha256.Sum256(c.Body)
	return gateway.Rendered{Status: http.StatusOK, ContentType: c.ContentType, Body: c.Body, Fields: gateway.Fields{
		{Name: "AS2-Version", Value: version},
		{Name: "AS2-From", Value: m.To.Raw}, // RFC 4130 §6.2: in the sender's own style
		{Name: "AS2-To", Value: m.From.Raw},
		{Name: "Message-ID", Value: "<" + hex.EncodeToString(sum[:16]) + "@edigw>"},
		{Name: "MIME-Version", Value: "1.0"},
		{Name: "Subject", Value: "Message Disposition Notification"},
		{Name: "EDIINT-Features", Value: features},
	}}, nil
}

// report is multipart/report, RFC 6522 §3 and RFC 8098 §3: a text for people, and one
// for programs. The message itself is not in it (RFC 4130 §7.4.1).
func (m MDN) report() Composed {
	var text strings.Builder
	text.WriteString(ascii(m.Text, 2000) + "\r\n")
	for _, e := range m.Errors {
		text.WriteString("\r\n" + ascii(e, 2000) + "\r\n")
	}
	var f strings.Builder
	field := func(name, value string) {
		if value != "" {
			f.WriteString(name + ": " + value + "\r\n")
		}
	}
	field("Reporting-UA", product)
	field("Original-Recipient", "rfc822; "+ascii(m.To.Raw, 500))
	field("Final-Recipient", "rfc822; "+ascii(m.To.Raw, 500))
	field("Original-Message-ID", m.Original)
	field("Disposition", m.Disposition.String())
	name := "Error"
	if m.Disposition.Kind == "failed" {
		name = "Failure" // RFC 8098 §3.2.7
	}
	if m.Disposition.Modifier != "" {
		for _, e := range m.Errors {
			field(name, ascii(e, 900)) // RFC 5322 §2.1.1; it is not folded, which some cannot read
		}
	}
	field("Received-content-MIC", m.MIC.String())

	parts := "Content-Type: text/plain; charset=us-ascii\r\nContent-Transfer-Encoding: 7bit\r\n\r\n" + wrapped(text.String())
	machine := "Content-Type: message/disposition-notification\r\nContent-Transfer-Encoding: 7bit\r\n\r\n" + f.String()
	boundary := boundaryOf([]byte(parts + machine))
	return Composed{ContentType: `multipart/report; report-type=disposition-notification; boundary="` + boundary + `"`,
		Body: []byte("--" + boundary + "\r\n" + parts + "\r\n--" + boundary + "\r\n" + machine + "\r\n--" + boundary + "--\r\n")}
}

// ascii makes text one line of printable ASCII, at most so long.
func ascii(s string, longest int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\r' || r == '\n' || r == '\t':
			return ' '
		case r < ' ' || r > '~':
			return '?'
		}
		return r
	}, s)
	return s[:min(len(s), longest)]
}

// wrapped breaks lines at blanks, about where people do.
func wrapped(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		for len(line) > 78 {
			i := strings.LastIndexByte(line[:78], ' ')
			if i <= 0 {
				i = strings.IndexByte(line, ' ')
			}
			if i <= 0 {
				break
			}
			b.WriteString(line[:i] + "\r\n")
			line = line[i+1:]
		}
		b.WriteString(line + "\r\n")
	}
	return b.String()
}
