package documents

import (
	"github.com/edigw/edigw/documents/roles"
	"github.com/edigw/edigw/edi"
)

// Handler maps one message type to a Document.
type Handler struct {
	Type  string // 0065 of UNH, ST01: INVOIC, 810
	Class string

	// Map reads message i of ic, its qualifiers as by says; nil is by what the message
	// says of itself. An error of severity error refuses the message,
	// and the document is then nil; notes and warnings are findings. The body is not
	// kept. Map never panics, whatever the message holds.
	Map func(ic *edi.Interchange, i int, b *edi.Body, by *roles.Set) (*Document, []*edi.Error)
}

// Handlers lists what is mapped. A type that is not here is kept by Generic, if
// the partner's types name it.
func Handlers() []Handler {
	return []Handler{
		{Type: "INVOIC", Class: ClassInvoice, Map: mapInvoic},
		{Type: "DESADV", Class: ClassDespatch, Map: mapDesadv},
		{Type: "810", Class: ClassInvoice, Map: mapX810},
		{Type: "856", Class: ClassDespatch, Map: mapX856},
	}
}
