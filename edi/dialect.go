package edi

// Dialect is how a syntax names and codes what is wrong with any text.
type Dialect struct {
	Syntax      string // as Interchange.Syntax
	Message     string // what it calls a message
	MaxSegments int    // in one message
	MaxMessages int    // in one interchange
	MaxHeader   int    // bytes of a segment whose values are kept
	ShortTags   bool   // a tag may have two characters, and begins with a letter

	// The standard's codes: 0085, or I18.
	TooLarge  string // bytes, delimiters or findings
	TooMany   string // segments, messages
	LongValue string // a header that is too long
	Stray     string // what stands where nothing may
	Wrapped   string // line ends that were taken out
}
