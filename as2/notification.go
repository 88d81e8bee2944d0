package as2

import (
	"bytes"
	"errors"
	"strings"

	"github.com/edigw/edigw/entity"
)

// Notification is an MDN that others gave, as far as it could be read.
type Notification struct {
	Original    string // Original-Message-ID as it stands
	Disposition Disposition
	MIC         MIC // none where it tells none
	Reporter    string
	Errors      []string // of its Error, Warning and Failure fields
	Text        string   // for people
}

// errNoNotification is of a report that is no MDN.
var errNoNotification = errors.New("the report has no part message/disposition-notification")

// ParseReport reads the multipart/report of an MDN: RFC 4130 §7.4.2.
//
// QUIRK: parts in any order, a blank line before the fields, fields folded or in
// base64, text before the report.
func ParseReport(report *entity.Entity) (*Notification, error) {
	m, err := report.Multipart()
	if err != nil {
		return nil, err
	}
	n := &Notification{}
	found := false
	for _, p := range m.Parts {
		body, err := p.Decoded()
		if err != nil {
			body = p.Body
		}
		switch t := p.ContentType().Word; {
		case t == "message/disposition-notification" && !found:
			found = true
			fields, err := entity.Parse(bytes.TrimLeft(body, "\r\n \t"))
			if err != nil {
				return nil, err
			}
			if err := n.read(fields); err != nil {
				return nil, err
			}
		case strings.HasPrefix(t, "text/") && n.Text == "":
			n.Text = strings.TrimSpace(string(body[:min(len(body), 4<<10)]))
		}
	}
	if !found {
		return nil, errNoNotification
	}
	return n, nil
}

func (n *Notification) read(fields *entity.Entity) (err error) {
	for _, f := range fields.Fields {
		switch strings.ToLower(f.Name) {
		case "error", "warning", "failure":
			n.Errors = append(n.Errors, f.Value)
		}
	}
	n.Reporter = fields.Get("Reporting-UA")
	n.Original = fields.Get("Original-Message-ID")
	if mic := fields.Get("Received-content-MIC"); mic != "" {
		if n.MIC, err = ParseMIC(mic); err != nil {
			return err
		}
	}
	n.Disposition, err = ParseDisposition(fields.Get("Disposition"))
	return err
}

// Is reports whether an MDN is for the message of an id, brackets or none.
func (n *Notification) Is(id string) bool {
	a, ok := ParseMessageID(n.Original)
	b, known := ParseMessageID(id)
	return ok && known && a.Plain == b.Plain
}
