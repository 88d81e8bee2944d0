package infoset

import (
	"testing"
	"unicode/utf8"
)

// The tables of XML 1.0 (fifth edition) §2.2 and §2.3, as they stand there but for the
// colon, which a name with namespaces does not have.
var (
	char      = [][2]rune{{0x9, 0x9}, {0xA, 0xA}, {0xD, 0xD}, {0x20, 0xD7FF}, {0xE000, 0xFFFD}, {0x10000, 0x10FFFF}}
	nameStart = [][2]rune{
		{'A', 'Z'}, {'_', '_'}, {'a', 'z'}, {0xC0, 0xD6}, {0xD8, 0xF6}, {0xF8, 0x2FF}, {0x370, 0x37D}, {0x37F, 0x1FFF}, {0x200C, 0x200D},
		{0x2070, 0x218F}, {0x2C00, 0x2FEF}, {0x3001, 0xD7FF}, {0xF900, 0xFDCF}, {0xFDF0, 0xFFFD}, {0x10000, 0xEFFFF},
	}
	name = append([][2]rune{{'-', '-'}, {'.', '.'}, {'0', '9'}, {0xB7, 0xB7}, {0x300, 0x36F}, {0x203F, 0x2040}}, nameStart...)
)

func TestCharactersAreThoseOfTheSpecification(t *testing.T) {
	within := func(ranges [][2]rune, c rune) bool {
		for _, r := range ranges {
			if c >= r[0] && c <= r[1] {
				return true
			}
		}
		return false
	}
	for c := rune(0); c <= utf8.MaxRune; c++ {
		if c >= 0xD800 && c <= 0xDFFF {
			continue // no character: UTF-8 that decodes to it is refused
		}
		if isChar(c) != within(char, c) || isNameStart(c) != within(nameStart, c) || isName(c) != within(name, c) {
			t.Fatalf("%U: Char %v, NameStartChar %v, NameChar %v", c, isChar(c), isNameStart(c), isName(c))
		}
	}
}
