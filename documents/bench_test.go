package documents

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/edifact"
)

// twentyLines is the invoice of the receive benchmarks: 20 LIN groups, about 4 KB.
func twentyLines() []byte {
	segments := []string{"UNH+1+INVOIC:D:96A:UN:EAN008", "BGM+380+RE-2026-10442+9", "DTM+137:20261128:102", "DTM+35:20261126:102",
		"FTX+AAI+++Delivered free to ramp, acceptance until two in the afternoon", "RFF+ON:BE-88213", "DTM+171:20261103:102", "RFF+DQ:LS-77120",
		"NAD+SU+9520003000017::9++Brennholm Feinkost GmbH+Kaistrasse 14+Luebeck++23552+DE", "RFF+VA:DE999999999",
		"NAD+BY+9520004000016::9++Haus am Markt KG+Am Markt 1+Kiel++24103+DE", "NAD+DP+9520004000023::9", "CUX+2:EUR:4", "PAT+1++5:3:D:30", "DTM+13:20261228:102"}
	for i := 1; i <= 20; i++ {
		segments = append(segments, fmt.Sprintf("LIN+%d++952000300%04d:EN", i, i), fmt.Sprintf("PIA+1+BF-%d:SA+%07d:IN", i, i),
			"IMD+F++:::Smoked salmon, sliced, 200 g", fmt.Sprintf("QTY+47:%d:PCE", i), fmt.Sprintf("MOA+203:%d.%d0", 11*i/2, i%2*5), "PRI+AAA:5.50",
			fmt.Sprintf("RFF+ON:BE-88213:%d", i), "TAX+7+VAT+++:::7+S")
	}
	segments = append(segments, "UNS+S", "CNT+2:20", "MOA+79:1155.00", "MOA+125:1155.00", "MOA+176:80.85", "MOA+77:1235.85", "TAX+7+VAT+++:::7+S", "MOA+125:1155.00", "MOA+124:80.85")
	return interchange(segments)
}

// BenchmarkMap maps a parsed message; BenchmarkParseAndMap scans it first.
func BenchmarkMap(b *testing.B) {
	text := twentyLines()
	p := edi.Bytes(text)
	ic, err := edifact.Reader{}.Split(p, 0)
	if err != nil {
		b.Fatal(err)
	}
	err = edifact.Reader{}.Scan(p, ic, func(i int, body *edi.Body) error {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if d, errs := mapInvoic(ic, i, body, nil); d == nil {
				b.Fatal(errs)
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

func BenchmarkParseAndMap(b *testing.B) {
	text := twentyLines()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		p := edi.Bytes(text)
		ic, err := edifact.Reader{}.Split(p, 0)
		if err != nil {
			b.Fatal(err)
		}
		err = edifact.Reader{}.Scan(p, ic, func(i int, body *edi.Body) error {
			_, errs := mapInvoic(ic, i, body, nil)
			if len(errs) > 0 {
				b.Fatal(errs[0])
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkContent is the part of BenchmarkMap that hashes.
func BenchmarkContent(b *testing.B) {
	text := twentyLines()
	p := edi.Bytes(text)
	ic, err := edifact.Reader{}.Split(p, 0)
	if err != nil {
		b.Fatal(err)
	}
	err = edifact.Reader{}.Scan(p, ic, func(_ int, body *edi.Body) error {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		d := &Document{}
		for b.Loop() {
			d.read(ic, body, func(*segment, int) {})
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkQueue encodes a mapped invoice for the database.
func BenchmarkQueue(b *testing.B) {
	d, _ := single(b, twentyLines())
	d.ID = uuid.MustParse("01940000-0000-7000-8000-000000000001")
	rows := []Row{{Document: d, State: StateLive, MessageID: "unb:a"}}
	b.ReportAllocs()
	for b.Loop() {
		var batch pgx.Batch
		if err := Queue(&batch, "acme", rows); err != nil {
			b.Fatal(err)
		}
	}
}
