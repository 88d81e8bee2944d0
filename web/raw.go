package web

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/journal"
)

// rawPiece is what of a payload is in memory at a time, in bytes.
const rawPiece = 4 << 20

// rawMessage sends an interchange as it came. It is a stranger's text: an
// attachment of no type that a browser would show, and looking at it is audited
// before the first byte leaves.
func (c *call) rawMessage() error {
	k, err := c.key()
	if err != nil {
		return err
	}
	v, err := chosen(k, c.digest)
	if err != nil {
		return err
	}
	return c.attach(k.ID, storedAs(k.Partner, v), ".edi")
}

// rawDelivery sends what failed verification, as it came.
func (c *call) rawDelivery() error {
	partner, err := c.path("partner")
	if err != nil {
		return err
	}
	id, err := c.pathID("delivery_id")
	if err != nil {
		return err
	}
	d, err := c.api.Journal.Refused(c.ctx(), partner, id)
	switch {
	case err != nil:
		return err
	case d == nil:
		return &problem{Status: http.StatusNotFound, Type: "not-found", Detail: fmt.Sprintf("%s has no delivery %s that failed verification", partner, id)}
	case d.Payload == nil:
		return &problem{Status: http.StatusNotFound, Type: "not-found", Detail: "its bytes are not kept: it was too large, or the partner's quarantine of that day was full"}
	}
	body := stored{partner, *d.Payload, *d.PayloadIn, 0, d.Bytes, d.SHA256}
	if c.text["with"] == "header" {
		return c.attachRequest("delivery:"+id.String(), body)
	}
	return c.attach("delivery:"+id.String(), body, ".bin")
}

// attachRequest sends the body of a request behind the header that it came with: a MIME
// message, which is verified and decrypted as it stands. Only small ones are kept.
func (c *call) attachRequest(subject string, p stored) error {
	list, err := c.api.Journal.Evidence(c.ctx(), p.partner, p.id, p.month)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(x journal.ExhibitReader) bool { return x.Name == gateway.RequestExhibit })
	if i < 0 {
		return &problem{Status: http.StatusNotFound, Type: "not-found", Detail: "its header was not kept; ask for the body without it"}
	}
	text, err := io.ReadAll(list[i])
	if err != nil {
		return err
	}
	digest, err := c.recordRead(subject, p)
	if err != nil {
		return err
	}
	c.attachment(p, digest, ".eml", int64(len(text)))
	if _, err := c.w.Write(text); err != nil {
		c.api.Log.DebugContext(c.ctx(), "the client went away during a payload", "err", err)
	}
	return nil
}

// stored is a stretch of a stored payload.
type stored struct {
	partner        string
	id             uuid.UUID
	month          time.Time
	offset, length int64
	sha256         []byte
}

// storedAs is where a variant's bytes are.
func storedAs(partner string, v *dedup.Variant) stored {
	return stored{partner, v.Payload.ID, v.Payload.Month, v.Offset, v.Length, v.SHA256[:]}
}

func (c *call) piece(p stored, at int64) ([]byte, error) {
	return c.api.Journal.Payload(c.ctx(), p.partner, p.id, p.month, p.offset+at, min(rawPiece, p.length-at))
}

// attach sends bytes of a partner's, once the audit log has it that they are read.
func (c *call) attach(subject string, p stored, ending string) error {
	first, err := c.piece(p, 0)
	if err != nil {
		return err
	}
	digest, err := c.recordRead(subject, p)
	if err != nil {
		return err
	}
	c.attachment(p, digest, ending, p.length)
	for at := int64(0); ; {
		if _, err := c.w.Write(first); err != nil {
			c.api.Log.DebugContext(c.ctx(), "the client went away during a payload", "err", err)
			return nil
		}
		if at += int64(len(first)); at >= p.length {
			return nil
		}
		if first, err = c.piece(p, at); err != nil {
			// The status has left: only a broken connection tells that bytes are missing.
			c.api.Log.ErrorContext(c.ctx(), "a payload broke off", "partner", p.partner, "subject", subject, "at", at, "err", err)
			panic(http.ErrAbortHandler)
		}
	}
}

// recordRead has the audit log tell that bytes of a partner's are read, and gives their
// digest.
func (c *call) recordRead(subject string, p stored) (digest string, err error) {
	digest = hex.EncodeToString(p.sha256)
	detail, err := json.Marshal(map[string]any{"payload_sha256": digest, "bytes": p.length})
	if err != nil {
		return "", err
	}
	return digest, c.api.Record(c.ctx(), accounts.Entry{Who: c.who.Person, Role: c.who.Role, Action: "payload.read", Subject: subject, Partner: p.partner, Detail: detail})
}

// attachment begins the answer with bytes of a partner's.
func (c *call) attachment(p stored, digest, ending string, length int64) {
	h := c.w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s-%s%s"`, p.partner, digest[:16], ending))
	h.Set("Content-Length", strconv.FormatInt(length, 10))
	c.w.WriteHeader(http.StatusOK)
}

// chosen gives the variant asked for, the current one if none is.
func chosen(k *dedup.Key, digest []byte) (*dedup.Variant, error) {
	v := k.Current()
	if digest != nil {
		v = k.Find([32]byte(digest))
	}
	if v == nil || v.NoDigest {
		return nil, &problem{Status: http.StatusNotFound, Type: "not-found", Detail: fmt.Sprintf("%s never had a payload with that digest", k.ID)}
	}
	if v.Payload.ID == uuid.Nil {
		return nil, &problem{Status: http.StatusNotFound, Type: "not-found", Detail: "no payload is stored under this key; ask for the interchanges that it carried"}
	}
	return v, nil
}

// payload gives a variant's bytes, nil where they are no longer kept or too
// many to be compared.
func (c *call) payload(partner string, v *dedup.Variant) ([]byte, error) {
	if v == nil || v.Payload.ID == uuid.Nil || v.Length > maxCompared {
		return nil, nil
	}
	b, err := c.api.Journal.Payload(c.ctx(), partner, v.Payload.ID, v.Payload.Month, v.Offset, v.Length)
	if isPurged(err) {
		return nil, nil
	}
	return b, err
}
