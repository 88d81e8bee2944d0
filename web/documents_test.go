package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/documents"
)

func TestDocumentsAreSearched(t *testing.T) {
	r := filled(t)
	order := func(i int, d *documents.Document) {
		d.OrderReference, d.Supplier, d.Buyer = "PO-1", documents.Name{ID: "S-1", Name: "Muster & Söhne"}, documents.Name{Name: "Nord"}
		d.Lines[0].GTIN, d.Lines[0].OrderReference = "9520000001018", "PO-9"
	}
	r.stock("acme", 1, order)
	r.stock("bolt", 2, order)
	if _, err := r.pool.Exec(t.Context(), `update document set state = 'held' where partner_id = 'bolt' and number = 'S-0'`); err != nil {
		t.Fatal(err)
	}
	if _, err := r.pool.Exec(t.Context(), `update document set detail = detail || '{"findings": [{"severity": "note", "code": "line-repeated"}]}' where number like 'S-%'`); err != nil {
		t.Fatal(err)
	}
	recent := "&received_from=" + ago(time.Hour)
	for query, want := range map[string][]string{
		"number=B-1":               {"bolt B-1"},
		"number_prefix=RE-":        {"acme RE-1"},
		"order_reference=PO-1":     {"acme S-0", "bolt S-0", "bolt S-1"},
		"line_order=PO-9" + recent: {"acme S-0", "bolt S-0", "bolt S-1"},
		"item=9520000001018&partner=bolt&number_prefix=S-1":                         {"bolt S-1"},
		"supplier=" + url.QueryEscape("SÖHNE") + recent:                             {"acme S-0", "bolt S-0", "bolt S-1"},
		"buyer=nord&order_reference=PO-1&partner=acme":                              {"acme S-0"},
		"finding=line-repeated&partner=acme" + recent:                               {"acme S-0"},
		"state=held" + recent:                                                       {"bolt S-0"},
		"amount_from=119&amount_to=119.00" + recent:                                 {"acme RE-1", "bolt B-1"},
		"report=posted" + recent:                                                    nil,
		"type_code=381" + recent:                                                    nil,
		"issue_from=2026-11-27&issue_to=2026-11-27&live=true&partner=bolt" + recent: {"bolt B-1", "bolt S-1"},
		"issue_to=2020-01-01" + recent:                                              nil,
		"received_to=2020-01-01T00:00:00Z":                                          nil,
	} {
		t.Run(query, func(t *testing.T) {
			var page struct {
				Items []struct{ Partner, Number string }
			}
			r.get(accounts.Viewer, "/documents?"+query, &page)
			var got []string
			for _, d := range page.Items {
				got = append(got, d.Partner+" "+d.Number)
			}
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	for query, c := range map[string]struct {
		status int
		detail string
	}{
		"currency=EUR&item=x":                         {http.StatusUnprocessableEntity, "no index serves item, currency: "},
		"report=none&live=true":                       {http.StatusUnprocessableEntity, "no index serves report: "},
		"number_prefix=RE&currency=EUR":               {http.StatusUnprocessableEntity, "add received_from"},
		"amount_from=much":                            {http.StatusBadRequest, `parameter "amount_from" must be a number like 119.00, not "much"`},
		"amount_from=1e9":                             {http.StatusBadRequest, `parameter "amount_from" must be a number like 119.00, not "1e9"`},
		"issue_from=27.11.2026":                       {http.StatusBadRequest, `parameter "issue_from" must be a day like 2026-11-28, not "27.11.2026"`},
		"issue_from=0000-01-01":                       {http.StatusBadRequest, `must be a day`},
		"received_from=2026-11-27":                    {http.StatusBadRequest, `parameter "received_from" must be a time like`},
		"report=lost":                                 {http.StatusBadRequest, `parameter "report" must be one of none, taken, posted, paid, refused`},
		"format=csv":                                  {http.StatusBadRequest, `parameter "format" is not known here`},
		"number_prefix=%ff%fe&live=true":              {http.StatusBadRequest, `is no text`},
		"order_reference=" + strings.Repeat("7", 141): {http.StatusUnprocessableEntity, "no index serves order_reference of more than 140 bytes: "},
		"received_from=0000-01-01T00:00:00Z&received_to=9999-12-31T23:59:59Z&state=held": {http.StatusUnprocessableEntity, "no index serves state"},
	} {
		t.Run(query, func(t *testing.T) {
			a := r.ask(r.tokens[accounts.Viewer], http.MethodGet, "/documents?"+query, "")
			if p := a.problem(t); a.status != c.status || !strings.Contains(p.Detail, c.detail) {
				t.Errorf("%d %s", a.status, p.Detail)
			}
		})
	}
	t.Run("times at the ends of the calendar are taken", func(t *testing.T) {
		for _, query := range []string{"received_from=0001-01-01T00:00:00Z", "received_to=9999-12-31T23:59:59Z", "number=x&issue_from=0001-01-01&issue_to=9999-12-31", "number=x&amount_to=-99999999999999999999.999999999999999"} {
			r.get(accounts.Viewer, "/documents?"+query, &struct{}{})
		}
	})
}
