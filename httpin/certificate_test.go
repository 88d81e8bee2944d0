package httpin_test

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/proxy"
)

// The certificates of these tests are told apart by their bytes alone.
var (
	acmeCertificate   = &x509.Certificate{Raw: []byte("acme")}
	endedCertificate  = &x509.Certificate{Raw: []byte("acme until yesterday")}
	strangeCertifcate = &x509.Certificate{Raw: []byte("a stranger's")}
)

// certified is an ingress to which the sender shows a certificate, of a partner
// that proves itself by what credentials says. What it journals is collected.
func certified(t *testing.T, shown *x509.Certificate, clientErr error, credentials string) (*ingress, *[]*gateway.Delivery) {
	t.Helper()
	var journalled []*gateway.Delivery
	in := serve(t, func(in *ingress) {
		acme := &partners.Partner{ID: "acme", Active: true, Organisation: "north", Credentials: credentials, Policy: partners.Policy{Acknowledge: "response"}}
		byToken := in.ByToken
		in.ByToken = func(plain string) (*partners.Partner, bool) {
			if plain == acmeToken {
				return acme, true
			}
			return byToken(plain)
		}
		in.ByCertificate = func(c *x509.Certificate, id string) (*partners.Partner, *partners.Certificate, error) {
			switch {
			case c == acmeCertificate && id == "acme":
				return acme, nil, nil
			case c == endedCertificate && id == "acme":
				return nil, nil, partners.ErrExpired
			}
			return nil, nil, partners.ErrNotPinned
		}
		in.Client = func(r *http.Request) (proxy.Client, error) {
			return proxy.Client{Address: "203.0.113.5", Certificate: shown}, clientErr
		}
	})
	receive := in.Handler.Receive
	in.Handler.Receive = func(ctx context.Context, d *gateway.Delivery) (*gateway.Receipt, error) {
		if d.Fault != nil {
			in.mu.Lock()
			defer in.mu.Unlock()
			journalled = append(journalled, d)
			return nil, d.Fault
		}
		return receive(ctx, d)
	}
	return in, &journalled
}

func TestClientCertificates(t *testing.T) {
	bearer := []string{"Authorization", "Bearer " + acmeToken}
	wrong := []string{"Authorization", "Bearer edigw_p_wrong"}
	none := []string{"Authorization", ""}
	for _, c := range []struct {
		name        string
		credentials string
		shown       *x509.Certificate
		token       []string
		reason      string // "" is taken
	}{
		{"any: a certificate is enough", "any", acmeCertificate, none, ""},
		{"any: a token is enough", "any", nil, bearer, ""},
		{"any: a token is enough beside a stranger's certificate", "any", strangeCertifcate, bearer, ""},
		{"any: a certificate is enough beside a placeholder for a token", "any", acmeCertificate, wrong, ""},
		{"any: a stranger's certificate is not", "any", strangeCertifcate, none, "unknown-certificate"},
		{"any: one that has ended is not", "any", endedCertificate, none, "expired-certificate"},
		{"any: one that has ended is told before a wrong token", "any", endedCertificate, wrong, "expired-certificate"},
		{"any: a wrong token is told before a stranger's certificate", "any", strangeCertifcate, wrong, "unknown-token"},
		{"any: nothing is not", "any", nil, none, "no-credentials"},
		{"unset is any", "", acmeCertificate, none, ""},
		{"token: a certificate is not enough", "token", acmeCertificate, none, "token-needed"},
		{"token: a token is", "token", nil, bearer, ""},
		{"certificate: a token is not enough", "certificate", nil, bearer, "certificate-needed"},
		{"certificate: a certificate is", "certificate", acmeCertificate, none, ""},
		{"certificate: a token does not help one that has ended", "certificate", endedCertificate, bearer, "expired-certificate"},
		{"both: both are", "both", acmeCertificate, bearer, ""},
		{"both: a certificate is not enough", "both", acmeCertificate, none, "token-needed"},
		{"both: a token is not enough", "both", nil, bearer, "certificate-needed"},
		{"both: a wrong token is not", "both", acmeCertificate, wrong, "token-needed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, journalled := certified(t, c.shown, nil, c.credentials)
			a := in.post(t, "acme", strings.NewReader(interchange), c.token...)
			if c.reason == "" {
				if a.Status != 201 {
					t.Fatalf("%d %s", a.Status, a.Body)
				}
				if got := in.deliveries()[0].Remote; got != "203.0.113.5" {
					t.Errorf("remote is %s", got)
				}
				return
			}
			if a.Status != 401 || a.problem(t) != "unauthorized" {
				t.Errorf("%d %s", a.Status, a.Body)
			}
			if got := in.line(t)["reason"]; got != c.reason {
				t.Errorf("the log says %v, want %s", got, c.reason)
			}
			want := 0
			if c.reason == "expired-certificate" {
				want = 1
			}
			if got := in.journalledBy(t, journalled, want); len(got) != want {
				t.Errorf("journalled %v", got)
			}
		})
	}
	t.Run("a certificate is of the partner in the path, or of nobody", func(t *testing.T) {
		in, journalled := certified(t, acmeCertificate, nil, "any")
		for _, partner := range []string{"brack", "nobody"} {
			if a := in.post(t, partner, strings.NewReader(interchange), none...); a.Status != 401 {
				t.Errorf("%s: %d", partner, a.Status)
			}
		}
		if len(*journalled) != 0 {
			t.Errorf("journalled %v", *journalled)
		}
	})
}

