package httpin

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
)

var update = flag.Bool("update", false, "write testdata/receipts as Render makes them now")

// item is an interchange's part of a receipt, as the gateway writes it.
func item(t *testing.T, a gateway.Answer, ic gateway.InterchangeReceipt) gateway.Item {
	t.Helper()
	ic.Outcome, ic.Problem = a.Told().Word, a.Told().Problem
	b, err := json.Marshal(ic)
	if err != nil {
		t.Fatal(err)
	}
	return gateway.Item{Answer: a, JSON: b}
}

func finding(severity edi.Severity, code, text string, l edi.Location) gateway.Finding {
	return gateway.FindingOf(&edi.Error{Code: code, Severity: severity, Text: text, Location: l})
}

// receipts are what the files in testdata/receipts show, one for each kind of
// answer.
func receipts(t *testing.T) map[string]*gateway.Receipt {
	key := `unb:ACME:14:NORTH:14:R1`
	of := func(a gateway.Answer, items ...gateway.Item) *gateway.Receipt {
		return &gateway.Receipt{Partner: "acme", MessageID: "http:north:m1", SHA256: sha256.Sum256([]byte("R1")), Answer: a, Items: items}
	}
	sound := gateway.InterchangeReceipt{Syntax: "edifact", MessageID: key, Verdict: gateway.First,
		Documents:       []gateway.DocumentReceipt{{Type: "INVOIC", Number: "10871", State: "posted"}},
		Acknowledgement: &gateway.FunctionalAcknowledgement{Type: "CONTRL", Content: "UNB+UNOC:3+NORTH:14+ACME:14+261129:1015+C1'"}}
	broken := gateway.InterchangeReceipt{Syntax: "edifact", MessageID: "unb:ACME:14:NORTH:14:R2", Verdict: gateway.First, Findings: []gateway.Finding{
		finding(edi.SeverityWarning, "line-sum", "the lines add up to 99.00, MOA 79 says 100.00", edi.Location{Offset: 310, Segment: 14, Tag: "MOA"}),
		finding(edi.SeverityError, "number-invalid", `"1.77O,72" is no number: it holds the letter O`, edi.Location{Offset: 841, Segment: 12, Tag: "MOA", Element: 1, Component: 2}),
		finding(edi.SeverityError, "unt-count-mismatch", "UNT says 37 segments, there are 38", edi.Location{Offset: 1204, Segment: 38, Tag: "UNT", Element: 1}),
	}}
	drift := of(gateway.ToldDrift, item(t, gateway.ToldDrift, gateway.InterchangeReceipt{Syntax: "edifact", MessageID: key, Verdict: gateway.Drift, Alert: "01900000-0000-7000-8000-00000000000a"}))
	drift.AlertID = uuid.MustParse("01900000-0000-7000-8000-00000000000a")
	unreadable := gateway.InterchangeReceipt{Verdict: gateway.First, Findings: []gateway.Finding{
		finding(edi.SeverityError, "no-interchange", "the text begins with <html>, not with UNA, UNB or ISA", edi.Location{})}}
	return map[string]*gateway.Receipt{
		"accepted":           of(gateway.ToldAccepted, item(t, gateway.ToldAccepted, sound)),
		"rejected":           of(gateway.ToldRejected, item(t, gateway.ToldRejected, broken)),
		"one-of-two":         of(gateway.ToldRejected, item(t, gateway.ToldAccepted, sound), item(t, gateway.ToldRejected, broken)),
		"drift":              drift,
		"transport-drift":    {Partner: drift.Partner, MessageID: drift.MessageID, Answer: gateway.ToldDrift, AlertID: drift.AlertID},
		"unreadable":         of(gateway.ToldUnreadable, item(t, gateway.ToldUnreadable, unreadable)),
		"sender-not-allowed": of(gateway.ToldSenderNotAllowed, item(t, gateway.ToldSenderNotAllowed, gateway.InterchangeReceipt{Syntax: "edifact", Detail: "The sender 4012345000009:14 is no address of acme, nor of one it speaks for"})),
		"try-again":          of(gateway.ToldTryAgain, item(t, gateway.ToldTryAgain, sound)),
	}
}

