package documents_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"pgregory.net/rapid"

	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/documents/ubl"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/edifact"
	"github.com/edigw/edigw/pgtest"
	"github.com/edigw/edigw/x12"
)

// figure is a number as it is sent, and as it has to stand wherever it is read again.
type figure struct{ sent, kept string }

// plain writes a number with all its digits: without leading zeros, with all others,
// and without the sign of a zero.
func plain(negative bool, whole, fraction string) string {
	s := strings.TrimLeft(whole, "0")
	if s == "" {
		s = "0"
	}
	if fraction != "" {
		s += "." + fraction
	}
	if negative && strings.Trim(s, "0.") != "" {
		s = "-" + s
	}
	return s
}

const digits = `[0-9]`

// drawn is a numeric element of UN/EDIFACT: 1 to 35 digits, comma or point.
func drawn(t *rapid.T, what string) figure {
	all := rapid.StringMatching(digits+`{1,35}`).Draw(t, what)
	at := rapid.IntRange(1, len(all)).Draw(t, "whole")
	negative, mark := rapid.Bool().Draw(t, "negative"), rapid.SampledFrom([]string{".", ","}).Draw(t, "mark")
	sent := all[:at]
	if at < len(all) {
		sent += mark + all[at:]
	}
	if negative {
		sent = "-" + sent
	}
	return figure{sent, plain(negative, all[:at], all[at:])}
}

// drawnReal is an element of type R: digits on one side of the point are enough, and it
// may have an exponent.
func drawnReal(t *rapid.T, what string) figure {
	if rapid.IntRange(0, 4).Draw(t, "form") == 0 {
		return drawnExponent(t, what)
	}
	all := rapid.StringMatching(digits+`{1,35}`).Draw(t, what)
	at := rapid.IntRange(0, len(all)).Draw(t, "whole")
	negative := rapid.Bool().Draw(t, "negative")
	sent := all[:at] + "." + all[at:]
	if at == len(all) && rapid.Bool().Draw(t, "bare") {
		sent = all
	}
	if negative {
		sent = "-" + sent
	}
	return figure{sent, plain(negative, all[:at], all[at:])}
}

// drawnExponent moves the point of up to 15 digits by up to ten.
func drawnExponent(t *rapid.T, what string) figure {
	all := rapid.StringMatching(digits+`{1,15}`).Draw(t, what)
	at := rapid.IntRange(1, len(all)).Draw(t, "whole")
	exponent := rapid.IntRange(-10, 10).Draw(t, "exponent")
	sent := all[:at]
	if at < len(all) {
		sent += "." + all[at:]
	}
	moved := strings.Repeat("0", 10) + all + strings.Repeat("0", max(0, at+exponent-len(all)))
	return figure{fmt.Sprintf("%sE%d", sent, exponent), plain(false, moved[:10+at+exponent], moved[10+at+exponent:])}
}

// drawnImplied is an element of type N2.
func drawnImplied(t *rapid.T, what string) figure {
	all := rapid.StringMatching(digits+`{1,35}`).Draw(t, what)
	negative := rapid.Bool().Draw(t, "negative")
	padded := strings.Repeat("0", max(0, 3-len(all))) + all
	f := figure{all, plain(negative, padded[:len(padded)-2], padded[len(padded)-2:])}
	if negative {
		f.sent = "-" + f.sent
	}
	return f
}

// figures are those of a document: of each line quantity, net amount, price, its basis
// and a charge, and the total.
type figures struct {
	lines [][5]figure
	total figure
}

func (f *figures) kept() [][]string {
	var all [][]string
	for _, l := range f.lines {
		var row []string
		for _, n := range l {
			row = append(row, n.kept)
		}
		all = append(all, row)
	}
	return append(all, []string{f.total.kept})
}

// edifact writes an INVOIC of the figures.
func (f *figures) edifact() []byte {
	segments := []string{"UNH+1+INVOIC:D:96A:UN:EAN008", "BGM+380+N-1+9", "DTM+137:20261127:102", "NAD+SU+9520001000010::9++S", "NAD+BY+9520002000019::9++B", "CUX+2:EUR:4"}
	for i, l := range f.lines {
		segments = append(segments, fmt.Sprintf("LIN+%d++9520000001018:EN", i+1), "IMD+F++:::Ring", "QTY+47:"+l[0].sent+":EA", "MOA+203:"+l[1].sent,
			"PRI+AAA:"+l[2].sent+":::"+l[3].sent, "TAX+7+VAT+++:::19+S", "ALC+C++++FC", "MOA+23:"+l[4].sent)
	}
	segments = append(segments, "UNS+S", "MOA+77:"+f.total.sent)
	var b bytes.Buffer
	fmt.Fprintf(&b, "UNB+UNOC:3+9520001000010:14+9520002000019:14+261127:1015+REF1'%s'UNT+%d+1'UNZ+1+REF1'", strings.Join(segments, "'"), len(segments)+1)
	return b.Bytes()
}

