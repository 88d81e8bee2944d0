package main

import (
	"github.com/edigw/edigw/compare"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/edifact"
	"github.com/edigw/edigw/x12"
)

// namesOf gives what puts segments, elements and codes of a syntax into words.
func namesOf(syntax string) compare.Names {
	if syntax == "x12" {
		return compare.Names{Segment: x12.SegmentName, Element: x12.ElementName, Code: x12.CodeText}
	}
	return compare.Names{Segment: edifact.SegmentName, Element: edifact.ElementName, Code: edifact.CodeText}
}

// syntaxOf is the syntax of what is known of two sides, the later one first.
func syntaxOf(sides ...*compare.Interchange) string {
	for i := len(sides) - 1; i >= 0; i-- {
		if s := sides[i]; s != nil && s.Envelope != nil {
			return s.Envelope.Syntax
		}
	}
	return ""
}

// segmentTitle is the tag with its name, the tag alone where there are no words.
func segmentTitle(n compare.Names, tag string) string {
	if name := n.Segment(tag); name != tag {
		return printable(tag) + " " + name
	}
	return printable(tag)
}

// placeTitle names what a location points at: the element, else the segment.
func placeTitle(syntax string, l edi.Location) string {
	n := namesOf(syntax)
	if l.Tag == "" {
		return ""
	}
	if l.Element == 0 {
		return segmentTitle(n, l.Tag)
	}
	return n.Element(l.Tag, l.Element, max(l.Component, 1)) + " (" + segmentTitle(n, l.Tag) + ")"
}
