package cases_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/edigw/edigw/gateway"
)

// line is a connection on which a test sends bytes as it likes.
type line struct {
	*rig
	net.Conn
	read *bufio.Reader
}

func (r *rig) dial() *line {
	r.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		_ = conn.Close() // a test may have closed it
	})
	return &line{r, conn, bufio.NewReader(conn)}
}

// send sends bytes.
func (l *line) send(format string, args ...any) {
	l.t.Helper()
	if _, err := fmt.Fprintf(l.Conn, format, args...); err != nil {
		l.t.Fatal(err)
	}
}

// head sends the header of talquist's message of an id, with further fields.
func (l *line) head(id string, fields ...string) {
	l.t.Helper()
	l.send("POST /as2 HTTP/1.1\r\nHost: gw\r\nAS2-From: TALQUIST-AS2\r\nAS2-To: NORDHAFEN-AS2\r\nMessage-ID: <%s@talquist.example>\r\nContent-Type: application/EDIFACT\r\n%s%s\r\n\r\n",
		id, asksSigned, strings.Join(fields, "\r\n"))
}

// answer reads an answer.
func (l *line) answer() *mdn {
	l.t.Helper()
	resp, err := http.ReadResponse(l.read, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	return l.mdnOf(resp)
}

// TestAS2Bodies sends bodies as networks bring them: each goes through, with its MDN.
func TestAS2Bodies(t *testing.T) {
	t.Parallel()
	r := newRig(t, unsignedAS2)
	n := 0
	fresh := func() (id, text, number string) {
		n++
		number = fmt.Sprint("R-", n)
		return fmt.Sprint("m-", n), invoic(fmt.Sprint(n), number, "100.00"), number
	}
	chunks := func(text string, size int) string {
		var b strings.Builder
		for len(text) > 0 {
			k := min(size, len(text))
			fmt.Fprintf(&b, "%x;x=\"y\"\r\n%s\r\n", k, text[:k])
			text = text[k:]
		}
		return b.String() + "0\r\nX-Trailer: z\r\n\r\n"
	}
	for _, size := range []int{1, 7, 4096} {
		t.Run(fmt.Sprintf("in chunks of %d bytes", size), func(t *testing.T) {
			id, text, number := fresh()
			l := r.dial()
			l.head(id, "Transfer-Encoding: chunked")
			l.send("%s", chunks(text, size))
			r.told(l.answer(), asSigned, "")
			r.postedOnce(number)
		})
	}
	t.Run("byte by byte, each in a packet of its own", func(t *testing.T) {
		id, text, number := fresh()
		l := r.dial()
		l.head(id, fmt.Sprintf("Content-Length: %d", len(text)))
		for _, c := range []byte(text) {
			l.send("%c", c)
		}
		r.told(l.answer(), asSigned, "")
		r.postedOnce(number)
	})
	t.Run("who keeps the pace may take many times as long", func(t *testing.T) {
		r := newRig(t, unsignedAS2)
		r.as2.Limits.Pace = time.Second
		text := large("1", "R-1", 128<<10)
		l := r.dial()
		l.head("slow", "Transfer-Encoding: chunked")
		for part := range strings.SplitSeq(chunks(text, 32<<10), "\r\n") {
			l.send("%s\r\n", part)
			time.Sleep(150 * time.Millisecond)
		}
		r.told(l.answer(), asSigned, "")
		r.postedOnce("R-1")
	})
	t.Run("after 100 Continue", func(t *testing.T) {
		id, text, number := fresh()
		l := r.dial()
		l.head(id, "Expect: 100-continue", fmt.Sprintf("Content-Length: %d", len(text)))
		told, err := l.read.ReadString('\n')
		if err != nil || !strings.Contains(told, "100 Continue") {
			t.Fatalf("got %q, %v", told, err)
		}
		if _, err := l.read.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		l.send("%s", text)
		r.told(l.answer(), asSigned, "")
		r.postedOnce(number)
	})
	t.Run("several on one connection, sent before the first is answered", func(t *testing.T) {
		l := r.dial()
		var numbers []string
		for range 3 {
			id, text, number := fresh()
			numbers = append(numbers, number)
			l.head(id, fmt.Sprintf("Content-Length: %d", len(text)))
			l.send("%s", text)
		}
		for _, number := range numbers {
			r.told(l.answer(), asSigned, "")
			r.postedOnce(number)
		}
	})
}

// large is an interchange of at least so many bytes, with one invoice of a number and
// others.
func large(ref, number string, size int) string {
	text := invoic(ref, number, "100.00")
	from, to := strings.Index(text, "UNH+"), strings.Index(text, "UNZ+")
	b := strings.Builder{}
	b.WriteString(text[:to])
	n := 1
	for b.Len() < size {
		n++
		b.WriteString(strings.NewReplacer("UNH+1+", fmt.Sprintf("UNH+%d+", n), "+"+number+"+", fmt.Sprintf("+%s-%d+", number, n), "UNT+17+1", fmt.Sprintf("UNT+17+%d", n)).Replace(text[from:to]))
	}
	return b.String() + strings.Replace(text[to:], "UNZ+1", fmt.Sprint("UNZ+", n), 1)
}

// TestAS2CutBodies sends bodies that do not come to their end: there is no MDN, nothing
// is kept, and the retry is First.
func TestAS2CutBodies(t *testing.T) {
	t.Parallel()
	good := invoic("1", "R-1", "100.00")
	for name, c := range map[string]struct {
		fields string
		sent   string
		status int // 0: the sender is gone
	}{
		"it stops, and its sender waits":           {fmt.Sprintf("Content-Length: %d", len(good)), good[:100], http.StatusRequestTimeout},
		"it stops between chunks":                  {"Transfer-Encoding: chunked", fmt.Sprintf("64\r\n%s\r\n", good[:100]), http.StatusRequestTimeout},
		"it is no chunk":                           {"Transfer-Encoding: chunked", fmt.Sprintf("64\r\n%s\r\nzz\r\n", good[:100]), http.StatusBadRequest},
		"its sender is gone in the middle":         {fmt.Sprintf("Content-Length: %d", len(good)), good[:100], 0},
		"its sender is gone before the last byte":  {fmt.Sprintf("Content-Length: %d", len(good)), good[:len(good)-1], 0},
		"its sender is gone in a chunk":            {"Transfer-Encoding: chunked", fmt.Sprintf("64\r\n%s", good[:50]), 0},
		"its sender is gone before the last chunk": {"Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n", len(good), good), 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, unsignedAS2)
			r.as2.Limits.Pace = 100 * time.Millisecond
			if c.status == 0 {
				r.as2.Limits.Pace = time.Minute // it is seen that he is gone
			}
			l := r.dial()
			l.head("m-1", c.fields)
			l.send("%s", c.sent)
			if c.status == 0 {
				if err := l.Conn.(*net.TCPConn).CloseWrite(); err != nil {
					t.Fatal(err)
				}
				if text := drained(l.read); strings.Contains(text, "disposition-notification") {
					t.Errorf("there is an MDN: %s", text)
				}
			} else if m := l.answer(); m.status != c.status || m.says != nil {
				t.Errorf("told %s", m)
			}
			r.empty(name)
			r.as2.Limits.Pace = 0
			r.brings("m-1", good, "T1 I1b", positive)
			r.postedOnce("R-1")
		})
	}
}

