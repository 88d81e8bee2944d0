package as4_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

const samples = "../../shared/samples/as4"

// The structure of messages that other programs made: framing, header, parts. Their
// signatures are wssec's to verify; here they are taken as if nothing were signed.
func TestSamplesOfOthers(t *testing.T) {
	if _, err := os.Stat(samples); errors.Is(err, fs.ErrNotExist) {
		t.Skip("shared absent")
	}
	spec := partners.AS4DefaultsOf("edelivery-1.15")
	spec.From.Role, spec.To.Role, spec.MPC, spec.Agreement = "", "", "", ""
	spec.Unsigned, spec.Unencrypted = partners.AS4Accept, partners.AS4Accept
	anybody := &partners.Partner{ID: "anybody", Active: true, AS4: &partners.AS4{AS4Spec: spec}}
	h := &as4.Handler{
		ByParties: func(string, string, string, string) *partners.Partner { return anybody },
		Signers:   func(context.Context, string) ([]*wssec.Signing, error) { return nil, nil },
		Receive: func(_ context.Context, d *gateway.Delivery) (*gateway.Receipt, error) {
			if d.Fault != nil {
				return nil, d.Fault
			}
			r := &gateway.Receipt{Items: []gateway.Item{{Answer: gateway.ToldAccepted}}}
			var err error
			r.Rendered, err = d.Render(r)
			return r, err
		},
		Spool: &gateway.Spool{Dir: t.TempDir()}, Log: slog.New(slog.DiscardHandler),
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	r := &rig{t: t, url: server.URL}
	for _, c := range []struct{ file, want, why string }{
		{"as4net/as4message.txt", "receipt", ""},
		{"as4net/as4_single_payload.as4", "receipt", ""},
		{"as4net/as4_soapattachment.as4", as4.ExternalPayloadError, "its href is empty: the payload is in the Body"},
		{"as4net/as4message_external_payloads.as4", as4.ExternalPayloadError, "its href is no cid"},
		{"as4net/as4message_incorect_compressed.txt", as4.DecompressionFailure, "a byte order mark before the first boundary, and no gzip"},
		{"as4net/as4message_missing_mime_property.txt", as4.ValueInconsistent, "a CompressionType without a MimeType"},
		{"as4net/as4-pullrequest-warning.xml", "", "an error by itself is never answered by an error"},
		{"as4net/as4-soap-user-receipt-message.xml", as4.ValueInconsistent, "a user message and a receipt in one"},
		{"as4net/as4-soap-pullrequest.xml", as4.FeatureNotSupported, "a pull request"},
		{"as4net/receipt.xml", as4.FeatureNotSupported, "a receipt by itself"},
		{"phase4/testfiles/TwoUserMessages.xml", as4.ValueInconsistent, "two user messages"},
		{"phase4/testfiles/UserMessageNoPartyID.xml", as4.InvalidHeader, "no party"},
		{"phase4/testfiles/NoResponder.xml", as4.InvalidHeader, "no eb:To"},
		{"as4net/as4-multihop-usermessage.as4", as4.InvalidHeader, "no Action"},
		{"as4net/BizTalkUserMessage.xml", as4.InvalidHeader + ", fault Sender", "a Body of SOAP 1.1 in an envelope of 1.2"},
		{"as4net/UserMessage.xml", as4.ExternalPayloadError, "its parts are not there"},
		{"as4net/receiveagent_message.as4", "receipt", ""},
		{"domibus/SOAPMessageNoMessaging.xml", as4.InvalidHeader, "no Messaging"},
		{"domibus/InvalidBodyloadCidSOAPMessage.xml", as4.ExternalPayloadError, "a payload in the Body"},
		{"domibus/SOAPFaultResponse.xml", as4.InvalidHeader, "a fault by itself"},
		{"domibus/UserMessageReceipt.xml", as4.FeatureNotSupported, "a receipt by itself"},
		{"domibus/soapEnvelope-PullRequest.xml", as4.FeatureNotSupported, "a pull request"},
		{"phase4/testfiles/ErrorMessage.xml", "", "an error by itself"},
		{"phase4/testfiles/WrongCompression.mime", as4.ValueInconsistent, "base64, folded header, an id without brackets, and a compression that is none"},
	} {
		t.Run(strings.TrimSpace(c.file+" "+c.why), func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join(samples, c.file))
			if err != nil {
				t.Fatal(err)
			}
			contentType, body := asRequest(b)
			got := r.post(contentType, body)
			if got.told() != c.want || got.status >= http.StatusInternalServerError {
				t.Errorf("%d %s, want %s\n%.1800s", got.status, got.told(), c.want, got.body)
			}
		})
	}
}

// asRequest gives a sample the header that its file lacks.
func asRequest(b []byte) (contentType string, body []byte) {
	text := bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(text, []byte("Content-Type:")) || bytes.HasPrefix(text, []byte("MIME-Version:")) || bytes.HasPrefix(text, []byte("Message-ID:")) {
		head, rest, _ := bytes.Cut(text, []byte("\r\n\r\n"))
		for field := range strings.SplitSeq(strings.ReplaceAll(strings.ReplaceAll(string(head), "\r\n\t", " "), "\r\n ", " "), "\r\n") {
			if value, ok := strings.CutPrefix(field, "Content-Type:"); ok {
				contentType = strings.TrimSpace(value)
			}
		}
		return contentType, rest
	}
	first, _, _ := bytes.Cut(bytes.TrimLeft(text, "\r\n"), []byte("\n"))
	if boundary, ok := bytes.CutPrefix(bytes.TrimRight(first, "\r"), []byte("--")); ok {
		return `multipart/related; type="application/soap+xml"; boundary="` + string(boundary) + `"`, b
	}
	return "application/soap+xml", b
}
