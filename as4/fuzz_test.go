package as4_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// deadlines is a recorder that takes the deadlines a connection has.
type deadlines struct{ *httptest.ResponseRecorder }

func (deadlines) SetReadDeadline(time.Time) error  { return nil }
func (deadlines) SetWriteDeadline(time.Time) error { return nil }
func (d deadlines) FlushError() error              { d.Flush(); return nil }

// FuzzRequest sends whatever there is: the answer is always XML, never of status 500,
// and nothing is delivered that is not a whole message.
func FuzzRequest(f *testing.F) {
	spec := partners.AS4DefaultsOf("edelivery-1.15")
	spec.From.Role, spec.To.Role, spec.MPC, spec.Agreement = "", "", "", ""
	spec.Unsigned, spec.Unencrypted = partners.AS4Accept, partners.AS4Accept
	anybody := &partners.Partner{ID: "anybody", Active: true, AS4: &partners.AS4{AS4Spec: spec}}
	h := &as4.Handler{
		ByParties: func(string, string, string, string) *partners.Partner { return anybody },
		Signers:   func(context.Context, string) ([]*wssec.Signing, error) { return nil, nil },
		Decrypters: func(context.Context, string) ([]wssec.DecryptionKey, error) {
			return []wssec.DecryptionKey{{Certificate: nordhafen().cert, Key: nordhafen().key}}, nil
		},
		Spool: &gateway.Spool{}, Log: slog.New(slog.DiscardHandler), Limits: as4.Limits{MaxBody: 1 << 20},
		Receive: func(_ context.Context, d *gateway.Delivery) (*gateway.Receipt, error) {
			if d.Fault != nil {
				return nil, d.Fault
			}
			if d.TransportID == "" || d.Payload == nil || len(d.Binding) == 0 {
				return nil, errors.New("half a delivery")
			}
			r := &gateway.Receipt{Items: []gateway.Item{{Answer: gateway.ToldAccepted}}}
			var err error
			r.Rendered, err = d.Render(r)
			return r, err
		},
	}
	for _, payloads := range [][]as4.Payload{nil, {as4.Bytes([]byte("UNB"), "application/edifact")}, {gzipped("UNB"), saidToBeGzip([]byte("x"))}} {
		c, err := as4.Compose(message("m1"), payloads, nil, nil)
		if err != nil {
			f.Fatal(err)
		}
		body := c.Body()
		b, err := io.ReadAll(body)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(c.ContentType, b)
	}
	f.Add("text/xml", []byte("<x/>"))
	f.Add(`multipart/related; boundary="b"; start="<a>"`, []byte("--b\r\n\r\nx\r\n--b\r\nContent-ID: <a>\r\n\r\n<x/>\r\n--b--"))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		r := httptest.NewRequest(http.MethodPost, "/as4", bytes.NewReader(body))
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Expect", "100-continue") // nobody waits for who does not read the answer
		w := deadlines{httptest.NewRecorder()}
		h.ServeHTTP(w, r)
		if w.Code >= http.StatusInternalServerError {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if w.Code == http.StatusAccepted && w.Body.Len() == 0 {
			return // to an error signal
		}
		for d := xml.NewDecoder(w.Body); ; {
			_, err := d.Token()
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Fatalf("the answer is no XML: %v", err)
			}
		}
	})
}
