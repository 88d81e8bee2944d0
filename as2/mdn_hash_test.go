package as2

import (
	"crypto"
	"testing"

	"github.com/edigw/edigw/partners"
)

func TestWhatMDNsAreSignedBy(t *testing.T) {
	for _, c := range []struct {
		name, setting string
		old           []string
		asked         []string
		want          crypto.Hash
	}{
		{"the first that is asked for", partners.AS2Requested, nil, []string{"sha-512", "sha-256"}, crypto.SHA512},
		{"in the sender's spelling", partners.AS2Requested, nil, []string{"SHA384"}, crypto.SHA384},
		{"nothing older than SHA-256 while that is asked for too", partners.AS2Requested, []string{"sha1"}, []string{"sha1", "sha256"}, crypto.SHA256},
		{"SHA-1 where it alone is asked for, by who may use it", partners.AS2Requested, []string{"sha1"}, []string{"sha1"}, crypto.SHA1},
		{"and not by who may not", partners.AS2Requested, nil, []string{"sha1"}, crypto.SHA256},
		{"nothing is asked for", partners.AS2Requested, []string{"sha1"}, nil, crypto.SHA256},
		{"the setting wins", "sha384", nil, []string{"sha512"}, crypto.SHA384},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &opened{partner: &partners.Partner{AS2: partners.AS2{MDNDigest: c.setting, OldAlgorithms: c.old}}, wanted: Wanted{MICs: c.asked}}
			if got := o.mdnHash(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
