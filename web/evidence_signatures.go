package web

import (
	"regexp"

	"github.com/google/uuid"
)

// signatures writes what proves who sent each payload: the exhibits that its transport
// kept, whole.
func (e *evidence) signatures() error {
	for _, v := range e.key.Variants {
		if v.NoDigest || v.Payload.ID == uuid.Nil {
			continue
		}
		list, err := e.api.Journal.Evidence(e.ctx(), e.key.Partner, v.Payload.ID, v.Payload.Month)
		if err != nil {
			return err
		}
		for _, x := range list {
			name := "signatures/" + hexOf(v.SHA256) + "/" + plainName.ReplaceAllString(x.Name, "_")
			err := e.file(name, "of the delivery that brought payload "+hexOf(v.SHA256)+", "+x.MediaType, x)
			if isPurged(err) {
				e.gap("%s is kept in part only: its retention has passed", name)
				continue
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// plainName are characters that a file's name in the zip does not have.
var plainName = regexp.MustCompile(`[^A-Za-z0-9._-]`)
