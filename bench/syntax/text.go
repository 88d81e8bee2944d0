package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"github.com/edigw/edigw/edi"
)

// text is an interchange of invoices.
type text struct {
	syntax     string
	raw        []byte
	delimiters edi.Delimiters
}

// textOf writes an interchange of size bytes or a little more: invoices of 5 to
// 34 lines, a line feed behind each segment, in EDIFACT some released characters.
func textOf(syntax string, size int) *text {
	var b bytes.Buffer
	r := rand.New(rand.NewPCG(1, 2))
	if syntax == "x12" {
		x12Text(&b, r, size)
		return &text{syntax, b.Bytes(), edi.Delimiters{Element: '*', Component: '>', Terminator: '~'}}
	}
	edifactText(&b, r, size)
	return &text{syntax, b.Bytes(), edi.Delimiters{Component: ':', Element: '+', Decimal: '.', Release: '?', Terminator: '\''}}
}

func edifactText(b *bytes.Buffer, r *rand.Rand, size int) {
	b.WriteString("UNB+UNOC:3+9520001000010:14+9520002000019:14+261128:0914+I1'\n")
	n := 0
	for b.Len() < size {
		n++
		lines, total := 5+r.IntN(30), 0
		fmt.Fprintf(b, "UNH+%d+INVOIC:D:96A:UN:EAN008'\nBGM+380+R%d+9'\nDTM+137:20261128:102'\nRFF+ON:%d'\nNAD+SU+9520001000010::9'\n"+
			"NAD+BY+9520002000019::9'\nCUX+2:EUR:4'\n", n, n, r.IntN(1e7))
		for i := range lines {
			quantity, price := 1+r.IntN(200), 1+r.IntN(900)
			text := "Dowel ring galvanised M8 x 40"
			if r.IntN(20) == 0 {
				text = "Dowel ring 4?+2, customer?'s own"
			}
			total += quantity * price
			fmt.Fprintf(b, "LIN+%d++9520001%06d:EN'\nIMD+F++:::%s'\nQTY+47:%d:PCE'\nMOA+203:%d'\nPRI+AAA:%d'\nTAX+7+VAT+++:::0+Z'\n",
				i+1, r.IntN(1e6), text, quantity, quantity*price, price)
		}
		fmt.Fprintf(b, "UNS+S'\nCNT+2:%d'\nMOA+79:%d'\nMOA+125:%d'\nMOA+77:%d'\nUNT+%d+%d'\n", lines, total, total, total, 13+6*lines, n)
	}
	fmt.Fprintf(b, "UNZ+%d+I1'\n", n)
}

func x12Text(b *bytes.Buffer, r *rand.Rand, size int) {
	b.WriteString("ISA*00*          *00*          *ZZ*NORTHWIND      *ZZ*HARBOUR        *261128*0914*U*00401*000000071*0*P*>~\n" +
		"GS*IN*NORTHWIND*HARBOUR*20261128*0914*71*X*004010~\n")
	n := 0
	for b.Len() < size {
		n++
		lines, total := 5+r.IntN(30), 0
		fmt.Fprintf(b, "ST*810*%09d~\nBIG*20261128*R%d*20261120*%d~\nN1*SU*Northwind*92*17~\nN1*BY*Harbour Stores*92*0017~\n", n, n, r.IntN(1e7))
		for i := range lines {
			quantity, price := 1+r.IntN(200), 1+r.IntN(900)
			total += quantity * price
			fmt.Fprintf(b, "IT1*%d*%d*EA*%d**UP*952%09d~\nPID*F****Dowel ring galvanised M8 x 40~\n", i+1, quantity, price, r.IntN(1e9))
		}
		fmt.Fprintf(b, "TDS*%d00~\nCTT*%d~\nSE*%d*%09d~\n", total, lines, 7+2*lines, n)
	}
	fmt.Fprintf(b, "GE*%d*71~\nIEA*1*000000071~\n", n)
}
