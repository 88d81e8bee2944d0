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

	from *mail.Address
	to   []*mail.Address
	owed owed

	secure *tls.Config
}

const (
	mailBatch = 100
	mailTime  = time.Minute // for one mail
	// mailAnswers bounds all that the server says for one mail, in bytes: net/smtp reads
	// lines of any length, and any number of them.
	mailAnswers = 1 << 20
)

// Open checks the secret and the addresses, and makes the sink.
func (m *Mail) Open() (outbox.Sink, error) {
	var err error
	if m.from, err = mail.ParseAddress(m.Spec.From); err != nil {
		return outbox.Sink{}, fmt.Errorf("from: %q: %w", m.Spec.From, err)
	}
	if m.secure, err = trusting(m.Spec.CA); err != nil {
		return outbox.Sink{}, fmt.Errorf("ca: %w", err)
	}
	m.to = nil
	for _, text := range m.Spec.To {
		to, err := mail.ParseAddress(text)
		if err != nil {
			return outbox.Sink{}, fmt.Errorf("to: %q: %w", text, err)
		}
		m.to = append(m.to, to)
	}
	if m.Spec.Secret != "" {
		if _, err := m.Secret(m.Spec.Secret); err != nil {
			return outbox.Sink{}, err
		}
	}
	return outbox.Sink{Send: m.send, Batch: mailBatch, Rest: m.Every}, nil
}

// send sends the batch as one mail. Content that the server refuses is sent in halves,
// down to a mail of one event: only that one is to blame, and those before it arrive.
func (m *Mail) send(ctx context.Context, batch []*outbox.Record) (sent int, log []outbox.Attempt, err error) {
	if d := m.owed.of(batch); d != nil {
		return m.sendOwed(ctx, batch, d)
	}
	at, began := m.Now(), time.Now()
	omitted, later, err := m.deliver(ctx, m.to, m.text(batch, at))
	if err == nil && len(later) > 0 {
		m.owed.owe(batch, later, at)
		err = notYet(later)
	}
	if errors.Is(err, outbox.ErrRefused) && len(batch) > 1 {
		half := len(batch) / 2
		if sent, log, err = m.send(ctx, batch[:half]); err != nil {
			return sent, log, err
		}
		more, rest, err := m.send(ctx, batch[half:])
		return sent + more, append(log, rest...), err
	}
	log = mailLog(batch, at, time.Since(began), omitted, err)
	if err != nil {
		return 0, log, err
	}
	return len(batch), log, nil
}

// mailLog is the delivery log of a mail.
func mailLog(batch []*outbox.Record, at time.Time, took time.Duration, omitted []string, err error) (log []outbox.Attempt) {
	failure, code := "", 250
	if err != nil {
		failure, code = err.Error(), 0
		if answer, ok := errors.AsType[*textproto.Error](err); ok {
			code = answer.Code
		}
	}
	for _, r := range batch {
		log = append(log, outbox.Attempt{Event: r.ID, At: at, Status: code, Took: took, Failure: failure, Answer: strings.Join(omitted, "; ")})
	}
	return log
}

// unready is somebody whose mail the server does not take now.
type unready struct {
	to  *mail.Address
	err error
}

// errNobody: the server knows none of the recipients.
var errNobody = errors.New("the server takes mail for none of them")

// deliver speaks SMTP (RFC 5321). Only what the server says of the content itself
// refuses it; a server that wants no mail from us or to them may do so tomorrow. It
// gives whom the server does not know, with what it said, and for whom it may take it
// later: the others have their mail. It is an error where nobody has it.
func (m *Mail) deliver(ctx context.Context, recipients []*mail.Address, text []byte) (omitted []string, later []unready, err error) {
	ctx, cancel := context.WithTimeout(ctx, mailTime)
	defer cancel()
	host, _, err := net.SplitHostPort(m.Spec.Server)
	if err != nil {
		return nil, nil, err
	}
	conn, err := m.Guard.DialContext(ctx, "tcp", m.Spec.Server)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = conn.Close() }()                         // Quit has ended it, or it failed
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // reads and writes end with ctx
	defer stop()
	conn = &bounded{Conn: conn, left: mailAnswers}
	secure := m.secure.Clone()
	secure.ServerName = host
	if m.Spec.TLS == "tls" {
		conn = tls.Client(conn, secure)
	}
	c, err := smtp.NewClient(conn, host)
	if err != nil {
		return nil, nil, err
	}
	if m.Spec.TLS == "starttls" {
		if ok, _ := c.Extension("STARTTLS"); !ok {
			return nil, nil, fmt.Errorf("%s offers no STARTTLS: anybody on the way could read the mail; use another port with tls: tls, or say tls: none", m.Spec.Server)
		}
		if err := c.StartTLS(secure); err != nil {
			return nil, nil, err
		}
	}
	if m.Spec.User != "" {
		password, err := m.Secret(m.Spec.Secret)
		if err != nil {
			return nil, nil, err
		}
		if err := c.Auth(smtp.PlainAuth("", m.Spec.User, password, host)); err != nil {
			return nil, nil, err
		}
	}
	if err := c.Mail(bare(m.from)); err != nil {
		return nil, nil, err
	}
	for _, to := range recipients {
		err := c.Rcpt(bare(to))
		answer, ok := errors.AsType[*textproto.Error](err)
		switch {
		case err == nil:
		case !ok: // the connection has ended
			return nil, nil, fmt.Errorf("%s: %w", to.Address, err)
		case answer.Code < 500:
			later = append(later, unready{to, err})
		default:
			omitted = append(omitted, "not sent to "+to.Address+": "+answer.Error())
		}
		switch len(recipients) { // perhaps tomorrow
		case len(omitted):
			return nil, nil, fmt.Errorf("%w: %s: %w", errNobody, to.Address, err)
		case len(omitted) + len(later):
			return nil, nil, fmt.Errorf("the server takes mail for none of them now: %s: %w", to.Address, err)
		}
	}
	w, err := c.Data()
	if err != nil {
		return nil, nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, nil, err
	}
	if err := w.Close(); err != nil { // the answer to the content
		if answer, ok := errors.AsType[*textproto.Error](err); ok && answer.Code >= 500 {
			return nil, nil, fmt.Errorf("%w: %w", outbox.ErrRefused, err)
		}
		return nil, nil, err
	}
	_ = c.Quit() // the server has the mail
	return omitted, later, nil
}

// bare is the address alone, as the envelope has it (RFC 5321 §4.1.2).
func bare(a *mail.Address) string {
	return strings.Trim((&mail.Address{Address: a.Address}).String(), "<>")
}

// named is the address as a header has it: as it was read, not as it was given, since a
// comment may hold line breaks (RFC 5322 §3.2.2).
func named(a *mail.Address) string {
	return (&mail.Address{Name: shortText(a.Name, 100), Address: a.Address}).String()
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
	var to []string
	for _, a := range m.to {
		to = append(to, named(a))
	}
	header("From", named(m.from))
	header("To", strings.Join(to, ",\r\n "))
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
