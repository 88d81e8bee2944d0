package documents

import "testing"

func TestTypeX12(t *testing.T) {
	for code, want := range map[string]string{
		"": "380", "DI": "380", "PR": "380", "FB": "380", "DO": "380",
		"CR": "381", "CN": "381", "CC": "381", "CE": "262", "CG": "262",
		"DR": "383", "CI": "385", "CD": "385",
		"RA": "x12:RA", "PP": "x12:PP", "DU": "x12:DU", "ME": "x12:ME", "ZZ": "x12:ZZ",
	} {
		t.Run("BIG07 "+code, func(t *testing.T) {
			d, errs := single(t, invoice810(t, "PO-7734", "PO-7734***"+code))
			said := len(errs) == 1 && errs[0].Code == "type-unknown"
			if d.TypeCode != want || d.Detail.Invoice.RawType != code || said != (want == "x12:"+code) {
				t.Errorf("got type %s of %q, said %v, want %s", d.TypeCode, d.Detail.Invoice.RawType, errs, want)
			}
		})
	}
	t.Run("a request for credit is not the invoice of its number", func(t *testing.T) {
		claim, _ := single(t, invoice810(t, "PO-7734", "PO-7734***RA"))
		invoice, _ := single(t, invoice810(t))
		if claim.GuardKey() == invoice.GuardKey() {
			t.Error("they have one guard key")
		}
	})
}

func TestChargeCodesX12(t *testing.T) {
	for code, want := range map[string]string{
		"D240": "FC",
		"D500": "HD",
		"G760": "SU",
		"G830": "SAA",
		"C310": "95",
		"G821": "G821", // shipping, without handling
		"B840": "B840", // whose account it is: no customs
		"B872": "B872",
	} {
		d, _ := single(t, invoice810(t, "CTT*1", "SAC*C*"+code+"***100~CTT*1", "SE*8", "SE*9"))
		raw := code
		if want == code {
			raw = ""
		}
		if got := d.Detail.Invoice.AllowanceCharges[0]; got.Code != want || got.RawCode != raw {
			t.Errorf("%s is %q of %q, want %q of %q", code, got.Code, got.RawCode, want, raw)
		}
	}
}

func TestPriceBasisX12(t *testing.T) {
	for code, want := range map[string]string{"": "", "PE": "", "HP": "100", "QH": "100", "TC": "100", "TP": "1000", "QS": "1000", "TM": "1000", "PM": "", "PH": ""} {
		d, _ := single(t, invoice810(t, "10.00**VN", "10.00*"+code+"*VN"))
		if got := d.Lines[0].PriceBasis.String(); got != want {
			t.Errorf("basis %q is %q, want %q", code, got, want)
		}
	}
}
