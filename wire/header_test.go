package wire

import (
	"bytes"
	"net/http"
	"net/mail"
	"strings"
	"testing"
)

func TestReadingHeader(t *testing.T) {
	t.Run("it is a header that mail is read by, without what proves who sent it", func(t *testing.T) {
		h := http.Header{}
		for name, value := range map[string]string{"Content-Type": `multipart/signed; boundary="b"`, "AS2-From": "ACME", "Message-ID": "<1@acme.example>", "Authorization": "Bearer secret", "Cookie": "secret", "Subject": "a\r\nX-Other: b"} {
			h.Set(name, value)
		}
		text := ReadingHeader(h)
		m, err := mail.ReadMessage(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if m.Header.Get("Content-Type") != `multipart/signed; boundary="b"` || m.Header.Get("MIME-Version") != "1.0" || m.Header.Get("Message-ID") != "<1@acme.example>" || m.Header.Get("X-Other") != "" || strings.Contains(string(text), "secret") {
			t.Errorf("got %q", text)
		}
	})
	t.Run("a field that does not fit is left out, and the others stay", func(t *testing.T) {
		text := string(ReadingHeader(http.Header{"Content-Type": {"text/plain"}, "Content-Disposition": {strings.Repeat("x", 5000)}, "User-Agent": {"acme/1"}}))
		if want := "MIME-Version: 1.0\r\nContent-Type: text/plain\r\nUser-Agent: acme/1\r\n\r\n"; text != want {
			t.Errorf("got %q", text)
		}
	})
}