// journalledBy waits for n of them: they are written behind the answer.
func (in *ingress) journalledBy(t *testing.T, journalled *[]*gateway.Delivery, n int) []*gateway.Delivery {
	t.Helper()
	for range 1000 {
		in.mu.Lock()
		got := slices.Clone(*journalled)
		in.mu.Unlock()
		if len(got) >= n {
			return got
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%d deliveries are not journalled", n)
	return nil
}

func TestForgedCertificateHeader(t *testing.T) {
	for reason, err := range map[string]error{"forged-certificate-header": proxy.ErrForged, "doubtful-certificate-header": proxy.ErrDoubtful} {
		in, journalled := certified(t, acmeCertificate, err, "any")
		t.Run(reason+": refused, even beside a good token", func(t *testing.T) {
			a := in.post(t, "acme", strings.NewReader(interchange), "Authorization", "Bearer "+acmeToken)
			if a.Status != 401 || a.problem(t) != "unauthorized" {
				t.Errorf("%d %s", a.Status, a.Body)
			}
			if n := len(in.deliveries()); n != 0 {
				t.Errorf("%d deliveries were received", n)
			}
			in.counted(t, 1, "edigw_rejections_total", "transport", "http", "partner", "acme", "reason", reason)
		})
		t.Run(reason+": journalled under the partner whose name was used", func(t *testing.T) {
			got := in.journalledBy(t, journalled, 1)
			want := []*gateway.Delivery{{Transport: "http", Partner: in.Partner("acme"), Received: in.Now(), Remote: "203.0.113.5",
				Fault: &gateway.Rejection{Answer: gateway.ToldUnproven, Reason: reason}}}
			diff := cmp.Diff(want, got, cmpopts.IgnoreFields(gateway.Rejection{}, "Detail"), cmpopts.IgnoreUnexported(gateway.Rejection{}))
			if diff != "" || got[0].Fault.Detail == "" {
				t.Error(diff)
			}
		})
	}
	t.Run("under a name that is nobody's, nothing is journalled, and the answer is the same", func(t *testing.T) {
		in, journalled := certified(t, nil, proxy.ErrForged, "any")
		known := in.post(t, "acme", strings.NewReader(interchange))
		unknown := in.post(t, "nobody", strings.NewReader(interchange))
		known.Header.Del("Date")
		unknown.Header.Del("Date")
		if diff := cmp.Diff(known, unknown); diff != "" {
			t.Error(diff)
		}
		if got := in.journalledBy(t, journalled, 1); len(got) != 1 || got[0].Partner.ID != "acme" {
			t.Errorf("journalled %v", got)
		}
	})
	t.Run("a journal that fails is logged, and nothing else", func(t *testing.T) {
		in, _ := certified(t, nil, proxy.ErrForged, "any")
		in.Handler.Receive = func(context.Context, *gateway.Delivery) (*gateway.Receipt, error) {
			return nil, errors.New("no database")
		}
		if a := in.post(t, "acme", strings.NewReader(interchange)); a.Status != 401 {
			t.Errorf("%d", a.Status)
		}
	})
}
