package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
)

// receiverWord is the argument with which this program is a receiver.
const receiverWord = "as-receiver"

// arrival is an event as a receiver has it.
type arrival struct {
	ID      string `json:"id"`
	Partner string `json:"partnerid"`
}

func arrivalOf(event []byte) (a arrival, err error) {
	err = json.Unmarshal(event, &a)
	if err == nil && (a.ID == "" || a.Partner == "") {
		err = fmt.Errorf("no event: %s", event)
	}
	return a, err
}

// receive listens until it is killed, and appends what arrives to the file: one line
// for each event, written before it is answered.
func receive(kind, address, file string) error {
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if kind == "webhook" {
		return http.ListenAndServe(address, webhookReceiver(out))
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer conn.Close()
			if err := mailbox(conn, out); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}()
	}
}

// webhookReceiver fails at one event in ten before it takes it, and loses the answer to
// one in ten that it took.
func webhookReceiver(out io.Writer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if rand.IntN(10) == 0 {
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		a, err := arrivalOf(body)
		if err != nil || a.ID != r.Header.Get("webhook-id") {
			http.Error(w, "no event", http.StatusUnprocessableEntity)
			return
		}
		if _, err := fmt.Fprintf(out, "%s %s\n", a.ID, a.Partner); err != nil {
			panic(err) // the answer is lost
		}
		if rand.IntN(10) == 0 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

var (
	mailEvent   = regexp.MustCompile(`^      event ([0-9a-f-]{36})$`)
	mailPartner = regexp.MustCompile(`^Subject: edigw: (\w+):`)
)

// mailbox speaks as much SMTP as it takes to get a mail, and loses the answer to one in
// ten.
func mailbox(conn net.Conn, out io.Writer) error {
	say := func(text string) error { _, err := fmt.Fprint(conn, text+"\r\n"); return err }
	if err := say("220 sink"); err != nil {
		return err
	}
	data, partner := false, ""
	var events []string
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		line := lines.Text()
		answer := "250 ok"
		switch {
		case data && line == ".":
			var text strings.Builder
			for _, id := range events {
				fmt.Fprintf(&text, "%s %s\n", id, partner)
			}
			if _, err := io.WriteString(out, text.String()); err != nil {
				return err
			}
			if rand.IntN(10) == 0 {
				return nil
			}
			data, events = false, nil
		case data:
			if m := mailEvent.FindStringSubmatch(line); m != nil {
				events = append(events, m[1])
			}
			if m := mailPartner.FindStringSubmatch(line); m != nil {
				partner = m[1]
			}
			continue
		case line == "DATA":
			data, answer = true, "354 go on"
		case line == "QUIT":
			return say("221 bye")
		}
		if err := say(answer); err != nil {
			return err
		}
	}
	return nil
}

// arrivalsIn reads what a receiver has written.
func arrivalsIn(file string) (list []arrival, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		id, partner, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || !strings.HasSuffix(line, "\n") {
			continue // it was killed while it wrote, and has not answered
		}
		list = append(list, arrival{id, partner})
	}
	return list, nil
}
