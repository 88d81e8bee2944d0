package wire

import (
	"net/http"
	"strings"
)

// readingFields are the fields of a request that one needs to read its body again, or to
// tell who sent it with what, the most needed first. No credentials are among them.
var readingFields = []string{
	"MIME-Version", "Content-Type", "Content-Transfer-Encoding", "Content-Disposition", "Content-Description", "Content-ID",
	"Message-ID", "AS2-From", "AS2-To", "AS2-Version", "AS2-Product", "EDIINT-Features",
	"Disposition-Notification-To", "Disposition-Notification-Options", "Receipt-Delivery-Option",
	"SOAPAction", "User-Agent", "Date", "From", "Subject", "Content-Length",
}

// maxReadingHeader bounds a ReadingHeader, in bytes.
const maxReadingHeader = 4 << 10

// ReadingHeader gives a request's header as that of a MIME entity (RFC 2045), with the
// empty line behind it: before the body it makes a message that tools for mail and S/MIME
// read. It has the fields about the body and of AS2, each once, and is bounded: a field
// that does not fit is left out.
func ReadingHeader(h http.Header) []byte {
	var b strings.Builder
	for _, name := range readingFields {
		v := h.Get(name)
		if v == "" && name == "MIME-Version" {
			v = "1.0" // what has a Content-Type is read by it: AS2 over HTTP leaves the field out
		}
		if v != "" && b.Len()+len(name)+len(v)+6 <= maxReadingHeader {
			b.WriteString(name + ": " + oneLine.Replace(v) + "\r\n")
		}
	}
	return []byte(b.String() + "\r\n")
}

// oneLine keeps a value from being more than a line.
var oneLine = strings.NewReplacer("\r", " ", "\n", " ", "\x00", " ")
