package as2

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestRawRequests sends bytes that no client library would.
func TestRawRequests(t *testing.T) {
	for name, head := range map[string]string{
		"folded fields":            "AS2-From: TALQUIST-AS2\r\nAS2-To: NORDHAFEN-AS2\r\nMessage-ID:\r\n <m1@talquist.example>\r\nContent-Type: application/edifact;\r\n\tname=\"a.edi\"\r\nDisposition-Notification-To:\r\n edi@talquist.example\r\n",
		"names twice":              "AS2-From: TALQUIST-AS2\r\nAS2-From: OTHER\r\nAS2-To: NORDHAFEN-AS2\r\nMessage-ID: <m1@talquist.example>\r\nDisposition-Notification-To: x\r\n",
		"lower case, LF line ends": "as2-from: TALQUIST-AS2\nas2-to: NORDHAFEN-AS2\nmessage-id: m1@talquist.example\ndisposition-notification-to: x\n",
		"no version, no subject":   "AS2-From: \"TALQUIST-AS2\"\r\nAS2-To: NORDHAFEN-AS2\r\nMessage-ID: <m1@talquist.example>\r\nDisposition-Notification-To: x\r\n",
	} {
		for coding, body := range map[string]string{
			"with a length": fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(edifact.Body), edifact.Body),
			"chunked":       fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n5;x=y\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n", edifact.Body[:5], len(edifact.Body)-5, edifact.Body[5:]),
		} {
			t.Run(name+", "+coding, func(t *testing.T) {
				in := newIngress(t, unsigned)
				conn, err := net.Dial("tcp", strings.TrimPrefix(in.url, "http://"))
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				if _, err := fmt.Fprintf(conn, "POST /as2 HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n%s%s", head, body); err != nil {
					t.Fatal(err)
				}
				resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Fatal(err)
				}
				a := in.read(resp)
				if a.says() != "200 processed" || in.payloads[0] != string(edifact.Body) || in.got[0].TransportID != "as2:NORDHAFEN-AS2:m1@talquist.example" {
					t.Errorf("got %s, %q, %s", a.says(), in.payloads, in.got[0].TransportID)
				}
			})
		}
	}
	t.Run("a body that does not come, or ends before its end, is told so, and nothing of it is received", func(t *testing.T) {
		for name, c := range map[string]struct {
			sent string
			want int
		}{
			"slow":      {"UNB+", http.StatusRequestTimeout},
			"broken":    {"Transfer-Encoding: chunked\r\n\r\nzz\r\n", http.StatusBadRequest},
			"no length": {"Content-Length: 0\r\n\r\n", http.StatusOK},
		} {
			in := newIngress(t, unsigned)
			in.Limits.Pace = 50 * time.Millisecond
			conn, err := net.Dial("tcp", strings.TrimPrefix(in.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			length := ""
			if name == "slow" {
				length = "Content-Length: 1000\r\n\r\n"
			}
			if _, err := fmt.Fprintf(conn, "POST /as2 HTTP/1.1\r\nHost: gw\r\nAS2-From: TALQUIST-AS2\r\nAS2-To: NORDHAFEN-AS2\r\nMessage-ID: <m1@x>\r\nDisposition-Notification-To: x\r\n%s%s", length, c.sent); err != nil {
				t.Fatal(err)
			}
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(name, err)
			}
			if a := in.read(resp); a.status != c.want {
				t.Errorf("%s: got %s %s", name, a.says(), a.body)
			}
			if c.want != http.StatusOK && len(in.got) != 0 {
				t.Errorf("%s: it was received", name)
			}
		}
	})
	t.Run("a header of the answer is as RFC 4130 spells it, and in one line each", func(t *testing.T) {
		in := newIngress(t, unsigned)
		conn, err := net.Dial("tcp", strings.TrimPrefix(in.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := fmt.Fprintf(conn, "POST /as2 HTTP/1.1\r\nHost: gw\r\nConnection: close\r\nAS2-From: TALQUIST-AS2\r\nAS2-To: NORDHAFEN-AS2\r\nDisposition-Notification-To: x\r\nContent-Length: %d\r\n\r\n%s", len(edifact.Body), edifact.Body); err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(conn)
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := bytes.Cut(raw, []byte("\r\n\r\n"))
		for _, want := range []string{"\r\nAS2-From: NORDHAFEN-AS2\r\n", "\r\nAS2-To: TALQUIST-AS2\r\n", "\r\nMessage-ID: <", "\r\nMIME-Version: 1.0", "\r\nContent-Length: "} {
			if !bytes.Contains(append(head, "\r\n"...), []byte(want)) {
				t.Errorf("%q is not in\n%s", want, head)
			}
		}
		if bytes.Contains(head, []byte("\r\n ")) || bytes.Contains(head, []byte("\r\n\t")) || bytes.Contains(head, []byte("Transfer-Encoding")) {
			t.Errorf("a folded line, or chunks:\n%s", head)
		}
	})
}
