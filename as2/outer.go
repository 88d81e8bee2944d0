package as2

import (
	"net/http"

	"github.com/edigw/edigw/entity"
)

// outerEntity is an HTTP message as a MIME entity: the fields that are about the body,
// RFC 4130 §5.2.1. Of a repeated field the first counts.
func outerEntity(h http.Header, body []byte) *entity.Entity {
	e := &entity.Entity{Body: body}
	for _, name := range []string{"Content-Type", "Content-Transfer-Encoding", "Content-Disposition"} {
		if v := h.Get(name); v != "" {
			e.Fields = append(e.Fields, entity.Field{Name: name, Value: v})
		}
	}
	return e
}
