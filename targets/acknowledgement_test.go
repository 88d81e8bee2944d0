package targets

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/edigw/edigw/outbox"
)

func TestAcknowledgementsOverAWebhook(t *testing.T) {
	const contrl = "UNB+UNOC:3+NORTH+ACME+261128:0914+7'UNH+1+CONTRL:D:3:UN'UCI+1001+ACME+NORTH+7'UNT+3+1'UNZ+1+7'"
	body, err := json.Marshal(outbox.AcknowledgementBody{Type: "CONTRL", Syntax: "edifact", Reference: "7", Content: contrl})
	if err != nil {
		t.Fatal(err)
	}
	r := record()
	step := outbox.NewStep(outbox.Effect{Partner: "acme", Event: r.ID}, outbox.Caused{Body: body}, nil)
	guard, err := NewGuard([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	open := func(address, secret string, no error) outbox.Target {
		a := &Acknowledgements{Guard: guard, Now: time.Now, Secret: func(string) (string, error) { return NewWebhookSecret(), nil },
			Address: func(string) (string, string, error) { return address, secret, no }}
		return a.Target()
	}
	t.Run("the interchange goes as it is, under an id that stays", func(t *testing.T) {
		var got []byte
		var header http.Header
		s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			header = r.Header
			got, _ = io.ReadAll(r.Body) // of a request that was sent whole
		}))
		defer s.Close()
		if err := open(s.URL, "acme", nil).Send(t.Context(), step); err != nil {
			t.Fatal(err)
		}
		if string(got) != contrl || header.Get("Content-Type") != "application/EDIFACT" || header.Get("webhook-id") != r.ID.String() || !strings.HasPrefix(header.Get("webhook-signature"), "v1,") {
			t.Errorf("%s\n%v", got, header)
		}
		if err := open(s.URL, "", nil).Send(t.Context(), step); err != nil || header.Get("webhook-signature") != "" {
			t.Errorf("signed without a secret: %v, %v", header, err)
		}
	})
	t.Run("the media type is that of its syntax", func(t *testing.T) {
		var kind string
		s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { kind = r.Header.Get("Content-Type") }))
		defer s.Close()
		for syntax, want := range map[string]string{"edifact": "application/EDIFACT", "x12": "application/EDI-X12"} { // as edi.Interchange has it
			body, err := json.Marshal(outbox.AcknowledgementBody{Type: "997", Syntax: syntax, Reference: "7", Content: "…"})
			if err != nil {
				t.Fatal(err)
			}
			step := outbox.NewStep(outbox.Effect{Partner: "acme", Event: r.ID}, outbox.Caused{Body: body}, nil)
			if err := open(s.URL, "", nil).Send(t.Context(), step); err != nil || kind != want {
				t.Errorf("%s goes as %s, %v", syntax, kind, err)
			}
		}
	})
	t.Run("what did not arrive is tried again, and what may have arrived too", func(t *testing.T) {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "closed for today", http.StatusForbidden) }))
		defer s.Close()
		target := open(s.URL, "", nil)
		if err := target.Send(t.Context(), step); !errors.Is(err, outbox.ErrNotDone) || !strings.Contains(err.Error(), "closed for today") {
			t.Error(err)
		}
		if o, err := target.Ask(t.Context(), step); o != outbox.NotDone || err != nil {
			t.Error(o, err)
		}
	})
	t.Run("a status that names what was sent refuses it without a reason, any other is of a door", func(t *testing.T) {
		for status, want := range map[int]error{
			http.StatusRequestEntityTooLarge: outbox.ErrUnexplained, http.StatusUnprocessableEntity: outbox.ErrUnexplained,
			http.StatusBadRequest: outbox.ErrNotDone, http.StatusNotFound: outbox.ErrNotDone, http.StatusGone: outbox.ErrNotDone, http.StatusBadGateway: outbox.ErrNotDone,
		} {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such document", status) }))
			defer s.Close()
			err := open(s.URL, "", nil).Send(t.Context(), step)
			if !errors.Is(err, want) || errors.Is(err, outbox.ErrFinal) || !strings.Contains(err.Error(), "no such document") {
				t.Errorf("%d: %v", status, err)
			}
		}
	})
	t.Run("they do not go in the clear to a host that the administrator does not name", func(t *testing.T) {
		arrived := false
		s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived = true }))
		defer s.Close()
		err := open(strings.Replace(s.URL, "127.0.0.1", "localhost", 1), "", nil).Send(t.Context(), step)
		if !errors.Is(err, outbox.ErrNotDone) || !strings.Contains(err.Error(), "is not https") || arrived {
			t.Error(err, arrived)
		}
	})
	t.Run("a partner who takes none any more says so", func(t *testing.T) {
		if err := open("", "", ErrNoAddress).Send(t.Context(), step); !errors.Is(err, ErrNoAddress) || !errors.Is(err, outbox.ErrNotDone) {
			t.Error(err)
		}
	})
}
