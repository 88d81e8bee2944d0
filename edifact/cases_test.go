package edifact

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

// caseResult is what stands in a shared case: for each interchange its reference,
// its messages and its findings, then the faults of Split, then chosen values.
type caseResult struct {
	References []string
	Messages   []int
	Findings   []string
	Faults     []string
	Values     []string
}

func TestSharedCases(t *testing.T) {
	for file, want := range map[string]caseResult{
		"01-una-odd":            {[]string{"REF000101"}, []int{1}, nil, nil, []string{"Tal^quist~Werke"}},
		"03-release-release-a":  {[]string{"REF000103"}, []int{1}, nil, nil, []string{"Alles klar?"}},
		"03-release-release-b":  {[]string{"REF000104"}, []int{1}, nil, nil, []string{"Alles klar?'"}},
		"05-unb-trailing-a":     {[]string{"REF000106"}, []int{1}, nil, nil, nil},
		"05-unb-trailing-b":     {[]string{"REF000107"}, []int{1}, nil, nil, nil},
		"05-unb-trailing-c":     {[]string{"REF000108"}, []int{1}, nil, nil, nil},
		"09-trailing-blanks":    {[]string{"REF000114"}, []int{1}, []string{"note 21 blanks-between-segments 0  0.0"}, nil, nil},
		"11-utf8-bom-a":         {[]string{"REF000116"}, []int{1}, []string{"note 21 byte-order-mark 0  0.0"}, nil, []string{"Müller"}},
		"13-two-interchanges-a": {[]string{"REF000119", "REF000120"}, []int{1, 1}, nil, nil, nil},
		"13-two-interchanges-b": {[]string{"REF000121", "REF000122"}, []int{1, 1}, []string{"error 29 unz-count-mismatch 19 UNZ 1.1"}, nil, nil},
		"15-ung-une-a":          {[]string{"REF000124"}, []int{3}, nil, nil, nil},
		"15-ung-une-b": {[]string{"REF000125"}, []int{2}, []string{
			"error 29 unz-count-mismatch 38 UNZ 1.1", "error 30 groups-and-messages-mixed 21 UNH 0.0"}, nil, nil},
		"17-unt-count": {[]string{"REF000127"}, []int{2}, []string{"error 29 unt-count-mismatch @1 17 UNT 1.1"}, nil, nil},
		"19-unh-missing-a": {[]string{"REF000131"}, []int{0}, []string{
			"error 13 unh-missing 17 UNT 0.0", "error 29 unz-count-mismatch 18 UNZ 1.1",
			"error 32 interchange-empty 18 UNZ 0.0", "error 33 segment-outside-message 2 BGM 0.0"}, nil, nil},
		"19-unh-missing-b": {[]string{"REF000132"}, []int{1}, []string{"error 13 unt-missing @0 17 UNT 0.0"}, nil, nil},
		"19-unh-missing-c": {[]string{"REF000133"}, []int{2}, []string{
			"error 13 unt-missing @0 2 UNT 0.0", "error 29 unz-count-mismatch 20 UNZ 1.1"}, nil, nil},
		"30-unoa-lowercase":     {[]string{"REF000301"}, []int{1}, []string{"warning 21 outside-level-a 5 NAD 4.1"}, nil, []string{"Talquist_Werke gmbh"}},
		"32-unoy-utf8":          {[]string{"REF000303"}, []int{1}, nil, nil, []string{"港口物流"}},
		"34-invalid-utf8-nul-a": {[]string{"REF000306"}, []int{1}, []string{"error 21 character-invalid @0 5 NAD 4.1"}, nil, []string{"S\uFFFDd"}},
		"34-invalid-utf8-nul-b": {[]string{"REF000307"}, []int{1}, []string{"error 21 character-invalid @0 5 NAD 4.1"}, nil, []string{"Tal\x00quist"}},
		"40-padded-ids-b":       {[]string{"REF000405"}, []int{1}, []string{"note 12 padded-identifier 1 UNB 2.1"}, nil, nil},
		"93-test-indicator-a":   {[]string{"REF000805"}, []int{1}, nil, nil, nil},
	} {
		t.Run(file, func(t *testing.T) {
			raw, err := os.ReadFile(shared(t, "cases/"+file+".edi")[0])
			if err != nil {
				t.Fatal(err)
			}
			var got caseResult
			all, faults := readAll(t, Reader{}, edi.Bytes(raw), func(_ *edi.Interchange, _ int, b *edi.Body) {
				for _, s := range b.Segments {
					if v := s.Get(4, 1); s.Is("NAD") && s.Get(1, 1) == "SU" && v != "" {
						got.Values = append(got.Values, v)
					}
				}
			})
			for _, ic := range all {
				got.References = append(got.References, ic.ControlReference)
				got.Messages = append(got.Messages, len(ic.Messages))
				got.Findings = append(got.Findings, findings(ic)...)
			}
			for _, f := range faults {
				got.Faults = append(got.Faults, f.Code)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Fatal(d)
			}
		})
	}
}

