package as2

import (
	"crypto"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
)

// digestNames are the names of digest algorithms in micalg and
// Received-content-MIC: RFC 5751 §3.4.3.2, RFC 4130 §7.3. The first of each is the
// one we write.
//
// QUIRK: everybody spells them differently, and some compare the spelling.
var digestNames = []struct {
	hash  crypto.Hash
	names []string
}{
	{crypto.SHA256, []string{"sha-256", "sha256", "sha2_256", "sha2-256", "rsa-sha256"}},
	{crypto.SHA384, []string{"sha-384", "sha384", "sha2_384", "sha2-384", "rsa-sha384"}},
	{crypto.SHA512, []string{"sha-512", "sha512", "sha2_512", "sha2-512", "rsa-sha512"}},
	{crypto.SHA1, []string{"sha1", "sha-1", "sha", "rsa-sha1"}},
	{crypto.SHA224, []string{"sha-224", "sha224", "sha2_224", "sha2-224", "rsa-sha224"}},
	{crypto.MD5, []string{"md5", "rsa-md5"}},
	{crypto.SHA512_224, []string{"sha-512/224", "sha512-224"}},
	{crypto.SHA512_256, []string{"sha-512/256", "sha512-256"}},
	{crypto.SHA3_224, []string{"sha3-224"}},
	{crypto.SHA3_256, []string{"sha3-256"}},
	{crypto.SHA3_384, []string{"sha3-384"}},
	{crypto.SHA3_512, []string{"sha3-512"}},
}

// digestNamed gives the algorithm of a name, 0 for one that is not known.
func digestNamed(name string) crypto.Hash {
	name = strings.ToLower(strings.Trim(name, " \t\""))
	for _, d := range digestNames {
		for _, n := range d.names {
			if n == name {
				return d.hash
			}
		}
	}
	return 0
}

// digestName gives an algorithm's name as we write it.
func digestName(h crypto.Hash) string {
	for _, d := range digestNames {
		if d.hash == h {
			return d.names[0]
		}
	}
	return ""
}

// MIC is a message integrity check (RFC 4130 §7.3.1): the digest of what was
// received, and its algorithm as the sender spells it.
type MIC struct {
	Digest    []byte
	Algorithm string
}

// String is the value of Received-content-MIC: RFC 4130 §7.4.3.
func (m MIC) String() string {
	if m.Digest == nil {
		return ""
	}
	return base64.StdEncoding.EncodeToString(m.Digest) + ", " + m.Algorithm
}

// Equal reports whether two are of the same content: digests are compared as bytes,
// and algorithms by what they are.
func (m MIC) Equal(o MIC) bool {
	return m.Digest != nil && string(m.Digest) == string(o.Digest) && digestNamed(m.Algorithm) == digestNamed(o.Algorithm)
}

// ParseMIC reads Received-content-MIC as it comes.
//
// QUIRK: the comma without a blank, the value folded or in pieces, the algorithm in
// any spelling.
func ParseMIC(value string) (MIC, error) {
	text, algorithm, _ := strings.Cut(value, ",")
	text = strings.TrimRight(strings.Join(strings.Fields(text), ""), "=")
	digest, err := base64.RawStdEncoding.DecodeString(text)
	algorithm, _, _ = strings.Cut(strings.TrimSpace(algorithm), ",")
	switch {
	case err != nil || len(digest) == 0:
		return MIC{}, fmt.Errorf("%.80q is no base64 and algorithm", value)
	case algorithm == "": // RFC 2298 had none: SHA-1
		algorithm = "sha1"
	}
	return MIC{digest, strings.TrimSpace(algorithm)}, nil
}

// micOver computes one.
func micOver(h crypto.Hash, name string, content func(io.Writer) error) (MIC, error) {
	sum := h.New()
	if err := content(sum); err != nil {
		return MIC{}, err
	}
	return MIC{sum.Sum(nil), name}, nil
}
