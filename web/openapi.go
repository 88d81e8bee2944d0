package web

import (
	_ "embed"
	"sync"

	"github.com/goccy/go-yaml"
)

//go:embed openapi.yaml
var openAPIText []byte

// openAPIDocument is openapi.yaml as JSON.
var openAPIDocument = sync.OnceValues(func() ([]byte, error) { return yaml.YAMLToJSON(openAPIText) })

func (c *call) openAPI() error {
	b, err := openAPIDocument()
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Type", "application/json")
	if _, err := c.w.Write(b); err != nil {
		c.api.Log.DebugContext(c.ctx(), "the client went away during the answer", "err", err)
	}
	return nil
}
