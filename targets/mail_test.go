package targets

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/edigw/edigw/outbox"
)

// mailServer takes mails; at is the answer to the command that it begins with.
func mailServer(t *testing.T, at map[string]string) (address string, got *strings.Builder) {
	t.Helper()
	got = &strings.Builder{}
	return mailServerThat(t, func(line, text string) string {
		for command, other := range at {
			if strings.HasPrefix(line, command) {
				return other
			}
		}
		got.WriteString(text)
		return "250 ok"
	}), got
}

// mailServerThat takes mails as answer says, which gets each command, and END with the
// whole text of a mail.
func mailServerThat(t *testing.T, answer func(line, text string) string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			takeMail(conn, answer)
		}
	}()
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		<-ended
	})
	return l.Addr().String()
}

func takeMail(conn net.Conn, answer func(line, text string) string) {
	defer conn.Close()
	fmt.Fprint(conn, "220 mail.example ESMTP\r\n")
	var text strings.Builder
	data := false
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		line := lines.Text()
		if data {
			if line != "." {
				text.WriteString(line + "\r\n")
				continue
			}
			data, line = false, "END"
		}
		said := answer(line, text.String())
		text.Reset()
		if line == "DATA" && said == "250 ok" {
			data, said = true, "354 go on"
		}
		fmt.Fprint(conn, said+"\r\n")
		if line == "QUIT" {
			return
		}
	}
}

