package as4_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/as4"
)

// TestSigner has a partner sign with both of its certificates, as during a roll-over.
func TestSigner(t *testing.T) {
	r := newRig(t, "signatures: [rsa-sha256, ed25519]")
	for id, by := range map[string]identity{"by-rsa": talquist(), "by-ed": talquistEd()} {
		for _, form := range []string{"bst", "ski"} {
			signing := signedBy(by)
			signing.Token = as4.TokenForm(form)
			c, err := as4.Compose(message(id+"-"+form), []as4.Payload{gzipped(interchange(id+form, id+form, "1.00"))}, signing, encryptedTo(nordhafen()))
			if err != nil {
				t.Fatal(err)
			}
			r.received(c)
		}
	}
	t.Run("the journal has which certificate it was, however it was named", func(t *testing.T) {
		rows, err := r.pool.Query(t.Context(), `select transport_id || ' ' || coalesce(signer, 'none') from delivery order by 1`)
		if err != nil {
			t.Fatal(err)
		}
		got, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"as4:nordhafen-ap:by-ed-bst ed", "as4:nordhafen-ap:by-ed-ski ed", "as4:nordhafen-ap:by-rsa-bst rsa", "as4:nordhafen-ap:by-rsa-ski rsa"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("so has the log", func(t *testing.T) {
		if log := r.logged(); strings.Count(log, "signer=ed") != 2 || strings.Count(log, "signer=rsa") != 2 {
			t.Errorf("got\n%s", log)
		}
	})
	t.Run("what is refused after its signature was found right has it too, and what is not has none", func(t *testing.T) {
		r.settings("signatures: [rsa-sha256, ed25519]\nservices: [{service: other}]")
		r.refused(r.compose(message("refused"), gzipped(interchange("REF9", "R-9", "1.00"))), as4.ProcessingModeMismatch)
		c, err := as4.Compose(message("forged"), []as4.Payload{gzipped(interchange("REF9", "R-9", "1.00"))}, signedBy(mallory()), encryptedTo(nordhafen()))
		if err != nil {
			t.Fatal(err)
		}
		r.refused(c, as4.FailedAuthentication)
		if n := r.count(`select count(*) from delivery where verdict = 'refused' and transport_id like '%:refused' and signer = 'rsa'`); n != 1 {
			t.Errorf("%d rows say that it was signed by rsa", n)
		}
		if n := r.count(`select count(*) from delivery where verdict = 'refused' and transport_id like '%:forged' and signer is null`); n != 1 {
			t.Errorf("%d rows say that nothing signed it", n)
		}
	})
}
