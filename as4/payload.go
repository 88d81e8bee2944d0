package as4

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/wire"
)

// content is what a message carries: its parts decompressed, one after another in
// the order of PartInfo.
type content struct {
	payload  *edi.Payload
	ends     []int64 // of every part but the last
	sha256   [32]byte
	evidence []gateway.Exhibit
	owned    []*gateway.Spooled // beside the parts as they came
}

func (c *content) close() {
	for _, s := range c.owned {
		_ = s.Close() // the file has no name: it is gone, whatever closing says
	}
	c.owned = nil
}

// unpack decompresses the parts and frames their digests: design §4. A single part
// that came as it is read, and was signed so, is not copied.
func (h *Handler) unpack(p *partners.Partner, u *UserMessage, attachments []*attachment, parts []wssec.Part, soap []byte) (*content, error) {
	c := &content{evidence: []gateway.Exhibit{{Name: "envelope.xml", MediaType: soapType, Body: edi.Bytes(soap)}}}
	limits := h.Limits.withDefaults()
	var sums [][32]byte
	if len(parts) == 1 && u.Parts[0].CompressionType == "" && !parts[0].Encrypted && !parts[0].Canonical {
		taken := attachments[0].spooled
		c.payload, sums = taken.Payload, [][32]byte{taken.SHA256}
	} else {
		r := &joined{infos: u.Parts, parts: parts, limits: limits}
		defer r.close()
		taken, err := h.Spool.Take(p, r, -1, limits.MaxBody, spooledOf(attachments)...)
		if err != nil {
			return c, limits.spoolFault(err)
		}
		c.owned = append(c.owned, taken)
		c.payload, sums = taken.Payload, r.sums
		if n := len(r.ends); n > 0 {
			c.ends = r.ends[:n-1]
		}
	}
	c.sha256 = dedup.PartsDigest(sums, u.Collaboration.Service, u.Collaboration.Action, u.From.ID, u.To.ID)
	return c, h.prove(p, c, u, attachments, parts)
}

// spooledOf are what holds the attachments.
func spooledOf(list []*attachment) (held []*gateway.Spooled) {
	for _, a := range list {
		held = append(held, a.spooled)
	}
	return held
}

// prove keeps what the signature covers, so that it can be verified again: a part
// as it was signed. gzip's output is no function of its input, so that a compressed
// part is kept as it came; any other is a stretch of the payload.
func (h *Handler) prove(p *partners.Partner, c *content, u *UserMessage, attachments []*attachment, parts []wssec.Part) error {
	from := int64(0)
	for i := range parts {
		end := c.payload.Size()
		if i < len(c.ends) {
			end = c.ends[i]
		}
		x := gateway.Exhibit{Name: fmt.Sprintf("part-%d", i+1), MediaType: parts[i].MimeType}
		switch {
		case u.Parts[i].CompressionType == "":
			x.Body, x.Stretches = edi.Bytes(nil), []journal.Stretch{{Offset: from, Length: end - from}}
		case !parts[i].Encrypted:
			x.Body = attachments[i].spooled.Payload
		default:
			opened, err := parts[i].Open()
			if err != nil {
				return err
			}
			taken, err := h.Spool.Take(p, opened, -1, h.Limits.withDefaults().MaxBody, append(spooledOf(attachments), c.owned...)...)
			if err = errors.Join(err, opened.Close()); err != nil {
				return h.Limits.withDefaults().spoolFault(err)
			}
			c.owned = append(c.owned, taken)
			x.Body = taken.Payload
		}
		c.evidence = append(c.evidence, x)
		from = end
	}
	return nil
}

// joined reads the parts one after another, decompressed, with the digest of each.
type joined struct {
	infos  []PartInfo
	parts  []wssec.Part
	limits Limits

	at   io.Reader
	from io.Closer
	sum  hash.Hash
	read int64
	sums [][32]byte
	ends []int64
}

func (j *joined) close() {
	if j.from != nil {
		_ = j.from.Close() // it was only read
		j.from = nil
	}
}

// Read implements io.Reader.
func (j *joined) Read(b []byte) (int, error) {
	for {
		if j.at == nil {
			if len(j.sums) == len(j.parts) {
				return 0, io.EOF
			}
			if err := j.open(); err != nil {
				return 0, err
			}
		}
		n, err := j.at.Read(b)
		j.sum.Write(b[:n])
		j.read += int64(n)
		if err == io.EOF {
			j.sums = append(j.sums, [32]byte(j.sum.Sum(nil)))
			j.ends = append(j.ends, j.read)
			j.close()
			j.at, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

func (j *joined) open() error {
	i := len(j.sums)
	opened, err := j.parts[i].Open()
	if err != nil {
		return fmt.Errorf("open part %s: %w", j.parts[i].ContentID, err)
	}
	j.from, j.at, j.sum = opened, opened, sha256.New()
	if j.infos[i].CompressionType != "" {
		j.at = unzip{&wire.Unzip{From: opened, Ratio: j.limits.MaxRatio}, j.parts[i].ContentID}
	}
	return nil
}

// unzip tells what is wrong with a part that is compressed: AS4 profile §3.2.
type unzip struct {
	*wire.Unzip
	id string
}

// Read implements io.Reader.
func (u unzip) Read(b []byte) (int, error) {
	n, err := u.Unzip.Read(b)
	switch {
	case errors.Is(err, wire.ErrRatio):
		err = &Error{Code: DecompressionFailure, Reason: "compression-ratio", Detail: fmt.Sprintf("the part %.80q decompresses to more than %d times its size; send it uncompressed", u.id, u.Ratio)}
	case errors.Is(err, wire.ErrNotGzip):
		err = &Error{Code: DecompressionFailure, Detail: fmt.Sprintf("the part %.80q is not gzip that can be decompressed, as its CompressionType says", u.id), Cause: err}
	}
	return n, err
}