func TestRender(t *testing.T) {
	for name, r := range receipts(t) {
		t.Run("the receipt "+name+" is the one on file", func(t *testing.T) {
			got, err := Render(r)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", "receipts", name+".json")
			if *update {
				if err := os.WriteFile(file, got.Body, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got.Body)); diff != "" {
				t.Error(diff)
			}
			told := r.Answer.Told()
			media := "application/json"
			if told.Problem != "" {
				media = "application/problem+json"
			}
			if got.Status != told.HTTP || got.ContentType != media {
				t.Errorf("got %d %s", got.Status, got.ContentType)
			}
		})
	}

	t.Run("the body depends on what the receipt says and on nothing else", func(t *testing.T) {
		r := receipts(t)["accepted"]
		first, err := Render(r)
		if err != nil {
			t.Fatal(err)
		}
		r.Delivery, r.Verdict, r.Repeat, r.Rules = uuid.New(), gateway.Duplicate, true, []string{"I2"}
		again, err := Render(r)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(first.Body), string(again.Body)); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("its id is made of the rest of it", func(t *testing.T) {
		seen := map[uuid.UUID]string{}
		for name, r := range receipts(t) {
			got, err := Render(r)
			if err != nil {
				t.Fatal(err)
			}
			var body struct {
				ReceiptID uuid.UUID `json:"receipt_id"`
			}
			if err := json.Unmarshal(got.Body, &body); err != nil {
				t.Fatal(err)
			}
			if v, variant := body.ReceiptID.Version(), body.ReceiptID.Variant(); v != 8 || variant != uuid.RFC4122 {
				t.Errorf("%s: version %v, variant %v", name, v, variant)
			}
			if other, ok := seen[body.ReceiptID]; ok {
				t.Errorf("%s and %s have one id", name, other)
			}
			seen[body.ReceiptID] = name
		}
	})

	t.Run("stored parts come out byte for byte", func(t *testing.T) {
		raw := `{"a" : "<&>",  "b":1.0}`
		got, err := Render(&gateway.Receipt{Answer: gateway.ToldAccepted, Items: []gateway.Item{{Answer: gateway.ToldAccepted, JSON: []byte(raw)}}})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(got.Body), `"interchanges":[`+raw+`]}`) {
			t.Errorf("got %s", got.Body)
		}
	})

	t.Run("a receipt for many interchanges stays under a megabyte", func(t *testing.T) {
		r := &gateway.Receipt{Answer: gateway.ToldRejected}
		for range 4_000 {
			r.Items = append(r.Items, item(t, gateway.ToldRejected, gateway.InterchangeReceipt{MessageID: strings.Repeat("x", 200), Findings: []gateway.Finding{finding(edi.SeverityError, "c", "t", edi.Location{Offset: 1})}}))
		}
		got, err := Render(r)
		if err != nil {
			t.Fatal(err)
		}
		var body struct {
			Interchanges  []json.RawMessage
			Omitted       int `json:"interchanges_omitted"`
			Errors        []json.RawMessage
			ErrorsOmitted int `json:"errors_omitted"`
		}
		if err := json.Unmarshal(got.Body, &body); err != nil {
			t.Fatal(err)
		}
		if len(got.Body) > 1<<20 || len(body.Interchanges)+body.Omitted != 4_000 || len(body.Errors)+body.ErrorsOmitted != 4_000 || len(body.Errors) != maxErrors {
			t.Errorf("%d bytes, %d interchanges and %d omitted, %d errors and %d omitted", len(got.Body), len(body.Interchanges), body.Omitted, len(body.Errors), body.ErrorsOmitted)
		}
	})

	t.Run("every answer of the table can be rendered", func(t *testing.T) {
		for _, told := range gateway.Answers {
			got, err := Render(&gateway.Receipt{Answer: told.Answer, Items: []gateway.Item{item(t, told.Answer, gateway.InterchangeReceipt{})}})
			if err != nil {
				t.Fatal(err)
			}
			if !json.Valid(got.Body) || got.Status != told.HTTP {
				t.Errorf("%s: %d %s", told.Word, got.Status, got.Body)
			}
			if _, ok := advice[told.Problem]; told.Problem != "" && !ok {
				t.Errorf("%s: the partner is not told what to do", told.Problem)
			}
		}
	})
}
