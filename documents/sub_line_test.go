package documents

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSubLinesOf810(t *testing.T) {
	const item = "IT1*1*10*EA*10.00**VN*TQ-100"
	// said is number, sub-line of, quantity, unit and action of each line.
	said := func(d *Document) (all [][]string) {
		for _, l := range d.Lines {
			action := ""
			if l.Detail != nil {
				action = l.Detail.Action
			}
			all = append(all, []string{l.No, l.SubOf, l.Quantity.String(), l.Unit, action})
		}
		return all
	}
	t.Run("SLN is a line that details its item, and CTT counts items", func(t *testing.T) {
		d, errs := single(t, invoice810(t, item, item+"~SLN*1.1**I*4*KG****VN*A~SLN*1.2**A*1*EA*2.50~SLN*1.3**S*1*EA", "SE*8", "SE*11"))
		if diff := cmp.Diff([][]string{{"1", "", "10", "EA", ""}, {"1.1", "1", "4", "KGM", ""}, {"1.2", "1", "1", "EA", "1"}, {"1.3", "1", "1", "EA", "x12:S"}}, said(d)); diff != "" || len(errs) > 0 {
			t.Error(diff, errs)
		}
		if d.Lines[1].SupplierItem != "A" || d.Lines[2].Price.String() != "2.50" {
			t.Errorf("got %+v", d.Lines)
		}
	})
	t.Run("what stands beneath SLN is its own, and the party behind it the item's", func(t *testing.T) {
		d, _ := single(t, invoice810(t, item, item+"~SLN*1.1**I*4*EA~PID*F****PART~SAC*C*D500***100~N1*MF*MAKER", "SE*8", "SE*12"))
		part, whole := d.Lines[1], d.Lines[0]
		if part.Description != "PART" || len(part.Detail.AllowanceCharges) != 1 || len(part.Detail.Parties) != 0 || whole.Description != "" || len(whole.Detail.Parties) != 1 {
			t.Errorf("got %+v and %+v", whole, part)
		}
	})
	t.Run("of an item without a number the segment stays as it is", func(t *testing.T) {
		d, _ := single(t, invoice810(t, item, "IT1**10*EA*10.00**VN*TQ-100~SLN*1.1**I*4*EA", "SE*8", "SE*9"))
		if len(d.Lines) != 1 || len(d.Lines[0].Detail.Other) != 1 || string(d.Lines[0].Detail.Other[0]) != `["SLN","1.1","","I","4","EA"]` {
			t.Errorf("got %+v", d.Lines)
		}
	})
}

func TestCodesOfX12(t *testing.T) {
	for _, c := range [...]struct{ what, got, want string }{
		{"terms from delivery", termsEvent("2"), "29"}, {"terms from receipt of goods", termsEvent("15"), "21"}, {"terms of the partners", termsEvent("ZZ"), "ZZ"},
		{"off invoice", settlement("02"), "2"}, {"a later method", settlement("09"), "09"}, {"a method of one character", settlement("2"), "2"},
		{"for export", taxCategory("0"), "G"}, {"exempt", taxCategory("1"), "E"}, {"not exempt", taxCategory("2"), "S"}, {"nothing said", taxCategory(""), ""},
		{"a manufacturer's part", itemKind("MG"), "MF"}, {"another GTIN", itemKind("UP"), "SRV"}, {"what is ours alone", itemKind("ZZ"), "ZZ"},
		{"pieces", unitX12("PC"), "PCE"}, {"metric tons", unitX12("MP"), "TNE"}, {"cases", unitX12("CA"), "CA"},
		{"the main carriage", transportStage("B"), "20"}, {"a carrier before it", transportStage("O"), ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			if c.got != c.want {
				t.Errorf("got %s, want %s", c.got, c.want)
			}
		})
	}
}