// TestAS2HangUp is a sender whose connection is cut when his message is committed, and
// whose MDN is lost: the retry gets it.
func TestAS2HangUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, unsignedAS2)
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	cut := make(chan error, 1)
	var once sync.Once
	r.gateway.Hook = func(point string) {
		if point == "claim" {
			once.Do(func() { cut <- conn.Close() })
		}
	}
	text := invoic("1", "R-1", "100.00")
	if _, err := fmt.Fprintf(conn, "POST /as2 HTTP/1.1\r\nHost: gw\r\nAS2-From: TALQUIST-AS2\r\nAS2-To: NORDHAFEN-AS2\r\nMessage-ID: <m-1@talquist.example>\r\nContent-Type: application/EDIFACT\r\n%sContent-Length: %d\r\n\r\n%s", asksSigned, len(text), text); err != nil {
		t.Fatal(err)
	}
	if err := <-cut; err != nil {
		t.Fatal(err)
	}
	again := r.post("m-1", asksSigned, text) // waits for the first
	r.told(again, asSigned, "")
	third := r.post("m-1", asksSigned, text)
	if !bytes.Equal(again.body, third.body) {
		t.Error("the MDN is another one")
	}
	if rows := r.deliveries(3); len(rows) != 3 || rows[2].Verdict != string(gateway.First) || rows[0].Verdict != string(gateway.Duplicate) || rows[1].Verdict != string(gateway.Duplicate) {
		t.Errorf("got %d deliveries", len(rows))
	}
	r.postedOnce("R-1")
}

// drained reads what is left of an answer.
func drained(from io.Reader) string {
	text, _ := io.ReadAll(from) // cut off: what came of it is looked at
	return string(text)
}
