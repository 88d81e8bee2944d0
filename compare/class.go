package compare

// Class is what kind of difference a drift is.
type Class string

// The classes of a drift. The zero Class means that there is no difference.
const (
	Formatting        Class = "formatting"         // segments equal; separators, line breaks, character set or padding differ
	Envelope          Class = "envelope"           // only envelope references, times or indicators differ
	Business          Class = "business"           // segments of a document differ
	DifferentDocument Class = "different_document" // another number, message type, sender or receiver
	Unparseable       Class = "unparseable"        // one side cannot be read
	OriginalPurged    Class = "original_purged"    // of the original only digests are left
)

// Severity is how soon a person should look.
type Severity string

// The severities, from an item for the record to one that may cost money today.
const (
	Info     Severity = "info"
	Low      Severity = "low"
	Medium   Severity = "medium"
	High     Severity = "high"
	Critical Severity = "critical"
)

// invoices are the message types whose money, account, payee and quantities
// make a difference critical. INVOIC holds credit notes too (BGM 1001 = 381).
var invoices = map[string]bool{"INVOIC": true, "810": true}

// Classify gives class and severity of b against the original a. A nil a is an
// original whose payload is purged, a nil b one that could not be read.
func Classify(a, b *Interchange) (Class, Severity) {
	r := Diff(a, b, Names{})
	return r.Class, r.Severity
}

// classify fills Class and Severity once all differences are known.
func (r *Result) classify(differentDocument bool) {
	switch {
	case differentDocument:
		r.Class, r.Severity = DifferentDocument, High
	case r.critical:
		r.Class, r.Severity = Business, Critical
	case r.Counts.MessagesAdded+r.Counts.MessagesRemoved+r.Counts.MessagesChanged > 0:
		r.Class, r.Severity = Business, High
	case len(r.Envelope) > 0:
		r.Class, r.Severity = Envelope, Low
	case !r.Identical:
		r.Class, r.Severity = Formatting, Info
	default:
		r.Severity = Info
	}
}