// x12 writes an 810; a price has no basis there that could be any number.
func (f *figures) x12() []byte {
	segments := []string{"ST*810*0001", "BIG*20261127*N-1", "CUR*SE*EUR", "N1*SU*S*UL*9520001000010", "N1*BY*B*UL*9520002000019"}
	for i, l := range f.lines {
		segments = append(segments, fmt.Sprintf("IT1*%d*%s*EA*%s**EN*9520000001018", i+1, l[0].sent, l[2].sent), "PAM****1*"+l[1].sent, "PID*F****Ring", "SAC*C*D240***"+l[4].sent)
	}
	segments = append(segments, "TDS*"+f.total.sent, fmt.Sprintf("CTT*%d", len(f.lines)))
	return fmt.Appendf(nil, "ISA*00*          *00*          *ZZ*S              *ZZ*B              *261127*1015*U*00401*000000001*0*P*>~"+
		"GS*IN*S*B*20261127*1015*1*X*004010~%s~SE*%d*0001~GE*1*1~IEA*1*000000001~", strings.Join(segments, "~"), len(segments)+1)
}

// TestNoDigitIsLost sends numbers through parsing, PostgreSQL, JSON and UBL.
func TestNoDigitIsLost(t *testing.T) {
	config, err := pgxpool.ParseConfig(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error { return documents.Register(conn) }
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	store := documents.Store{Pool: pool}

	for _, c := range []struct {
		name   string
		figure func(*rapid.T) [5]figure
		total  func(*rapid.T, string) figure
		text   func(*figures) []byte
		split  func(*edi.Payload, int64) (*edi.Interchange, error)
		scan   func(*edi.Payload, *edi.Interchange, func(int, *edi.Body) error) error
		edges  []figure
	}{
		{"INVOIC", func(t *rapid.T) [5]figure {
			return [5]figure{drawn(t, "quantity"), drawn(t, "net"), drawn(t, "price"), drawn(t, "basis"), drawn(t, "charge")}
		}, drawn, (*figures).edifact, edifact.Reader{}.Split, edifact.Reader{}.Scan, []figure{
			{"0.00", "0.00"}, {"-0,0", "0.0"}, {"000120", "120"}, {"1,50", "1.50"}, {"-10000.0000", "-10000.0000"},
			{"99999999999999999999999999999999999", "99999999999999999999999999999999999"}, {"-0.0000000000000000000000000000000001", "-0.0000000000000000000000000000000001"},
		}},
		{"810", func(t *rapid.T) [5]figure {
			return [5]figure{drawnReal(t, "quantity"), drawnReal(t, "net"), drawnReal(t, "price"), {}, drawnImplied(t, "charge")}
		}, drawnImplied, (*figures).x12, x12.Reader{}.Split, x12.Reader{}.Scan, []figure{
			{"0.00", "0.00"}, {"-.50", "-0.50"}, {"5.", "5"}, {"-12", "-12"}, {"12.50E1", "125.0"}, {"1E34", "10000000000000000000000000000000000"},
			{".00000000000000000000000000000000001", "0.00000000000000000000000000000000001"},
		}},
	} {
		hold := func(t rapid.TB, f *figures) {
			text := c.text(f)
			p := edi.Bytes(text)
			ic, err := c.split(p, 0)
			if err != nil {
				t.Fatal(err)
			}
			var d *documents.Document
			err = c.scan(p, ic, func(i int, b *edi.Body) error {
				for _, h := range documents.Handlers() {
					if h.Type == ic.Messages[i].Type.Type {
						var errs []*edi.Error
						if d, errs = h.Map(ic, i, b, nil); d == nil {
							return fmt.Errorf("refused: %v", errs)
						}
					}
				}
				return nil
			})
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			d.ID = uuid.New()
			var b pgx.Batch
			if err := documents.Queue(&b, "digits", []documents.Row{{Document: d, State: documents.StateLive, MessageID: "key"}}); err != nil {
				t.Fatal(err)
			}
			if err := pool.SendBatch(context.Background(), &b).Close(); err != nil {
				t.Fatal(err)
			}
			stored, err := store.Get(context.Background(), "digits", d.ID)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(stored)
			if err != nil {
				t.Fatal(err)
			}
			same := func(where string, got [][]string) {
				t.Helper()
				if diff := cmp.Diff(f.kept(), got); diff != "" {
					t.Fatalf("%s: %s\n%s", where, diff, text)
				}
			}
			same("PostgreSQL", inRows(t, pool, d.ID))
			same("JSON", inJSON(t, raw))
			var back documents.Stored
			if err := json.Unmarshal(raw, &back); err != nil {
				t.Fatal(err)
			}
			var file bytes.Buffer
			if _, err := ubl.Write(&file, &back.Document); err != nil {
				t.Fatal(err)
			}
			sameInUBL(t, f, file.Bytes())
		}
		t.Run(c.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				hold(t, &figures{lines: rapid.SliceOfN(rapid.Custom(c.figure), 1, 20).Draw(t, "lines"), total: c.total(t, "total")})
			})
		})
		t.Run(c.name+", at the edges", func(t *testing.T) {
			f := &figures{total: figure{"100", plain(false, "100", "")}}
			charge := f.total
			if c.name == "810" {
				f.total.kept, charge.kept = "1.00", "1.00" // N2
			}
			for _, e := range c.edges {
				basis := figure{"100", "100"}
				if c.name == "810" {
					basis = figure{}
				}
				f.lines = append(f.lines, [5]figure{e, e, e, basis, charge})
			}
			hold(t, f)
		})
	}
}

