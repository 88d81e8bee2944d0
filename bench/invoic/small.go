package invoic

import (
	"bufio"
	"fmt"
	"io"
)

// Small appends message i of an interchange: an invoice of three to five lines in
// about 1.3 KB. Its number is made of document, and so are its amounts.
func Small(b []byte, i int, document int64) []byte { return invoice(b, i, document, 3+document%3) }

// invoice appends message i with so many lines, of about 190 bytes each.
func invoice(b []byte, i int, document, lines int64) []byte {
	b = fmt.Appendf(b, "UNH+%d+INVOIC:D:96A:UN:EAN008'BGM+380+RE%012d+9'DTM+137:20261128:102'DTM+35:20261126:102'RFF+ON:BE-2026-%05d'DTM+171:20261103:102'"+
		"NAD+SU+9520001000010::9++Brennholm Feinkost GmbH+Kaistrasse 14+Luebeck++23552+DE'RFF+VA:DE999999999'"+
		"NAD+BY+9520002000019::9++Nordhafen Handel KG+Am Markt 1+Kiel++24103+DE'NAD+DP+9520002000026::9'CUX+2:EUR:4'PAT+1++5:3:D:30'DTM+13:20261228:102'",
		i, document, document%1e5)
	total := int64(0)
	for line := int64(1); line <= lines; line++ {
		quantity, price := 1+(document*7+line*13)%120, 89+(document*31+line*101)%1900
		amount := quantity * price
		total += amount
		b = fmt.Appendf(b, "LIN+%d++%s:EN'PIA+1+BF-%06d:SA'IMD+F++:::Raeucherlachs in Scheiben, Sorte %d'QTY+47:%d:PCE'MOA+203:%d.%02d'PRI+AAA:%d.%02d:::1:PCE'RFF+ON:BE-2026-%05d:%d'TAX+7+VAT+++:::7+S'",
			line, gtin((document*17+line)%1e4), (document+line)%1e6, (document+line)%97, quantity, amount/100, amount%100, price/100, price%100, document%1e5, line)
	}
	tax := (total*7 + 50) / 100
	b = fmt.Appendf(b, "UNS+S'CNT+2:%d'MOA+79:%d.%02d'MOA+125:%d.%02d'MOA+124:%d.%02d'MOA+77:%d.%02d'TAX+7+VAT+++:::7+S'MOA+125:%d.%02d'MOA+124:%d.%02d'",
		lines, total/100, total%100, total/100, total%100, tax/100, tax%100, (total+tax)/100, (total+tax)%100, total/100, total%100, tax/100, tax%100)
	return fmt.Appendf(b, "UNT+%d+%d'", 23+8*lines, i)
}

// Long is interchange n: one invoice of so many lines, of about 190 bytes each, as one
// who delivers daily sends for a month. 0 ≤ n < 10⁹.
func Long(n, lines int64) []byte {
	b := fmt.Appendf(nil, "UNB+UNOC:3+%s:%s+%s:%s+261129:0915+REF%09d'", Sender, Qualifier, Recipient, Qualifier, n)
	return fmt.Appendf(invoice(b, 1, n, lines), "UNZ+1+REF%09d'", n)
}

// gtin is a GTIN-13 of the example prefix 952 with its check digit (GS1 General
// Specifications §7.9).
func gtin(item int64) string {
	s := fmt.Sprintf("95200010%04d", item)
	sum := 0
	for i, d := range s {
		sum += int(d-'0') * (1 + 2*(i%2))
	}
	return fmt.Sprintf("%s%d", s, (10-sum%10)%10)
}

// messagesAtMost is what UNZ 0036 can count.
const messagesAtMost = 999_999

// Write writes interchanges of small invoices to w, one behind the other, until
// size bytes are full or passed. It gives the number of messages and of
// interchanges, whose references begin at REF000000001 with from = 1.
func Write(to io.Writer, size int64, from int) (messages, interchanges int, err error) {
	w := bufio.NewWriterSize(to, 1<<20)
	written, block := int64(0), make([]byte, 0, 4<<10)
	put := func() {
		if err == nil {
			_, err = w.Write(block)
		}
		written += int64(len(block))
		block = block[:0]
	}
	for written < size {
		reference := fmt.Sprintf("REF%09d", from+interchanges)
		block = fmt.Appendf(block, "UNB+UNOC:3+%s:%s+%s:%s+261129:0915+%s'", Sender, Qualifier, Recipient, Qualifier, reference)
		put()
		n := 0
		for written < size && n < messagesAtMost && err == nil {
			n++
			block = Small(block, n, int64(from)*1e7+int64(messages+n))
			put()
		}
		block = fmt.Appendf(block, "UNZ+%d+%s'", n, reference)
		put()
		messages, interchanges = messages+n, interchanges+1
		if err != nil {
			return messages, interchanges, err
		}
	}
	return messages, interchanges, w.Flush()
}

// Many writes interchange n to w: so many invoices, each of so many lines, or of three
// to five with lines = 0. 0 ≤ n < 10⁵, messages ≤ 999 999.
func Many(to io.Writer, n, messages, lines int64) error {
	w := bufio.NewWriterSize(to, 1<<20)
	if _, err := fmt.Fprintf(w, "UNB+UNOC:3+%s:%s+%s:%s+261129:0915+MANY%05d'", Sender, Qualifier, Recipient, Qualifier, n); err != nil {
		return err
	}
	block := make([]byte, 0, 4<<10)
	for i := int64(1); i <= messages; i++ {
		document := n*1e6 + i
		if block = block[:0]; lines > 0 {
			block = invoice(block, int(i), document, lines)
		} else {
			block = Small(block, int(i), document)
		}
		if _, err := w.Write(block); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(w, "UNZ+%d+MANY%05d'", messages, n); err != nil {
		return err
	}
	return w.Flush()
}