func mailTo(t *testing.T, server string, change ...func(*Mail)) outbox.Sink {
	t.Helper()
	guard, err := NewGuard([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	m := &Mail{Spec: outbox.MailSpec{Server: server, TLS: "none", From: "EDI gateway <edigw@north.example>", To: []string{"edi@north.example"}}, Every: time.Minute, Guard: guard, Now: time.Now,
		Secret: func(string) (string, error) { return "hidden", nil }}
	for _, f := range change {
		f(m)
	}
	sink, err := m.Open()
	if err != nil {
		t.Fatal(err)
	}
	return sink
}

func notice(typ, class, words string) *outbox.Record {
	body, _ := json.Marshal(map[string]string{"class": class, "severity": "critical", "words": words}) // strings are always written
	r := record()
	r.ID, r.Type, r.Subject, r.Body = uuid.Must(uuid.NewV7()), typ, "acme/unb:ä\r\nBcc: stranger@example.net", body
	return r
}

func TestMail(t *testing.T) {
	t.Run("several events are one mail, by what they are about, and no text of theirs is a header", func(t *testing.T) {
		address, got := mailServer(t, nil)
		batch := []*outbox.Record{notice("drift.opened", "business", "total 119.00 → 191.00"), notice("alert.closed", "", ""), notice("drift.opened", "business", "x\r\n.\r\nQUIT")}
		sink := mailTo(t, address)
		sent, log, err := sink.Send(t.Context(), batch)
		if sent != 3 || err != nil || len(log) != 3 || log[2].Status != 250 || sink.Rest != time.Minute {
			t.Fatalf("%d, %+v, %v", sent, log, err)
		}
		m, err := mail.ReadMessage(strings.NewReader(got.String()))
		if err != nil {
			t.Fatal(err)
		}
		if m.Header.Get("Bcc") != "" || m.Header.Get("Subject") != "edigw: acme: 3 events, drift.opened (business), alert.closed" || m.Header.Get("Auto-Submitted") != "auto-generated" {
			t.Errorf("%v", m.Header)
		}
		for _, r := range batch {
			if !strings.Contains(got.String(), "event "+r.ID.String()) {
				t.Errorf("event %s does not stand in it:\n%s", r.ID, got)
			}
		}
		if strings.Count(got.String(), "drift.opened (business)\r\n") != 1 || !strings.Contains(got.String(), "total 119.00 → 191.00") {
			t.Error(got.String())
		}
	})
	t.Run("who is not known is left out and noted, and the others get their mail", func(t *testing.T) {
		var to []string
		mails := 0
		address := mailServerThat(t, func(line, text string) string {
			if strings.HasPrefix(line, "RCPT") {
				if strings.Contains(line, "gone@") {
					return "550 no such user"
				}
				to = append(to, line)
			}
			if line == "END" {
				mails++
			}
			return "250 ok"
		})
		sink := mailTo(t, address, func(m *Mail) {
			m.Spec.To = []string{"one@north.example", "Gone <gone@north.example>", `"two two"@north.example`}
		})
		sent, log, err := sink.Send(t.Context(), []*outbox.Record{record()})
		if sent != 1 || err != nil || len(log) != 1 || log[0].Status != 250 || log[0].Failure != "" || log[0].Answer != "not sent to gone@north.example: 550 \"no such user\"" || mails != 1 {
			t.Errorf("%d, %+v, %v; %d mails", sent, log, err, mails)
		}
		if diff := cmp.Diff([]string{"RCPT TO:<one@north.example>", `RCPT TO:<"two two"@north.example>`}, to); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("who may get it later keeps it from nobody else, and from himself for a quarter of an hour", func(t *testing.T) {
		full, unknown := true, false
		var to []string
		var texts []string
		address := mailServerThat(t, func(line, text string) string {
			switch {
			case strings.HasPrefix(line, "MAIL"):
				to = nil
			case strings.HasPrefix(line, "RCPT") && strings.Contains(line, "full@") && full:
				if unknown {
					return "550 no such user"
				}
				return "452 mailbox full"
			case strings.HasPrefix(line, "RCPT"):
				to = append(to, strings.TrimSuffix(strings.TrimPrefix(line, "RCPT TO:<"), "@north.example>"))
			case line == "END":
				texts = append(texts, strings.Join(to, "+")+" "+fmt.Sprint(strings.Count(text, "      event ")))
			}
			return "250 ok"
		})
		now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
		open := func() outbox.Sink {
			texts, full, unknown = nil, true, false
			return mailTo(t, address, func(m *Mail) {
				m.Now = func() time.Time { return now }
				m.Spec.To = []string{"one@north.example", "full@north.example", "two@north.example"}
			})
		}
		first, second := notice("drift.opened", "business", "x"), notice("drift.opened", "business", "y")
		check := func(sink outbox.Sink, batch []*outbox.Record, want int, fails bool, mails ...string) []outbox.Attempt {
			t.Helper()
			sent, log, err := sink.Send(t.Context(), batch)
			if sent != want || (err != nil) != fails || errors.Is(err, outbox.ErrRefused) {
				t.Errorf("%d sent, %v", sent, err)
			}
			if diff := cmp.Diff(mails, texts); diff != "" {
				t.Errorf("mails (-want +got)\n%s", diff)
			}
			return log
		}

		sink := open()
		check(sink, []*outbox.Record{first}, 0, true, "one+two 1")
		check(sink, []*outbox.Record{first, second}, 0, true, "one+two 1") // the others have it
		full = false
		check(sink, []*outbox.Record{first, second}, 2, false, "one+two 1", "full 1", "one+full+two 1")

		sink = open()
		check(sink, []*outbox.Record{first}, 0, true, "one+two 1")
		now = now.Add(15 * time.Minute)
		log := check(sink, []*outbox.Record{first}, 1, false, "one+two 1")
		if len(log) != 1 || !strings.Contains(log[0].Answer, "not sent to full@north.example: ") || !strings.Contains(log[0].Answer, "mailbox full") {
			t.Errorf("the log does not name him: %+v", log)
		}
		check(sink, []*outbox.Record{second}, 0, true, "one+two 1", "one+two 1") // he is asked anew

		sink = open()
		check(sink, []*outbox.Record{first}, 0, true, "one+two 1")
		check(sink, []*outbox.Record{second}, 0, true, "one+two 1", "one+two 1") // another process went past it

		sink = open()
		check(sink, []*outbox.Record{first}, 0, true, "one+two 1")
		unknown = true
		check(sink, []*outbox.Record{first}, 1, false, "one+two 1")
	})
	t.Run("of a batch that is refused only the event to blame is refused", func(t *testing.T) {
		for bad := range 7 {
			var batch []*outbox.Record
			for range 7 {
				batch = append(batch, notice("drift.opened", "business", "x"))
			}
			spam := batch[bad].ID.String()
			var took []string
			address := mailServerThat(t, func(line, text string) string {
				if line == "END" {
					if strings.Contains(text, "event "+spam) {
						return "554 looks like spam"
					}
					took = append(took, text)
				}
				return "250 ok"
			})
			sink := mailTo(t, address)
			sent, log, err := sink.Send(t.Context(), batch)
			if sent != bad || !errors.Is(err, outbox.ErrRefused) || len(log) != bad+1 || log[bad].Event != batch[bad].ID || log[bad].Status != 554 {
				t.Fatalf("the event %d is to blame: %d, %+v, %v", bad, sent, log, err)
			}
			for i, r := range batch[:bad] {
				if log[i].Event != r.ID || log[i].Status != 250 || strings.Count(strings.Join(took, ""), "event "+r.ID.String()) != 1 {
					t.Errorf("the event %d is to blame, and %d did not come once: %+v", bad, i, log[i])
				}
			}
		}
	})
	t.Run("a server that does not stop talking is left", func(t *testing.T) {
		for name, endless := range map[string]string{"in one line": "250-", "in lines": "250-x\r\n"} {
			address := mailServerThat(t, func(line, _ string) string {
				if strings.HasPrefix(line, "EHLO") {
					return strings.Repeat(endless, 4*mailAnswers/len(endless))
				}
				return "250 ok"
			})
			if _, _, err := mailTo(t, address).Send(t.Context(), []*outbox.Record{notice("drift.opened", "", "")}); !errors.Is(err, errEndless) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("no address brings a header of its own", func(t *testing.T) {
		address, got := mailServer(t, nil)
		sink := mailTo(t, address, func(m *Mail) {
			m.Spec.From = "EDI <edigw@north.example> (x\r\nBcc: stranger@example.net)"
			m.Spec.To = []string{"edi@north.example (y\r\nReply-To: stranger@example.net\r\n\r\nbody)", "Jörg <joerg@north.example>"}
		})
		if _, _, err := sink.Send(t.Context(), []*outbox.Record{record()}); err != nil {
			t.Fatal(err)
		}
		m, err := mail.ReadMessage(strings.NewReader(got.String()))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"Bcc", "Reply-To"} {
			if v := m.Header.Get(name); v != "" {
				t.Errorf("%s: %s", name, v)
			}
		}
		to, err := m.Header.AddressList("To")
		if err != nil || len(to) != 2 || to[0].Address != "edi@north.example" || strings.ContainsAny(to[0].Name, "\r\n") || to[1].Name != "Jörg" || m.Header.Get("From") != `"EDI" <edigw@north.example>` || m.Header.Get("Subject") == "" {
			t.Errorf("%v, %v, %v", to, m.Header, err)
		}
	})
	t.Run("what is no address is told of before anything is sent", func(t *testing.T) {
		for _, s := range []outbox.MailSpec{{From: "edigw", To: []string{"edi@north.example"}}, {From: "edigw@north.example", To: []string{"a@north.example, b@north.example"}}} {
			if _, err := (&Mail{Spec: s}).Open(); err == nil {
				t.Errorf("%+v is taken", s)
			}
		}
	})
	for _, c := range []struct {
		name    string
		at      map[string]string
		change  func(*Mail)
		refused bool
		text    string
	}{
		{"content that the server will not have is refused", map[string]string{"END": "554 looks like spam"}, nil, true, "spam"},
		{"a server that is full is asked again", map[string]string{"END": "452 full"}, nil, false, "full"},
		{"an address that is not there may be tomorrow", map[string]string{"RCPT": "550 unknown"}, nil, false, "unknown"},
		{"one who may get it later keeps it for all", map[string]string{"RCPT": "451 greylisted"}, nil, false, "greylisted"},
		{"a server that offers no TLS gets nothing", nil, func(m *Mail) { m.Spec.TLS = "starttls" }, false, "offers no STARTTLS"},
	} {
		t.Run(c.name, func(t *testing.T) {
			address, _ := mailServer(t, c.at)
			if c.change == nil {
				c.change = func(*Mail) {}
			}
			sent, log, err := mailTo(t, address, c.change).Send(t.Context(), []*outbox.Record{record()})
			if sent != 0 || err == nil || len(log) != 1 || errors.Is(err, outbox.ErrRefused) != c.refused || !strings.Contains(log[0].Failure, c.text) {
				t.Errorf("%d, %+v, %v", sent, log, err)
			}
		})
	}
}
