package infoset

import "math"

// Limits bound a document before it is believed. A zero value takes that of Header.
type Limits struct {
	Bytes      int64 // of the whole text
	Depth      int   // of open elements
	Items      int64 // elements, attributes, comments, instructions and CDATA sections of the whole document
	Attributes int   // of one element, namespace declarations among them
	Names      int   // bytes of one name
	Values     int   // bytes of all attribute values of one element
	Notes      int   // bytes of one comment or processing instruction

	// Instructions lets processing instructions stand. SOAP 1.2 part 1 §5 has none in a
	// message.
	Instructions bool
	// Encodings lets the text be UTF-16, or of a character set of one byte a character
	// that its declaration names (XML 1.0 §4.3.3); else it is UTF-8.
	Encodings bool
}

// maxBindings bounds the namespace declarations in scope: each name looks through
// them.
const maxBindings = 256

// Header is what a SOAP part may be: payloads travel beside it. 2 MB of the smallest
// elements would be 30 times that as a tree; 50,000 items are about 12 MB. A namespace
// is looked up along the open elements, which are few for that too.
var Header = Limits{
	Bytes: 2 << 20, Depth: 32, Items: 50_000, Attributes: 64,
	Names: 256, Values: 64 << 10, Notes: 16 << 10,
}

// Payload is what a signed XML part may be. It is read as a stream, of which only
// the open elements are held.
var Payload = Limits{
	Bytes: math.MaxInt64, Depth: 512, Items: math.MaxInt64, Attributes: 1_024,
	Names: 1_024, Values: 1 << 20, Notes: 1 << 20, Instructions: true, Encodings: true,
}

func (l Limits) orHeader() Limits {
	for _, f := range []struct {
		value *int
		or    int
	}{
		{&l.Depth, Header.Depth},
		{&l.Attributes, Header.Attributes},
		{&l.Names, Header.Names},
		{&l.Values, Header.Values},
		{&l.Notes, Header.Notes},
	} {
		if *f.value == 0 {
			*f.value = f.or
		}
	}
	if l.Bytes == 0 {
		l.Bytes = Header.Bytes
	}
	if l.Items == 0 {
		l.Items = Header.Items
	}
	return l
}
