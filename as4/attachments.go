package as4

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/edigw/edigw/entity"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// soapType is the media type of SOAP 1.2: RFC 3902.
const soapType = "application/soap+xml"

// attachment is a part beside the SOAP part, taken in as it came.
type attachment struct {
	id      string // Content-ID without its brackets
	name    string // media type, without parameters
	signed  string // media type that eb:PartInfo gives it as it travels; "" if none
	spooled *gateway.Spooled
}

// envelopeReader reads a request: the SOAP part first, then, when it is known from
// whom it comes, the others.
type envelopeReader struct {
	from   io.Reader
	limits Limits
	spool  *gateway.Spool
	parts  *entity.Reader // nil: the body is the SOAP part itself
	start  string         // Content-ID of the SOAP part; "" is the first part
	entry  *gateway.Entry // of whose delivery it is; nil while nobody knows

	soap   []byte
	root   string        // Content-ID of the SOAP part; "" if it has none
	before []*attachment // what stood before the SOAP part
	taken  []*attachment // all, in the order in which they came
}

// What the framing of a message may hold beside what its parts do.
const (
	maxParts    = 100      // beside the SOAP part
	maxEpilogue = 64 << 10 // bytes behind the closing boundary
)

func misframed(format string, args ...any) error {
	return &entity.Misframed{Text: fmt.Sprintf(format, args...)}
}

// earlyBytes of parts before the SOAP part are taken in at most: nobody knows yet
// whose they are.
const earlyBytes = 16 << 20

// contentOf judges the Content-Type of a request.
func contentOf(value string) (boundary, start string, multi bool, err error) {
	m, fault := mediaType(value)
	if fault != nil {
		return "", "", false, &notSOAP{code: "Sender", text: fmt.Sprintf("the Content-Type %.80q cannot be read: %v", value, fault)}
	}
	kind := strings.ToLower(m.Get("type"))
	switch {
	case m.Word == soapType:
		return "", "", false, nil
	case m.Word == "text/xml" || m.Word == "multipart/related" && kind == "text/xml":
		return "", "", false, &notSOAP{code: "VersionMismatch", text: "the message is of SOAP 1.1; AS4 is SOAP 1.2, whose media type is application/soap+xml"}
	case m.Word == "multipart/related" && (kind == "" || kind == soapType):
		return m.Get("boundary"), m.Get("start"), true, nil
	case m.Word == "multipart/related":
		return "", "", false, &notSOAP{code: "Sender", text: fmt.Sprintf("the parameter type of multipart/related is %.40q; it has to be %s", kind, soapType)}
	}
	return "", "", false, &notSOAP{code: "Sender", text: fmt.Sprintf("the Content-Type is %.60q; an AS4 message is multipart/related or %s", m.Word, soapType)}
}

// readEnvelope reads as far as the end of the SOAP part.
func readEnvelope(contentType string, from io.Reader, l Limits, spool *gateway.Spool) (*envelopeReader, error) {
	boundary, start, multi, err := contentOf(contentType)
	if err != nil {
		return nil, err
	}
	e := &envelopeReader{from: from, limits: l, spool: spool, start: contentID(start)}
	if !multi {
		e.soap, err = soapPart(from)
		return e, err
	}
	if e.parts, err = entity.NewReader(from, boundary); err != nil {
		return e, err
	}
	early := int64(0)
	for e.soap == nil {
		p, err := e.parts.Next()
		if err == io.EOF {
			return e, misframed("no part is the SOAP part: the parameter start is %.60q", start)
		}
		if err != nil {
			return e, err
		}
		from, err := p.Decoded()
		if err != nil {
			return e, err
		}
		if e.start != "" && contentID(p.Get("Content-ID")) != e.start {
			a, err := e.take(p, from, nil, earlyBytes-early)
			if errors.Is(err, gateway.ErrTooLarge) {
				return e, misframed("more than %d bytes of parts stand before the SOAP part; put that first", earlyBytes)
			}
			if err != nil {
				return e, err
			}
			early += a.spooled.Payload.Size()
			e.before = append(e.before, a)
			continue
		}
		if t := p.Get("Content-Type"); t != "" {
			if m, err := mediaType(t); err != nil || m.Word != soapType {
				return e, misframed("the first part, or the one that start names, is %.60q; the SOAP part is %s", t, soapType)
			}
		}
		e.root = contentID(p.Get("Content-ID"))
		if e.soap, err = soapPart(from); err != nil {
			return e, err
		}
	}
	return e, nil
}

// maxSOAP is the largest SOAP part, in bytes: a hundred parts, signed and encrypted,
// are described in half of it.
const maxSOAP = 512 << 10

