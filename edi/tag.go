package edi

// userTag reports whether a tag of three bytes is that of an EDIFACT user segment:
// capital letters or digits, and not UN with a letter.
func userTag(b []byte) bool {
	return tagByte[b[0]]&tagByte[b[1]]&tagByte[b[2]] != 0 && (b[0] != 'U' || b[1] != 'N')
}

// shortTag reports whether tag is that of an X12 segment which needs no look: two or
// three capital letters or digits, a letter first, and none of the envelope, of
// security or of those that carry binary data.
func shortTag(tag []byte) bool {
	if !ShortTag(tag) {
		return false
	}
	if len(tag) == 2 {
		return string(tag) != "ST" && string(tag) != "SE" && string(tag) != "GS" && string(tag) != "GE"
	}
	switch tag[0] {
	case 'I':
		return string(tag) != "ISA" && string(tag) != "IEA"
	case 'B':
		return string(tag) != "BIN" && string(tag) != "BDS"
	}
	return true
}

// ShortTag reports whether tag is two or three capital letters or digits, a letter
// first: X12.6.
func ShortTag(tag []byte) bool {
	return (len(tag) == 2 || len(tag) == 3 && tagByte[tag[2]] != 0) && tag[0]-'A' <= 25 && tagByte[tag[1]] != 0
}

var tagByte = func() (t [256]uint8) {
	for b := range t {
		if b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' {
			t[b] = 1
		}
	}
	return t
}()

// ValidTag reports whether the tag is three capital letters or digits.
func (s *Segment) ValidTag() bool {
	b := s.RawTag()
	return len(b) == 3 && tagByte[b[0]]&tagByte[b[1]]&tagByte[b[2]] != 0
}
