package edifact

import (
	"strconv"

	"github.com/edigw/edigw/edi"
)

// parcel is the package that is being read, UNO…UNP, ISO 9735-8: an object of
// any bytes, of which UNO says how long it is.
type parcel struct {
	length   int64 // of the object, 0810
	headers  int   // segments between UNO and the object that are still to come, 0814
	from, to int64 // of the object in the payload, once no header is to come
}

// referencePrefix tells packages' references from messages'.
const referencePrefix = edi.Package + "/"

// uno begins a package.
func (s *scan) uno(seg *edi.Segment) error {
	s.endMessage(seg)
	at := seg.Location(0, 0)
	if s.Group < 0 {
		s.loose = true
		if len(s.IC.Groups) > 0 {
			s.mixed(at)
		}
	}
	switch {
	case s.IC.SyntaxVersion != "4":
		s.Stop("package-not-supported", "15", at, "packages (UNO) came with syntax version 4; this is version %s", s.IC.SyntaxVersion)
		return nil
	case s.Breaks != nil:
		s.Stop("package-in-wrapped-text", "15", at, "a package (UNO) in a text whose line ends are taken out: which of its bytes were sent cannot be told")
		return nil
	case s.TooLong(seg) || s.Full(at):
		return nil
	}
	length, ok := octets(seg.Get(4, 1))
	headers, known := octets(seg.Get(4, 2))
	if !ok || !known && seg.Get(4, 2) != "" || headers > 999 {
		s.Stop("package-length-invalid", "37", seg.Location(4, 1), "UNO 0810 is %q and 0814 %q: how long the object is cannot be told", edi.Clip(seg.RawValue(4, 1, 1)), edi.Clip(seg.RawValue(4, 1, 2)))
		return nil
	}
	i := s.begin(seg, edi.Message{Reference: s.Kept(referencePrefix + trim(seg.Get(1, 1))), Type: s.packageType(seg)})
	if trim(seg.Get(1, 1)) == "" {
		s.Report(i, edi.SeverityError, "uno-incomplete", "13", seg.Location(1, 1), "UNO has no package reference (0800)")
	}
	s.parcel = &parcel{length: length, headers: int(headers)}
	if headers == 0 {
		return s.object(seg)
	}
	return nil
}

// packageType gives what UNO says of the package, as one value for packages in a
// row that say the same.
func (s *scan) packageType(uno *edi.Segment) *edi.MessageType {
	t := edi.MessageType{Type: edi.Package, Version: uno.Get(2, 1), Release: uno.Get(2, 2)}
	if s.packages == nil || *s.packages != t {
		s.packages = &t
	}
	return s.packages
}

// octets reads a count of bytes, n..18.
func octets(v string) (int64, bool) {
	n, err := strconv.ParseInt(trim(v), 10, 64)
	return n, err == nil && edi.Digits(trim(v)) && len(trim(v)) <= 18
}

// header counts a segment between UNO and the object.
func (s *scan) header(seg *edi.Segment) error {
	if s.parcel == nil || s.parcel.headers == 0 {
		return nil
	}
	if s.parcel.headers--; s.parcel.headers > 0 {
		return nil
	}
	return s.object(seg)
}

// object has the lexer pass over what stands behind seg, if UNP follows it there.
func (s *scan) object(seg *edi.Segment) error {
	p := s.parcel
	p.from = seg.End()
	p.to = p.from + p.length
	end := s.IC.Offset + s.IC.Length
	if p.to < p.from || p.to > end-3 {
		s.lengthWrong(p, "the interchange ends before that")
		return nil
	}
	if p.to-s.Lex.Offset(s.Open) > s.reader.messageLimit() {
		s.Stop("message-too-large", "18", s.Lex.Segments[s.Open].Location(0, 0), "a package is larger than %d bytes", s.reader.messageLimit())
		return nil
	}
	b, err := s.Payload.Slice(p.to, 3)
	if err != nil {
		return err
	}
	if string(b) != "UNP" {
		s.lengthWrong(p, "UNP does not stand there")
		return nil
	}
	s.Lex.Skip(s.Next+1, p.to)
	return nil
}

// lengthWrong ends the scan: where the object ends, and what stands in it, cannot
// be told.
func (s *scan) lengthWrong(p *parcel, why string) {
	uno := s.Lex.Segments[s.Open]
	s.Stop("package-length-mismatch", "29", uno.Location(4, 1), "UNO 0810 says that the object ends %d bytes behind its headers, but %s", p.length, why)
}

// unp ends a package.
func (s *scan) unp(seg *edi.Segment) error {
	if s.parcel == nil {
		s.Report(-1, edi.SeverityError, "uno-missing", "13", seg.Location(0, 0), "UNP ends a package that no UNO began")
		return nil
	}
	p := s.parcel
	if p.headers > 0 {
		uno := s.Lex.Segments[s.Open]
		s.Stop("package-length-mismatch", "29", uno.Location(4, 2), "UNO 0814 says that %d more segments stand before the object, but UNP does", p.headers)
		return nil
	}
	s.parcel = nil
	s.Content.AddObject(s.Lex.Bytes(p.from, p.to))
	s.Content.Add(seg, true)
	i := s.Message()
	segments := s.Lex.Segments[s.Open : s.Next+1]
	s.Measure(segments)
	s.count(i, seg, 1, int(p.length), "unp-length-mismatch", "UNP 0810", "bytes", "the object")
	reference := s.IC.Messages[i].Reference[len(referencePrefix):]
	s.reference(i, seg, 2, reference, "unp-reference-mismatch", "UNP 0800", "UNO")
	for k := range segments {
		s.characters(i, segments[k:k+1])
	}
	return s.Deliver(i, &edi.Body{Segments: segments})
}

// passObject has the lexer pass over the object of a package that Scan has read
// before; raw is the package.
func passObject(lex *edi.Lexer, raw []byte) {
	for left := true; left; {
		left = lex.Lex(64)
		if len(lex.Segments) == 0 {
			continue
		}
		uno := lex.Segments[0]
		length, _ := octets(uno.Get(4, 1)) // Scan has read both
		headers, _ := octets(uno.Get(4, 2))
		if n := int(headers) + 1; len(lex.Segments) >= n {
			lex.Skip(n, lex.Segments[n-1].End()+length)
			return
		}
	}
}
