package infoset

import "math"

// Limits bound a document before it is believed. Zero is no bound for none of
// them: NewReader and Parse take what is zero from Header.
type Limits struct {
	Bytes      int64 // of the whole text, before it is decoded
	Depth      int   // of open elements
	Elements   int64 // of the whole document
	Attributes int   // of one element, namespace declarations among them
	Names      int   // bytes of one name
	Values     int   // bytes of all attribute values of one element
	Notes      int   // bytes of one comment or processing instruction

	// Instructions lets processing instructions stand. SOAP 1.2 part 1 §5 has
	// none in a message.
	Instructions bool
}

// Header is what a SOAP part may be: payloads travel beside it.
var Header = Limits{
	Bytes: 2 << 20, Depth: 64, Elements: 20_000, Attributes: 64,
	Names: 256, Values: 64 << 10, Notes: 16 << 10,
}

// Payload is what a signed XML part may be. It is read as a stream, of which only
// the open elements are held.
var Payload = Limits{
	Bytes: math.MaxInt64, Depth: 512, Elements: math.MaxInt64, Attributes: 1_024,
	Names: 1_024, Values: 1 << 20, Notes: 1 << 20, Instructions: true,
}

func (l Limits) orHeader() Limits {
	for _, f := range []struct{ value, or *int }{
		{&l.Depth, &Header.Depth}, {&l.Attributes, &Header.Attributes}, {&l.Names, &Header.Names},
		{&l.Values, &Header.Values}, {&l.Notes, &Header.Notes},
	} {
		if *f.value == 0 {
			*f.value = *f.or
		}
	}
	if l.Bytes == 0 {
		l.Bytes = Header.Bytes
	}
	if l.Elements == 0 {
		l.Elements = Header.Elements
	}
	return l
}
