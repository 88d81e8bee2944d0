package targets

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"strings"
	"time"

	"github.com/edigw/edigw/outbox"
)

// Mail sends people one mail for several events of a partner, grouped by what they are
// about. The ids of the events stand in it: after a lost answer they may come again.
type Mail struct {
	Spec   outbox.MailSpec
	Every  time.Duration
	Secret func(name string) (string, error)
	Guard  *Guard
	Now    func() time.Time
}

const (
	mailBatch = 100
	mailTime  = time.Minute // for one mail
)

// Open checks the secret, and makes the sink.
func (m *Mail) Open() (outbox.Sink, error) {
	if m.Spec.Secret != "" {
		if _, err := m.Secret(m.Spec.Secret); err != nil {
			return outbox.Sink{}, err
		}
	}
	return outbox.Sink{Send: m.send, Batch: mailBatch, Rest: m.Every}, nil
}

func (m *Mail) send(ctx context.Context, batch []*outbox.Record) (sent int, log []outbox.Attempt, err error) {
	at, began := m.Now(), time.Now()
	err = m.deliver(ctx, m.text(batch, at))
	failure, code := "", 250
	if err != nil {
		failure, code = err.Error(), 0
		if answer, ok := errors.AsType[*textproto.Error](err); ok {
			code = answer.Code
		}
	}
	for _, r := range batch {
		log = append(log, outbox.Attempt{Event: r.ID, At: at, Status: code, Took: time.Since(began), Failure: failure})
	}
	if err != nil {
		return 0, log, err
	}
	return len(batch), log, nil
}

// deliver speaks SMTP (RFC 5321). Only what the server says of the content itself
// refuses it; a server that wants no mail from us or to them may do so tomorrow.
func (m *Mail) deliver(ctx context.Context, text []byte) error {
	ctx, cancel := context.WithTimeout(ctx, mailTime)
	defer cancel()
	host, _, err := net.SplitHostPort(m.Spec.Server)
	if err != nil {
		return err
	}
	conn, err := m.Guard.DialContext(ctx, "tcp", m.Spec.Server)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()                         // Quit has ended it, or it failed
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // reads and writes end with ctx
	defer stop()
	secure := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	if m.Spec.TLS == "tls" {
		conn = tls.Client(conn, secure)
	}
	c, err := smtp.NewClient(conn, host)
	if err != nil {
		return err
	}
	if m.Spec.TLS == "starttls" {
		if ok, _ := c.Extension("STARTTLS"); !ok {
			return fmt.Errorf("%s offers no STARTTLS: anybody on the way could read the mail; use another port with tls: tls, or say tls: none", m.Spec.Server)
		}
		if err := c.StartTLS(secure); err != nil {
			return err
		}
	}
	if m.Spec.User != "" {
		password, err := m.Secret(m.Spec.Secret)
		if err != nil {
			return err
		}
		if err := c.Auth(smtp.PlainAuth("", m.Spec.User, password, host)); err != nil {
			return err
		}
	}
	if err := c.Mail(bare(m.Spec.From)); err != nil {
		return err
	}
	for _, to := range m.Spec.To {
		if err := c.Rcpt(bare(to)); err != nil {
			return err
		}
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil { // the answer to the content
		if answer, ok := errors.AsType[*textproto.Error](err); ok && answer.Code >= 500 {
			return fmt.Errorf("%w: %w", outbox.ErrRefused, err)
		}
		return err
	}
	_ = c.Quit() // the server has the mail
	return nil
}

// bare is the address alone, as the envelope has it.
func bare(s string) string {
	a, err := mail.ParseAddress(s)
	if err != nil {
		return s
	}
	return a.Address
}

// text writes the mail (RFC 5322).
func (m *Mail) text(batch []*outbox.Record, at time.Time) []byte {
	var order []string
	groups := map[string][]*outbox.Record{}
	for _, r := range batch {
		class := groupOf(r)
		if groups[class] == nil {
			order = append(order, class)
		}
		groups[class] = append(groups[class], r)
	}
	first, last := batch[0], batch[len(batch)-1]
	subject := fmt.Sprintf("edigw: %s: %s", first.Partner, order[0])
	if len(batch) > 1 {
		subject = fmt.Sprintf("edigw: %s: %d events, %s", first.Partner, len(batch), strings.Join(order, ", "))
	}
	var b bytes.Buffer
	header := func(name, value string) { fmt.Fprintf(&b, "%s: %s\r\n", name, value) }
	header("From", m.Spec.From)
	header("To", strings.Join(m.Spec.To, ", "))
	header("Date", at.Format(time.RFC1123Z))
	header("Subject", mime.QEncoding.Encode("utf-8", shortText(subject, 120)))
	header("Message-ID", fmt.Sprintf("<%s.%s@edigw>", first.ID, last.ID))
	header("Auto-Submitted", "auto-generated") // RFC 3834
	header("MIME-Version", "1.0")
	header("Content-Type", "text/plain; charset=utf-8")
	header("Content-Transfer-Encoding", "8bit")
	b.WriteString("\r\n")
	for _, class := range order {
		fmt.Fprintf(&b, "%s\r\n", class)
		for _, r := range groups[class] {
			fmt.Fprintf(&b, "  %s  %s%s\r\n      event %s\r\n", r.At.UTC().Format("2006-01-02 15:04:05Z"), shortText(r.Subject, 300), wordsOf(r), r.ID)
		}
		b.WriteString("\r\n")
	}
	return b.Bytes()
}

// told is what events and notices say in words, where they do.
type told struct {
	Class    string `json:"class"`
	Severity string `json:"severity"`
	Words    string `json:"words"`
	Headline string `json:"headline"`
}

func toldBy(r *outbox.Record) (t told) {
	if json.Unmarshal(r.Body, &t) != nil {
		return told{} // then only the type is told
	}
	return t
}

// groupOf is what events are grouped by: their type, and the class of a drift.
func groupOf(r *outbox.Record) string {
	if t := toldBy(r); t.Class != "" {
		return r.Type + " (" + t.Class + ")"
	}
	return r.Type
}

func wordsOf(r *outbox.Record) string {
	t := toldBy(r)
	words := t.Words
	if words == "" {
		words = t.Headline
	}
	for _, s := range []*string{&words, &t.Severity} {
		if *s != "" {
			*s = "\r\n      " + shortText(*s, 300)
		}
	}
	return t.Severity + words
}

// shortText keeps a stranger's text from being a line or a header of its own.
func shortText(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
