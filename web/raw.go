package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/dedup"
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
	first, err := c.piece(k.Partner, v, 0)
	if err != nil {
		return err
	}
	detail, err := json.Marshal(map[string]any{"payload_sha256": hexOf(v.SHA256), "bytes": v.Length})
	if err != nil {
		return err
	}
	err = c.api.Record(c.ctx(), accounts.Entry{Who: c.who.Person, Role: c.who.Role, Action: "payload.read", Subject: k.ID, Partner: k.Partner, Detail: detail})
	if err != nil {
		return err
	}
	h := c.w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s-%s.edi"`, k.Partner, hexOf(v.SHA256)[:16]))
	h.Set("Content-Length", strconv.FormatInt(v.Length, 10))
	c.w.WriteHeader(http.StatusOK)
	for at := int64(0); ; {
		if _, err := c.w.Write(first); err != nil {
			c.api.Log.DebugContext(c.ctx(), "the client went away during a payload", "err", err)
			return nil
		}
		if at += int64(len(first)); at >= v.Length {
			return nil
		}
		if first, err = c.piece(k.Partner, v, at); err != nil {
			// The status has left: only a broken connection tells that bytes are missing.
			c.api.Log.ErrorContext(c.ctx(), "a payload broke off", "partner", k.Partner, "message_id", k.ID, "at", at, "err", err)
			panic(http.ErrAbortHandler)
		}
	}
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

func (c *call) piece(partner string, v *dedup.Variant, at int64) ([]byte, error) {
	return c.api.Journal.Payload(c.ctx(), partner, v.Payload.ID, v.Payload.Month, v.Offset+at, min(rawPiece, v.Length-at))
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
