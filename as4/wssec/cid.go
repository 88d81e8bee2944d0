package wssec

import (
	"net/url"
	"strings"
)

// CID gives the URL of a part: RFC 2392. All that is not plainly itself in a URL is
// escaped, the plus sign too, which WSS4J takes for a space.
func CID(contentID string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	b.WriteString("cid:")
	for _, c := range []byte(contentID) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~@$!*'(),=", c) >= 0:
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

// ContentID gives the Content-ID that a cid: URL names, without angle brackets;
// false if it is no such URL. A plus sign is itself: RFC 3986 §2.1.
func ContentID(uri string) (string, bool) {
	if len(uri) < 4 || !strings.EqualFold(uri[:4], "cid:") {
		return "", false
	}
	id, err := url.PathUnescape(uri[4:])
	return id, err == nil && id != ""
}
