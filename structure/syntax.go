package structure

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// unbounded is a maximum that is none.
const unbounded = math.MaxInt32

// kind is what characters a value may have.
type kind uint8

// The kinds of both syntaxes. Values of EDIFACT are an, n and a; the others are
// X12's (X12.6 §3.5.1).
const (
	text    kind = iota // an, AN: any
	letters             // a
	number              // n: digits, a decimal mark, a minus
	code                // ID
	integer             // N0 to N9: digits, a minus; the decimal point is implied
	decimal             // R: digits, a point, a minus, an exponent
	date                // DT
	clock               // TM
	binary              // B: any
)

// syntax is EDIFACT or X12: how formats are written, and what codes faults have.
type syntax interface {
	// format reads the words behind "element ID".
	format(v *component, words []string) error
	// code is the standard's code for a fault.
	code(f fault) string
	// missing is the number of the segment at which a segment is missing that
	// should stand behind segment last.
	missing(last int32) int
	// words for what they call these.
	group() string
	message() string
}

func syntaxOf(name string) syntax {
	if name == "x12" {
		return x12{}
	}
	return edifact{}
}

// fault is what can be wrong.
type fault uint8

const (
	missingSegment fault = iota
	unexpectedSegment
	lateSegment
	foreignSegment
	unknownSegment
	segmentRepeats
	groupRepeats
	missingElement
	missingByCondition
	excludedByCondition
	surplusElement
	surplusComponent
	elementRepeats
	tooLong
	tooShort
	wrongCharacters
	wrongNotation
	noDigitBefore
	wrongCode
	wrongDate
	wrongTime
)

// ours are our own codes for faults, which never change.
var ours = [...]string{
	missingSegment: "segment-missing", unexpectedSegment: "segment-unexpected", lateSegment: "segment-out-of-order",
	foreignSegment: "segment-foreign", unknownSegment: "segment-unknown", segmentRepeats: "segment-repeats", groupRepeats: "group-repeats",
	missingElement: "element-missing", missingByCondition: "element-missing-here", excludedByCondition: "element-excluded",
	surplusElement: "element-surplus", surplusComponent: "component-surplus", elementRepeats: "element-repeats",
	tooLong: "element-too-long", tooShort: "element-too-short", wrongCharacters: "element-characters", wrongNotation: "element-number",
	noDigitBefore: "element-number", wrongCode: "element-code", wrongDate: "element-date", wrongTime: "element-time",
}

type edifact struct{}

// format reads "an..35", "n3", "a1".
func (edifact) format(v *component, words []string) error {
	if len(words) != 1 {
		return fmt.Errorf("element %s needs one format: an..35, n3, a1", v.id)
	}
	rest := words[0]
	switch {
	case strings.HasPrefix(rest, "an"):
		v.kind, rest = text, rest[2:]
	case strings.HasPrefix(rest, "a"):
		v.kind, rest = letters, rest[1:]
	case strings.HasPrefix(rest, "n"):
		v.kind, rest = number, rest[1:]
	default:
		return fmt.Errorf("element %s has format %q, which is none of a, n and an with a length", v.id, words[0])
	}
	length, upTo := strings.CutPrefix(rest, "..")
	n, err := strconv.Atoi(length)
	if err != nil || n < 1 {
		return fmt.Errorf("element %s has format %q, whose length is no number", v.id, words[0])
	}
	if v.min, v.max = n, n; upTo {
		v.min = 1
	}
	return nil
}

// code gives 0085.
func (edifact) code(f fault) string {
	switch f {
	case missingSegment, missingElement, missingByCondition:
		return "13"
	case unexpectedSegment, lateSegment, foreignSegment, unknownSegment, excludedByCondition:
		return "15"
	case segmentRepeats, elementRepeats:
		return "35"
	case groupRepeats:
		return "36"
	case surplusElement, surplusComponent:
		return "16"
	case tooLong:
		return "39"
	case tooShort:
		return "40"
	case wrongCharacters:
		return "37"
	case wrongNotation:
		return "19"
	case noDigitBefore:
		return "38"
	}
	return "12"
}

// missing: 0096 is then the position of the last segment before the place where
// the missing one was expected.
func (edifact) missing(last int32) int { return int(last) }

func (edifact) group() string   { return "group" }
func (edifact) message() string { return "message" }

type x12 struct{}

// format reads "ID 2..3", "N2 1..15", "DT 8".
func (x12) format(v *component, words []string) error {
	if len(words) != 2 {
		return fmt.Errorf("element %s needs a type and a length: ID 2..3", v.id)
	}
	switch t := words[0]; {
	case t == "AN":
		v.kind = text
	case t == "ID":
		v.kind = code
	case t == "R":
		v.kind = decimal
	case t == "DT":
		v.kind = date
	case t == "TM":
		v.kind = clock
	case t == "B":
		v.kind = binary
	case len(t) == 2 && t[0] == 'N' && t[1] >= '0' && t[1] <= '9':
		v.kind = integer
	default:
		return fmt.Errorf("element %s has type %q, which is none of AN, ID, N0 to N9, R, DT, TM and B", v.id, t)
	}
	least, most, both := strings.Cut(words[1], "..")
	if !both {
		most = least
	}
	var err, errMost error
	v.min, err = strconv.Atoi(least)
	if v.max, errMost = strconv.Atoi(most); err != nil || errMost != nil || v.min < 1 || v.max < v.min {
		return fmt.Errorf("element %s has length %q, which is no number and no two of them", v.id, words[1])
	}
	return nil
}

// code gives 720 (AK304, IK304) for segments and 723 (AK403, IK403) for
// elements.
func (x12) code(f fault) string {
	switch f {
	case unknownSegment:
		return "1"
	case unexpectedSegment:
		return "2"
	case missingSegment:
		return "3"
	case groupRepeats:
		return "4"
	case segmentRepeats:
		return "5"
	case foreignSegment:
		return "6"
	case lateSegment:
		return "7"
	case missingElement:
		return "1"
	case missingByCondition:
		return "2"
	case surplusElement:
		return "3"
	case tooShort:
		return "4"
	case tooLong:
		return "5"
	case wrongCode:
		return "7"
	case wrongDate:
		return "8"
	case wrongTime:
		return "9"
	case excludedByCondition:
		return "10"
	case elementRepeats:
		return "12"
	case surplusComponent:
		return "13"
	}
	return "6"
}

// missing: AK302 is the position that the missing segment should have had.
func (x12) missing(last int32) int { return int(last) + 1 }

func (x12) group() string   { return "loop" }
func (x12) message() string { return "transaction set" }
