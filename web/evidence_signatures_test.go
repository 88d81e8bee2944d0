package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/journal"
)

func TestEvidenceOfWhoSentIt(t *testing.T) {
	r := filled(t)
	text := invoice{reference: "1", number: "RE-1", total: "119.00"}.text()
	var id uuid.UUID
	var month time.Time
	if err := r.pool.QueryRow(t.Context(), `select payload_id, payload_month from inbox where message_id = $1`, keyOf1).Scan(&id, &month); err != nil {
		t.Fatal(err)
	}
	const head, tail = "Content-Type: multipart/signed; boundary=b\r\n\r\n--b\r\n\r\n", "\r\n--b\r\nMII=\r\n--b--\r\n"
	var b pgx.Batch
	if err := journal.QueueEvidence(&b, []*journal.Evidence{{Partner: "acme", Payload: id, Month: month, Exhibits: []journal.Exhibit{
		{Name: "signed-entity.eml", MediaType: "multipart/signed", Body: edi.Bytes([]byte(head + tail)), Stretches: []journal.Stretch{{At: int64(len(head)), Length: int64(len(text))}}},
		{Name: "../certificate.pem", MediaType: "application/x-pem-file", Body: edi.Bytes([]byte("PEM"))},
	}}}); err != nil {
		t.Fatal(err)
	}
	ack := uuid.Must(uuid.NewV7())
	journal.QueueAcknowledgements(&b, []*journal.Acknowledgement{{Partner: "acme", ID: ack, Month: month, Status: 200, ContentType: "multipart/signed; boundary=c",
		Fields: journal.Fields{{Name: "Message-ID", Value: "<1@edigw>"}}, Receipt: []byte("--c\r\n")}})
	b.Queue(`update inbox set ack_id = $2, ack_month = $3 where message_id = $1`, keyOf1, ack, month)
	if err := r.pool.SendBatch(t.Context(), &b).Close(); err != nil {
		t.Fatal(err)
	}
	a := r.ask(r.tokens[accounts.Operator], http.MethodGet, "/messages/acme/"+url.PathEscape(keyOf1)+"/evidence", "")
	if a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	files := unpacked(t, a.body)
	folder := fmt.Sprintf("signatures/%x/", sha(text))
	t.Run("what was signed is whole, though the payload is stored once", func(t *testing.T) {
		if got := files[folder+"signed-entity.eml"]; got != head+text+tail {
			t.Errorf("%q", got)
		}
	})
	t.Run("a name is no path", func(t *testing.T) {
		if got := files[folder+".._certificate.pem"]; got != "PEM" {
			t.Errorf("%q", got)
		}
	})
	t.Run("a receipt that is a MIME entity has its header", func(t *testing.T) {
		if got := files["acknowledgements/"+ack.String()+".receipt.eml"]; got != "MIME-Version: 1.0\r\nContent-Type: multipart/signed; boundary=c\r\nMessage-ID: <1@edigw>\r\n\r\n--c\r\n" {
			t.Errorf("%q", got)
		}
	})
	t.Run("and the commands to verify it are told", func(t *testing.T) {
		if !strings.Contains(files["README.txt"], "openssl cms -verify -binary -crlfeol -inform SMIME -in "+folder+"signed-entity.eml -certfile "+folder+"certificate.pem") {
			t.Error(files["README.txt"])
		}
	})
}
