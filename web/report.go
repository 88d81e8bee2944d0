package web

import (
	"errors"
	"net/http"

	"github.com/google/uuid"

	"github.com/edigw/edigw/documents"
)

// reportDocument notes what the program that reads the documents did with one.
func (c *call) reportDocument() error {
	id, err := c.pathID("document_id")
	if err != nil {
		return err
	}
	var asked struct {
		Is   documents.Reported `json:"is"`
		Note string             `json:"note"`
	}
	if err := c.decode(&asked); err != nil {
		return err
	}
	found, err := c.documentByID(id)
	if err != nil {
		return err
	}
	err = c.api.Report(c.ctx(), c.who, found.Partner, id, documents.Report{Is: asked.Is, By: c.who.Person, Note: asked.Note})
	if errors.Is(err, documents.ErrReport) {
		return &problem{Status: http.StatusConflict, Type: "not-decided", Detail: "nothing was changed: " + err.Error()}
	}
	if err != nil {
		return err
	}
	return c.showDocument()
}

// documentByID finds a document by its id alone: partners are few, and each is
// asked by its key.
func (c *call) documentByID(id uuid.UUID) (*documents.Stored, error) {
	partners, err := c.partners()
	if err != nil {
		return nil, err
	}
	for _, partner := range partners {
		d, err := c.api.Documents.Get(c.ctx(), partner, id)
		switch {
		case err == nil:
			return d, nil
		case !errors.Is(err, documents.ErrNotFound):
			return nil, err
		}
	}
	return nil, &problem{Status: http.StatusNotFound, Type: "not-found", Detail: "there is no document " + id.String()}
}
