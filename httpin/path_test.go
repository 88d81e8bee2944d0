package httpin

import (
	"net/url"
	"testing"
)

func TestUnreservedIsDecoded(t *testing.T) {
	for path, want := range map[string]string{
		"/in/ac%6De": "/in/acme", "/%69n/%61%2d%2E%5f%7E": "/in/a-._~", "/in/a%2Fb%20c%25": "/in/a%2Fb%20c%25", "/in/%256D": "/in/%256D",
		"/in/%c3%a9%6d": "/in/%c3%a9m", "/in/acme": "/in/acme", "/in/%6": "/in/%6", "/in/%zz": "/in/%zz", "%": "%",
	} {
		if got := unreserved(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// What is decoded names the same resource, and is not decoded twice.
func FuzzUnreserved(f *testing.F) {
	for _, seed := range []string{"/in/ac%6De", "/in/%2F%2e%2e", "%25%36%44", "/in/%c3%a9"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		before, err := url.PathUnescape(path)
		if err != nil {
			return
		}
		once := unreserved(path)
		if after, err := url.PathUnescape(once); err != nil || after != before {
			t.Fatalf("%q became %q: %q, %v", path, once, after, err)
		}
		if again := unreserved(once); again != once {
			t.Fatalf("%q became %q, then %q", path, once, again)
		}
	})
}
