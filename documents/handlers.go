package documents

import (
	"github.com/edigw/edigw/documents/roles"
	"github.com/edigw/edigw/edi"
)

// Handler maps one message type to a Document.
type Handler struct {
	Type  string // 0065 of UNH, ST01: INVOIC, 810
	Class string

	// Map reads message i of ic as by says; nil is by what the message says of itself,
	// and all that is found is told. An error of severity error refuses the message,
	// and the document is then nil; notes and warnings are findings. The body is not
	// kept. Map never panics, whatever the message holds.
	Map func(ic *edi.Interchange, i int, b *edi.Body, by *Reading) (*Document, []*edi.Error)
}

// Reading is how a partner's messages are read. Its zero value is how anybody's are.
type Reading struct {
	Roles  *roles.Set        // what qualifiers stand for; nil is by what the message says of itself
	Checks map[string]string // what becomes of findings, by code: what is off is not told, nor counted
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
