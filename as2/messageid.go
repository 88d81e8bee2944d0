package as2

import "strings"

// longestID is the longest Message-ID that is taken, in characters: RFC 4130 §5.3.3.
const longestID = 998

// MessageID is the sender's id of a message, RFC 4130 §5.3.3.
type MessageID struct {
	Plain string // without angle brackets: what a transport key is made of
	Raw   string // as it came: what an MDN names in Original-Message-ID
}

// ParseMessageID reads whatever stands there; ok is false where it is no id at all:
// empty, too long, or with control characters.
//
// QUIRK: senders leave the brackets out, or the @, or put blanks in. RFC 5322 §3.6.4
// forbids all of it, and nobody is helped by a refusal: an id is compared, not read.
func ParseMessageID(raw string) (id MessageID, ok bool) {
	id.Raw = strings.Trim(raw, " \t")
	id.Plain = id.Raw
	if strings.HasPrefix(id.Plain, "<") && strings.HasSuffix(id.Plain, ">") {
		id.Plain = strings.Trim(id.Plain[1:len(id.Plain)-1], " \t")
	}
	if id.Plain == "" || len(id.Raw) > longestID {
		return MessageID{}, false
	}
	for i := range len(id.Raw) {
		if c := id.Raw[i]; c < 0x20 && c != '\t' || c == 0x7f {
			return MessageID{}, false
		}
	}
	return id, true
}
