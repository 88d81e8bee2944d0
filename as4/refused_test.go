package as4_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/beevik/etree"
	"github.com/google/uuid"

	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
)

// errorsOf is a signal of errors to a message, "" for none, which by signs; nil: nobody does.
func errorsOf(t *testing.T, ref string, by *identity, codes ...string) string {
	t.Helper()
	doc := etree.NewDocument()
	text := `<eb:Messaging xmlns:eb="http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/"><eb:SignalMessage><eb:MessageInfo><eb:Timestamp>2026-11-29T10:15:00Z</eb:Timestamp><eb:MessageId>s1</eb:MessageId>`
	if ref != "" {
		text += `<eb:RefToMessageId>` + ref + `</eb:RefToMessageId>`
	}
	text += `</eb:MessageInfo>`
	for _, code := range codes {
		text += `<eb:Error errorCode="` + code + `" severity="failure"/>`
	}
	if err := doc.ReadFromString(text + `</eb:SignalMessage></eb:Messaging>`); err != nil {
		t.Fatal(err)
	}
	var signing *wssec.Signing
	if by != nil {
		signing = signedBy(*by)
	}
	secured, err := wssec.Outgoing{Messaging: doc.Root()}.Secure(signing, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(secured.SOAP)
}

func TestWhatRefusesAnAcknowledgement(t *testing.T) {
	event := uuid.MustParse("01a22c32-24d7-7726-a9df-2253aeb00000")
	id := event.String() + "@edigw"
	theirs, stranger := talquist(), mallory()
	signed := func(codes ...string) string { return errorsOf(t, id, &theirs, codes...) }
	const soap = "application/soap+xml"
	lost := errors.New("it may have been taken")
	send := func(t *testing.T, url string, doubtful bool, change func(*partners.Partner)) error {
		t.Helper()
		_, a, p := newTheirSide(t)
		p.AS4.URL = url
		if change != nil {
			change(p)
		}
		step := outbox.NewStep(outbox.Effect{Partner: "talquist", Event: event, Attempts: 150}, outbox.Caused{Body: json.RawMessage(`{"type":"CONTRL","syntax":"edifact","content":"UNB"}`)}, nil)
		step.Doubtful = doubtful
		return a.Target().Send(t.Context(), step)
	}
	expect := func(t *testing.T, err, want error) {
		t.Helper()
		for _, of := range []error{outbox.ErrFinal, outbox.ErrUnexplained, outbox.ErrNotDone} {
			if err == nil || errors.Is(err, of) != (of == want) {
				t.Errorf("got %v, want %v", err, want)
			}
		}
	}
	for _, c := range []struct {
		name, kind, body string
		status           int
		want             error
	}{
		{"an error of the content is for good", soap, signed("EBMS:0303"), 200, outbox.ErrFinal},
		{"another one, with the status of a SOAP Fault", soap, signed("EBMS:0009"), 400, outbox.ErrFinal},
		{"one of a part", soap, signed("EBMS:0011"), 200, outbox.ErrFinal},
		{"one of MIME, beside one of the moment", soap, signed("EBMS:0202", "EBMS:0007"), 200, outbox.ErrFinal},
		{"EBMS:0004 gives no reason", soap, signed("EBMS:0004"), 500, outbox.ErrUnexplained},
		{"nor does it beside one of the moment", soap, signed("EBMS:0202", "EBMS:0004"), 200, outbox.ErrUnexplained},
		{"one of the moment comes again", soap, signed("EBMS:0202"), 200, outbox.ErrNotDone},
		{"one of the moment, whatever the status", soap, signed("EBMS:0005"), 400, outbox.ErrNotDone},
		{"an unknown sender is a door", soap, signed("EBMS:0101"), 200, outbox.ErrNotDone},
		{"so is a key that does not fit", soap, signed("EBMS:0102"), 200, outbox.ErrNotDone},
		{"so is a policy", soap, signed("EBMS:0103"), 200, outbox.ErrNotDone},
		{"so is a service that was not agreed on", soap, signed("EBMS:0010"), 200, outbox.ErrNotDone},
		{"so is a value that he does not know", soap, signed("EBMS:0001", "EBMS:0003"), 200, outbox.ErrNotDone},
		{"so is a code that nobody knows", soap, signed("EBMS:9999"), 200, outbox.ErrNotDone},
		{"so is one of them beside EBMS:0004", soap, signed("EBMS:0004", "EBMS:0003"), 200, outbox.ErrNotDone},
		{"an error that nobody signed proves nothing", soap, errorsOf(t, id, nil, "EBMS:0303"), 200, outbox.ErrNotDone},
		{"one that somebody else signed proves nothing", soap, errorsOf(t, id, &stranger, "EBMS:0303"), 200, outbox.ErrNotDone},
		{"one that names no message proves nothing", soap, errorsOf(t, "", &theirs, "EBMS:0303"), 200, outbox.ErrNotDone},
		{"nor does EBMS:0004 that nobody signed", soap, errorsOf(t, id, nil, "EBMS:0004"), 200, outbox.ErrNotDone},
		{"one of another message says nothing of this one, which may have been taken", soap, errorsOf(t, "other", &theirs, "EBMS:0303"), 200, lost},
		{"a status without ebMS may be a proxy's", "text/plain", "no", 400, outbox.ErrNotDone},
		{"of whatever it speaks", "text/plain", "no", 422, outbox.ErrNotDone},
		{"403 is a door", "text/html", "no", 403, outbox.ErrNotDone},
		{"503 took nothing", "text/html", "no", 503, outbox.ErrNotDone},
		{"a server that is lost behind a proxy may have it", "text/html", "no", 502, lost},
		{"a success without a receipt may have it", "", "", 202, lost},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, send(t, answering(t, c.status, c.kind, c.body), false, nil), c.want)
		})
	}
	t.Run("where nobody's signature is asked for, an error need not have one", func(t *testing.T) {
		expect(t, send(t, answering(t, 200, soap, errorsOf(t, id, nil, "EBMS:0303")), false, func(p *partners.Partner) {
			p.AS4.Unsigned = partners.AS4Accept
			p.Certificates[0].Purposes = []string{partners.AS4Encrypt}
		}), outbox.ErrFinal)
	})
	t.Run("a connection that ends before the answer leaves open whether it was taken", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
		t.Cleanup(server.Close)
		expect(t, send(t, server.URL, false, nil), lost)
	})
	t.Run("one that nobody takes does not", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		expect(t, send(t, server.URL, false, nil), outbox.ErrNotDone)
	})
	t.Run("what may have been taken before stays so, whatever is said to the next try", func(t *testing.T) {
		expect(t, send(t, answering(t, 200, soap, signed("EBMS:0101")), true, nil), lost)
		expect(t, send(t, answering(t, 403, "text/html", "no"), true, nil), lost)
		expect(t, send(t, answering(t, 200, soap, signed("EBMS:0004")), true, nil), outbox.ErrUnexplained)
	})
}
