package documents

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/edigw/edigw/edi"
)

// guardVersion goes into the guard key; raised when a rule changes.
const guardVersion = 1

// GuardKey says which document this is: issuing party, class, type, number and
// year of the document date, as far as keyDay reads it, and whether it is a test. Two documents of a partner
// with one guard key are the same document, whatever interchange brought them. One
// without a number is the same where it says the same.
func (d *Document) GuardKey() [32]byte {
	test := "live"
	if d.Test {
		test = "test"
	}
	date := d.IssueDate
	if d.keyed != nil {
		date = *d.keyed
	}
	year, _, _ := strings.Cut(date, "-")
	b := make([]byte, 0, 160)
	b = append(b, guardVersion)
	for _, s := range []string{test, d.Issuer.Value, d.Issuer.Scheme, d.Class, d.TypeCode, d.Number, year} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	if d.Number == "" { // a CONTRL or 997, say: only what it says tells which it is
		content := d.GuardContent()
		b = append(b, content[:]...)
	}
	return sha256.Sum256(b)
}

// issuedOn takes a document's date: of those that say a day the first counts, in the key
// the first that says one there.
func (m *mapping) issuedOn(date Date) {
	d, day, key := m.doc, date.Day(), date.keyDay()
	before := d.IssueDate
	if d.keyed != nil {
		before = *d.keyed
	}
	if d.IssueDate == "" {
		d.IssueDate = day
	}
	if before == "" {
		before = key
	}
	d.keyed = nil
	if keyed := before; keyed != d.IssueDate {
		d.keyed = &keyed
	}
}

// GuardContent is the digest of what the document says; see hashContent for what
// it leaves out. The zero digest belongs to a Document no mapper made.
func (d *Document) GuardContent() [32]byte { return d.content }

// ContentWithoutNumberAndDate is GuardContent without the document's number and
// the dates of its header. Two documents that agree in it and not in their number
// may be copies: the finding possible_copy.
func (d *Document) ContentWithoutNumberAndDate() [32]byte { return d.contentOnly }

// issuer gives the party that numbers a document: the first that plays one of the roles
// and has an identifier, else a VAT identifier, else the interchange's sender.
func (m *mapping) issuer(words ...string) Identifier {
	parties := m.doc.Detail.Parties
	for _, word := range words {
		if i := m.leading(parties, word, func(p *Party) bool { return p.ID.Value != "" }); i >= 0 {
			return Identifier{Value: parties[i].ID.Value, Scheme: parties[i].ID.Scheme}
		}
	}
	for _, word := range words {
		if i := m.leading(parties, word, func(p *Party) bool { return p.TaxID != "" }); i >= 0 {
			return Identifier{Value: parties[i].TaxID, Scheme: "VA"}
		}
	}
	return senderOf(m.ic)
}

// senderOf gives the interchange's sender as an issuer.
func senderOf(ic *edi.Interchange) Identifier {
	if ic.Syntax == "x12" {
		return Identifier{Value: ic.Sender.ID, Scheme: "isa:" + ic.Sender.Qualifier}
	}
	return Identifier{Value: ic.Sender.ID, Scheme: "unb:" + ic.Sender.Qualifier}
}

// Revision is what a document means for an earlier one of its guard key.
type Revision int

// What the codes of 1225 mean.
const (
	RevisionOriginal Revision = iota // 9, none, and what we do not know
	RevisionReplace                  // 5, 18: stands in the place of the earlier one
	RevisionCancel                   // 1, 17: the earlier one is void
	RevisionCopy                     // 7, 31: says that it is a copy
	// RevisionPartial says that only a part is sent (2, 3, 4, 20, 21, 36). It is
	// guarded like an original: replacing a whole document by a part would lose the
	// rest silently.
	RevisionPartial
)

// Revision reads the function the document was sent with.
func (d *Document) Revision() Revision { return revisionOf(d.Function) }

func revisionOf(function string) Revision {
	switch function {
	case "5", "18":
		return RevisionReplace
	case "1", "17":
		return RevisionCancel
	case "7", "31":
		return RevisionCopy
	case "2", "3", "4", "20", "21", "36":
		return RevisionPartial
	}
	return RevisionOriginal
}

// neutral reports whether a function of 1225 says no more than original, or copy of
// it: it makes no difference in content.
func neutral(function string) bool {
	return function == "" || function == "9" || function == "7" || function == "31"
}

// String gives a word for logs and findings.
func (r Revision) String() string {
	return [...]string{"original", "replace", "cancel", "copy", "partial"}[r]
}

// Stamp orders the revisions of a document as a partner sent them: date and time
// of the interchange, its control reference, the message's place in it. Stamps
// compare as bytes, in Go as under collate "C". References of digits compare by
// value, and a shorter one comes first, as counters do.
func Stamp(ic *edi.Interchange, i int) string {
	b := make([]byte, 0, 48)
	b = appendPadded(b, ic.Date, 8, '0')
	clock := ic.Time
	if len(clock) < 6 {
		clock = (clock + "000000")[:6]
	}
	b = append(b, clock[:6]...)
	b = append(b, '/')
	b = appendPadded(b, strings.TrimLeft(ic.ControlReference, "0"), 14, ' ')
	b = append(b, '/')
	n := len(b)
	for range 6 {
		b = append(b, '0')
	}
	for at := n + 5; i > 0 && at >= n; at-- {
		b[at] = byte('0' + i%10)
		i /= 10
	}
	return string(b)
}

// appendPadded appends s, padded on the left to width.
func appendPadded(dst []byte, s string, width int, pad byte) []byte {
	for range width - len(s) {
		dst = append(dst, pad)
	}
	return append(dst, s...)
}
