package as4_test

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/journal"
)

// What is kept of a message proves afterwards who sent it: the signature verifies
// over the envelope and the parts that are read back.
func TestEvidenceVerifiesAgain(t *testing.T) {
	r := newRig(t, "")
	plain := as4.Bytes([]byte(interchange("REF2", "R-2", "2.00")), "application/edifact")
	r.received(r.compose(message("m1"), gzipped(interchange("REF1", "R-1", "1.00")), plain, gzipped(interchange("REF3", "R-3", "3.00"))))
	var payload uuid.UUID
	var month time.Time
	if err := r.pool.QueryRow(t.Context(), `select distinct payload_id, purge_month from evidence`).Scan(&payload, &month); err != nil {
		t.Fatal(err)
	}
	exhibits, err := journal.ReadEvidence(t.Context(), r.pool, "talquist", payload, month)
	if err != nil {
		t.Fatal(err)
	}
	var soap []byte
	var parts []wssec.Part
	ids := []string{"payload-1.m1", "payload-2.m1", "payload-3.m1"}
	for _, x := range exhibits {
		b, err := io.ReadAll(x)
		if err != nil {
			t.Fatal(err)
		}
		if x.Name == "envelope.xml" {
			soap = b
			continue
		}
		parts = append(parts, wssec.Part{ContentID: ids[len(parts)], MimeType: x.MediaType, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }})
	}
	if len(parts) != 3 {
		t.Fatalf("%d exhibits", len(exhibits))
	}
	verify := func(parts []wssec.Part) error {
		env, err := wssec.Read(soap)
		if err != nil {
			return err
		}
		_, err = env.Verify(parts, wssec.Verification{Signer: wssec.Pinned(talquist().cert)})
		return err
	}
	if err := verify(parts); err != nil {
		t.Errorf("it does not verify any more: %v", err)
	}
	parts[1].Open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader([]byte("forged"))), nil }
	if err := verify(parts); err == nil {
		t.Error("a forged part verifies")
	}
	t.Run("what the payload holds is not stored twice", func(t *testing.T) {
		if n := r.count(`select length(body) from evidence where name = 'part-2'`); n != 0 {
			t.Errorf("%d bytes of the part that is not compressed", n)
		}
	})
}

// A request that is refused is kept with its header: without the boundary in its
// Content-Type its parts cannot be told apart.
func TestRefusedRequestIsKeptWithItsHeader(t *testing.T) {
	r := newRig(t, "")
	c, err := as4.Compose(message("forged"), []as4.Payload{gzipped(interchange("REF1", "R-1", "1.00"))}, signedBy(mallory()), encryptedTo(nordhafen()))
	if err != nil {
		t.Fatal(err)
	}
	r.refused(c, as4.FailedAuthentication)
	var payload uuid.UUID
	var month time.Time
	if err := r.pool.QueryRow(t.Context(), `select payload_id, payload_month from delivery where verdict = 'refused'`).Scan(&payload, &month); err != nil {
		t.Fatal(err)
	}
	exhibits, err := journal.ReadEvidence(t.Context(), r.pool, "talquist", payload, month)
	if err != nil || len(exhibits) != 1 {
		t.Fatalf("%d exhibits, %v", len(exhibits), err)
	}
	m, err := mail.ReadMessage(exhibits[0])
	if err != nil {
		t.Fatal(err)
	}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/related" {
		t.Fatalf("%s, %v", kind, err)
	}
	parts := multipart.NewReader(m.Body, params["boundary"])
	for _, want := range []string{"application/soap+xml", "application/octet-stream"} {
		p, err := parts.NextRawPart()
		if err != nil {
			t.Fatal(err)
		}
		if kind, _, _ := mime.ParseMediaType(p.Header.Get("Content-Type")); kind != want {
			t.Errorf("a part is of %s, and not of %s", kind, want)
		}
	}
}
