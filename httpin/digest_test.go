package httpin

import (
	"encoding/base64"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Of {"hello": "world"} and a line feed: RFC 9530, appendix B.
const (
	helloSHA256 = "RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg="
	helloSHA512 = "YMAam51Jz/jOATT6/zvHrLVgOYTGFy1d6GJiOHTohq4yP+pgk4vf2aCsyRZOtw8MjkM7iw7yZ/WkppmM44T3qg=="
)

func TestContentDigest(t *testing.T) {
	for _, c := range []struct {
		name    string
		values  []string
		want    []string // of sha-256 and sha-512, as base64
		refused bool
	}{
		{"none", nil, []string{"", ""}, false},
		{"sha-256", []string{"sha-256=:" + helloSHA256 + ":"}, []string{helloSHA256, ""}, false},
		{"both", []string{"sha-512=:" + helloSHA512 + ":, sha-256=:" + helloSHA256 + ":"}, []string{helloSHA256, helloSHA512}, false},
		{"both on two lines", []string{"sha-512=:" + helloSHA512 + ":", "sha-256=:" + helloSHA256 + ":"}, []string{helloSHA256, helloSHA512}, false},
		{"with parameters", []string{"sha-256=:" + helloSHA256 + ":;a=1"}, []string{helloSHA256, ""}, false},
		{"without padding", []string{"sha-256=:" + helloSHA256[:43] + ":"}, []string{helloSHA256, ""}, false},
		{"insecure ones and unknown ones beside it are ignored", []string{"md5=:Sd/dVLAcvNLSq16eXua5uQ==:, unixsum=:GQU=:, sha-1024=?1, sha-256=:" + helloSHA256 + ":"}, []string{helloSHA256, ""}, false},
		{"in capitals", []string{"SHA-256=:" + helloSHA256 + ":, Sha-512=:" + helloSHA512 + ":"}, []string{helloSHA256, helloSHA512}, false},
		{"with blanks around =", []string{"sha-256 = :" + helloSHA256 + ":"}, []string{helloSHA256, ""}, false},
		{"an empty field", []string{" "}, []string{"", ""}, false},
		{"a string with a comma is no digest", []string{`x="a,sha-256=:b:", sha-256=:` + helloSHA256 + ":"}, []string{helloSHA256, ""}, false},

		{"none that is checked", []string{"md5=:Sd/dVLAcvNLSq16eXua5uQ==:, unixsum=:GQU=:"}, nil, true},
		{"a name in quotes", []string{`"sha-256"=:` + helloSHA256 + ":"}, nil, true},
		{"a name that begins like one", []string{"sha-2567=:" + helloSHA256 + ":"}, nil, true},
		{"one that is odd and one that is not", []string{"sha-512=:x:, sha-256=:" + helloSHA256 + ":"}, nil, true},
		{"without colons", []string{"sha-256=" + helloSHA256}, nil, true},
		{"no base64", []string{"sha-256=:###:"}, nil, true},
		{"too short", []string{"sha-256=:" + helloSHA256[:20] + ":"}, nil, true},
		{"of the other length", []string{"sha-256=:" + helloSHA512 + ":"}, nil, true},
		{"text behind it", []string{"sha-256=:" + helloSHA256 + ":x"}, nil, true},
		{"no value", []string{"sha-512"}, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := wantedDigests(c.values)
			if (err != nil) != c.refused {
				t.Fatalf("got %v", err)
			}
			if err != nil {
				return
			}
			got := []string{base64.StdEncoding.EncodeToString(d.sha256), base64.StdEncoding.EncodeToString(d.sha512)}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzContentDigest(f *testing.F) {
	for _, seed := range []string{"", "sha-256=:" + helloSHA256 + ":", "sha-512=:" + helloSHA512 + ":;q", `a="\",`, "sha-256", ",,", "sha-256=::"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		d, err := wantedDigests([]string{value})
		if err != nil || !d.any() {
			return
		}
		written := ""
		if d.sha256 != nil {
			written = "sha-256=:" + base64.StdEncoding.EncodeToString(d.sha256) + ":,"
		}
		if d.sha512 != nil {
			written += "sha-512=:" + base64.StdEncoding.EncodeToString(d.sha512) + ":"
		}
		again, err := wantedDigests([]string{written})
		if err != nil || !cmp.Equal(d, again, cmp.AllowUnexported(digests{})) {
			t.Fatalf("%q gives %v, written back %v, %v", value, d, again, err)
		}
	})
}