// soapPart reads what is held in memory whole.
func soapPart(from io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(from, maxSOAP+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxSOAP {
		return nil, &notSOAP{code: "Sender", text: fmt.Sprintf("the SOAP part is larger than %d bytes; send payloads as parts beside it", maxSOAP)}
	}
	return b, nil
}

// rest takes the other parts in, as parts of p, and reads the request to its end.
func (e *envelopeReader) rest(p *partners.Partner) error {
	e.taken = append(e.taken, e.before...)
	e.before = nil
	for e.parts != nil {
		part, err := e.parts.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		from, err := part.Decoded()
		if err != nil {
			return err
		}
		a, err := e.take(part, from, p, e.limits.MaxBody)
		if err != nil {
			return err
		}
		e.taken = append(e.taken, a)
	}
	// RFC 2046 §5.1.1 has what stands behind the closing boundary ignored.
	n, err := io.Copy(io.Discard, io.LimitReader(e.from, maxEpilogue+1))
	if err == nil && n > maxEpilogue {
		return misframed("more than %d bytes stand behind the closing boundary", maxEpilogue)
	}
	return err
}

func (e *envelopeReader) take(p *entity.Part, from io.Reader, of *partners.Partner, limit int64) (*attachment, error) {
	if len(e.before)+len(e.taken) >= maxParts {
		return nil, misframed("the message has more than %d parts beside the SOAP part", maxParts)
	}
	a := &attachment{id: contentID(p.Get("Content-ID")), name: "application/octet-stream"}
	if a.id == "" {
		return nil, misframed("part %d beside the SOAP part has no Content-ID, by which eb:PartInfo could name it", len(e.before)+len(e.taken)+1)
	}
	if a.id == e.root { // RFC 2392 §2: an id is of one part
		return nil, misframed("a part has the Content-ID of the SOAP part, %.80q", a.id)
	}
	for _, list := range [][]*attachment{e.before, e.taken} {
		for _, other := range list {
			if other.id == a.id {
				return nil, misframed("two parts have the Content-ID %.80q", a.id)
			}
		}
	}
	if t := p.Get("Content-Type"); t != "" {
		m, err := mediaType(t)
		if err != nil {
			return nil, misframed("the Content-Type of part %.80q, %.60q, cannot be read: %v", a.id, t, err)
		}
		a.name = m.Word
	}
	var err error
	a.spooled, err = e.entry.Take(e.spool, of, from, -1, limit, spooledOf(e.taken)...)
	return a, err
}

// close lets the parts go.
func (e *envelopeReader) close() {
	for _, list := range [][]*attachment{e.before, e.taken} {
		for _, a := range list {
			_ = a.spooled.Close() // the file has no name: it is gone, whatever closing says
		}
	}
	e.before, e.taken = nil, nil
}

// contentID takes the brackets off: RFC 2045 §7. QUIRK: some senders leave them out.
func contentID(field string) string {
	id := strings.Trim(field, linearSpace)
	if strings.HasPrefix(id, "<") && strings.HasSuffix(id, ">") {
		id = id[1 : len(id)-1]
	}
	return id
}

// referred finds the part that an href of the form cid:… names: RFC 2392 §2 has the
// id percent-encoded in it.
func referred(parts []*attachment, href string) *attachment {
	text := href[len("cid:"):]
	decoded, err := url.PathUnescape(text) // which leaves + as it is
	for _, a := range parts {
		if err == nil && a.id == decoded {
			return a
		}
	}
	return nil
}

// match gives the parts in the order of PartInfo, each named once: core §5.2.2.12,
// and §5.1.5 for what nothing names.
func match(infos []PartInfo, parts []*attachment) ([]*attachment, error) {
	var list []*attachment
	for _, info := range infos {
		a := referred(parts, info.Href)
		if a == nil {
			return nil, faulty(ExternalPayloadError, "the message has no part with the Content-ID that the href %.80q names", info.Href)
		}
		for i, other := range list {
			if other == a {
				return nil, faulty(ValueInconsistent, "the hrefs %.80q and %.80q name the same part", infos[i].Href, info.Href)
			}
		}
		a.signed = info.MimeType
		if info.CompressionType != "" {
			a.signed = info.CompressionType
		}
		list = append(list, a)
	}
	for _, a := range parts {
		named := false
		for _, b := range list {
			named = named || a == b
		}
		if !named {
			return nil, faulty(ExternalPayloadError, "no eb:PartInfo names the part with the Content-ID %.80q", a.id)
		}
	}
	return list, nil
}
