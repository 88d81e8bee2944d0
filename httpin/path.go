package httpin

import (
	"net/http"
	"strings"
)

// decodeUnreserved undoes the percent-encoding of characters that need none before
// a path is routed: /in/ac%6De is the same resource as /in/acme (RFC 3986 §2.3,
// §6.2.2.2), and some clients encode whatever they are given. Everything else stays
// encoded: a %2F is part of a name, and no partner's name has one.
func decodeUnreserved(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawPath != "" {
			u := *r.URL
			if u.RawPath = unreserved(u.RawPath); u.RawPath == u.Path {
				u.RawPath = "" // as net/url has it where nothing is encoded
			}
			again := *r
			again.URL = &u
			r = &again
		}
		next.ServeHTTP(w, r)
	})
}

// unreserved decodes the triplets of RFC 3986 §2.3 in a path.
func unreserved(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '%' && i+2 < len(path) {
			if c, ok := octet(path[i+1], path[i+2]); ok && needsNone(c) {
				b.WriteByte(c)
				i += 2
				continue
			}
		}
		b.WriteByte(path[i])
	}
	return b.String()
}

func needsNone(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

func octet(high, low byte) (byte, bool) {
	const digits = "0123456789abcdef"
	h, l := strings.IndexByte(digits, high|0x20), strings.IndexByte(digits, low|0x20)
	return byte(h<<4 | l), h >= 0 && l >= 0
}
