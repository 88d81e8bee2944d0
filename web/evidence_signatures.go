package web

import (
	"fmt"
	"path"
	"regexp"
	"strings"

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

// signedReadme tells how that is verified of what is there, and nothing of what is not.
func signedReadme(files []evidenceFile) string {
	var as2, as4 strings.Builder
	for _, f := range files {
		folder, name := path.Split(f.Name)
		form := ""
		switch {
		case !strings.HasPrefix(folder, "signatures/"):
			continue
		case name == "signed-entity.eml": // -binary alone would take the carriage returns out
			form = "-binary -crlfeol -inform SMIME -in "
		case name == "signed-data.p7m":
			form = "-binary -inform DER -in "
		case name == "signature.p7s":
			form = "-binary -inform DER -content " + folder + "signed-content -in "
		case name == "envelope.xml":
			fmt.Fprintf(&as4, "\n  AS4: %s is the SOAP envelope with its signature, and the parts that the\n  signature refers to by cid: stand beside it.\n", f.Name)
			continue
		default:
			continue
		}
		fmt.Fprintf(&as2, "    openssl cms -verify %s%s -certfile %scertificate.pem -nointern -noverify -out content\n", form, f.Name, folder)
	}
	if as2.Len() > 0 {
		return `
  AS2: signed-entity.eml is a MIME entity. In its place may stand signed-data.p7m, a
  SignedData with its content, or signature.p7s, one of signed-content. -noverify leaves out who issued the certificate, since
  partners agree on certificates by themselves; -binary -crlfeol leaves line ends as they
  are.

` + as2.String() + as4.String()
	}
	return as4.String()
}
