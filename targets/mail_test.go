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

	"github.com/google/uuid"

	"github.com/edigw/edigw/outbox"
)

// mailServer takes one mail; at is the answer to the command that it begins with.
func mailServer(t *testing.T, at map[string]string) (address string, got *strings.Builder) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	got = &strings.Builder{}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "220 mail.example ESMTP\r\n")
		data := false
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			line := lines.Text()
			if data {
				if line != "." {
					got.WriteString(line + "\r\n")
					continue
				}
				data, line = false, "END"
			}
			answer := "250 ok"
			for command, other := range at {
				if strings.HasPrefix(line, command) {
					answer = other
				}
			}
			if line == "DATA" && answer == "250 ok" {
				data, answer = true, "354 go on"
			}
			fmt.Fprint(conn, answer+"\r\n")
			if line == "QUIT" {
				return
			}
		}
	}()
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		<-ended
	})
	return l.Addr().String(), got
}

func mailTo(t *testing.T, server string, change ...func(*outbox.MailSpec)) outbox.Sink {
	t.Helper()
	guard, err := NewGuard([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	m := &Mail{Spec: outbox.MailSpec{Server: server, TLS: "none", From: "EDI gateway <edigw@north.example>", To: []string{"edi@north.example"}}, Every: time.Minute, Guard: guard, Now: time.Now,
		Secret: func(string) (string, error) { return "hidden", nil }}
	for _, f := range change {
		f(&m.Spec)
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
	for _, c := range []struct {
		name    string
		at      map[string]string
		change  func(*outbox.MailSpec)
		refused bool
		text    string
	}{
		{"content that the server will not have is refused", map[string]string{"END": "554 looks like spam"}, nil, true, "spam"},
		{"a server that is full is asked again", map[string]string{"END": "452 full"}, nil, false, "full"},
		{"an address that is not there may be tomorrow", map[string]string{"RCPT": "550 unknown"}, nil, false, "unknown"},
		{"a server that offers no TLS gets nothing", nil, func(s *outbox.MailSpec) { s.TLS = "starttls" }, false, "offers no STARTTLS"},
	} {
		t.Run(c.name, func(t *testing.T) {
			address, _ := mailServer(t, c.at)
			if c.change == nil {
				c.change = func(*outbox.MailSpec) {}
			}
			sent, log, err := mailTo(t, address, c.change).Send(t.Context(), []*outbox.Record{record()})
			if sent != 0 || err == nil || len(log) != 1 || errors.Is(err, outbox.ErrRefused) != c.refused || !strings.Contains(log[0].Failure, c.text) {
				t.Errorf("%d, %+v, %v", sent, log, err)
			}
		})
	}
}