// inJSON reads the figures from a stored document.
func inJSON(t rapid.TB, raw []byte) (all [][]string) {
	var d struct {
		Totals struct {
			Inclusive string `json:"tax_inclusive"`
		}
		Lines []struct {
			Quantity, Price string
			Net             string `json:"net_amount"`
			Basis           string `json:"price_basis"`
			Detail          struct {
				Charges []struct{ Amount string } `json:"allowance_charges"`
			}
		}
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	for _, l := range d.Lines {
		all = append(all, []string{l.Quantity, l.Net, l.Price, l.Basis, l.Detail.Charges[0].Amount})
	}
	return append(all, []string{d.Totals.Inclusive})
}

// inRows reads the figures as PostgreSQL writes them.
func inRows(t rapid.TB, pool *pgxpool.Pool, id uuid.UUID) (all [][]string) {
	rows, err := pool.Query(context.Background(), `
select quantity::text, net_amount::text, price::text, coalesce(price_basis::text, ''), rest->'allowance_charges'->0->>'amount'
from document_line
where partner_id = 'digits' and document_id = $1
order by line`, id)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		row := make([]string, 5)
		if err := rows.Scan(&row[0], &row[1], &row[2], &row[3], &row[4]); err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	var total string
	err = pool.QueryRow(context.Background(), `select tax_inclusive::text from document where partner_id = 'digits' and document_id = $1`, id).Scan(&total)
	if err := errors.Join(rows.Err(), err); err != nil {
		t.Fatal(err)
	}
	return append(all, []string{total})
}

// sameInUBL holds the figures of a UBL file.
func sameInUBL(t rapid.TB, f *figures, file []byte) {
	var d struct {
		Total string `xml:"LegalMonetaryTotal>TaxInclusiveAmount"`
		Lines []struct {
			Quantity string `xml:"InvoicedQuantity"`
			Net      string `xml:"LineExtensionAmount"`
			Price    string `xml:"Price>PriceAmount"`
			Basis    string `xml:"Price>BaseQuantity"`
			Charge   string `xml:"AllowanceCharge>Amount"`
		} `xml:"InvoiceLine"`
	}
	if err := xml.Unmarshal(file, &d); err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for _, l := range d.Lines {
		all = append(all, []string{l.Quantity, l.Net, l.Price, l.Basis, l.Charge})
	}
	want := f.kept()
	for _, row := range want[:len(want)-1] {
		if strings.HasPrefix(row[3], "-") || strings.Trim(row[3], "0.") == "" {
			row[3] = "" // UBL has no price for nothing, or for less
		}
	}
	if diff := cmp.Diff(want, append(all, []string{d.Total})); diff != "" {
		t.Fatalf("UBL: %s\n%s", diff, file)
	}
}