func TestSharedCasesCompared(t *testing.T) {
	load := func(t *testing.T, file string) *edi.Interchange {
		raw, err := os.ReadFile(shared(t, "cases/"+file+".edi")[0])
		if err != nil {
			t.Fatal(err)
		}
		return one(t, Reader{}, string(raw))
	}
	t.Run("a resend with a new time has other bytes and the same content", func(t *testing.T) {
		a, b := load(t, "42-resend-new-time-a"), load(t, "42-resend-new-time-b")
		if a.PayloadSHA256 == b.PayloadSHA256 || a.ContentSHA256 != b.ContentSHA256 {
			t.Fatal("payload equal or content different")
		}
	})
	t.Run("blanks that pad an identifier are not part of it", func(t *testing.T) {
		a, b := load(t, "40-padded-ids-a"), load(t, "40-padded-ids-b")
		if a.Sender != b.Sender || a.PayloadSHA256 == b.PayloadSHA256 {
			t.Fatal(a.Sender, b.Sender)
		}
	})
	t.Run("parties with and without qualifier are others", func(t *testing.T) {
		if a, b := load(t, "05-unb-trailing-a"), load(t, "05-unb-trailing-b"); a.Sender == b.Sender {
			t.Fatal(a.Sender)
		}
	})
	t.Run("the test indicator is read, and trailing elements leave 0020 alone", func(t *testing.T) {
		if ic := load(t, "93-test-indicator-a"); !ic.Test {
			t.Fatal("not a test")
		}
		ic := load(t, "05-unb-trailing-c")
		if ic.ApplicationReference != "INVOIC" || !ic.AckRequested || ic.Agreement != "EANCOM" || ic.Test {
			t.Fatalf("%+v", ic)
		}
	})
}

// TestSharedSamples reads files that no one here wrote: never a panic, bounds
// that hold, and for each file what can be said of it.
func TestSharedSamples(t *testing.T) {
	want := map[string]string{ // interchanges' references, "!" and the code where Split refused
		"01_invoic_d93a_una.edi": "9908021557", "02_invoic_d97b_una.edi": "00000000000778", "04_invoic_d97b.edi": "00000000000778",
		"05_wrapped_invoic_d97b_una.edi": "!unb-malformed", "07_orders-with-group.edi": "2722166169492",
		"08_other_dialect_term_segments.edi": "00000000000001", "10_pnrgov.edi": "0003", "11_null-pointer-example.edi": "0001",
		"38_edifact.Paiement.Issue139.EDI": "20191007120559", "39_edifact.Issue188.edi": "581575491",
		"41_Apperak_edi_out_issue235.edi": "!unb-incomplete !unb-incomplete", "42_edifact.Issue196.edi": "00000674",
		"44_edifact.D01B.IFCSUM.NewLines.EDI": "!unb-malformed", "45_invoice_with_colon_at_end.edi": "PAYO0012101221",
		"47_patient2.edi": "0902", "48_patient3.edi": "1242", "50_order.edi": "807", "86_d96a_invoic_malformed.edi": "!unb-missing",
		"EDIFACT_EXAMPLE1.TXT": "87846595", "EDIFACT_EXAMPLE2.TXT": "87846595", "EDIFACT_EXAMPLE3.TXT": "87846595",
		"EDIFACT_EXAMPLE4.TXT": "87846595", "EDIFACT_EXAMPLE5.TXT": "87846595", "EDIFACT_EXAMPLE6.TXT": "87846595",
	}
	got := map[string]string{}
	for _, file := range append(shared(t, "samples/edi/*"), shared(t, "samples/edi/en16931/*.TXT")...) {
		raw, err := os.ReadFile(file)
		if err != nil || !Leads(raw) {
			continue // a folder, or X12
		}
		var said []string
		messages := 0
		all, faults := readAll(t, Reader{}, edi.Bytes(raw), func(_ *edi.Interchange, _ int, b *edi.Body) { messages++ })
		for _, ic := range all {
			said = append(said, ic.ControlReference)
			if len(ic.Messages) == 0 || messages == 0 && ic.Complete {
				t.Errorf("%s: no message", file)
			}
		}
		for _, f := range faults {
			said = append(said, "!"+f.Code)
		}
		got[filepath.Base(file)] = strings.Join(said, " ")
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
}
