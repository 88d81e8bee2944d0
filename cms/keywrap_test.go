package cms

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"
)

// The vectors of RFC 3394 §4, with keys of the lengths that CMS has.
func TestAESKeyWrap(t *testing.T) {
	decode := func(text string) []byte {
		b, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	const kek, key = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f"
	for _, c := range []struct {
		name     string
		kek, key int // bytes
		want     string
	}{
		{"4.1", 16, 16, "1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5"},
		{"4.2", 24, 16, "96778b25ae6ca435f92b5b97c050aed2468ab8a17ad84e5d"},
		{"4.3", 32, 16, "64e8c3f9ce0f5ba263e9777905818a2a93c8191e7d6e8ae7"},
		{"4.4", 24, 24, "031d33264e15d33268f24ec260743edce1c6c7ddee725a936ba814915c6762d2"},
		{"4.5", 32, 24, "a8f9bc1612c68b3ff6e6f4fbe30e71e4769c8b80a32cb8958cd5d17d6b254da1"},
		{"4.6", 32, 32, "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21"},
	} {
		t.Run(c.name, func(t *testing.T) {
			kek, key := decode(kek)[:c.kek], decode(key)[:c.key]
			got, err := wrapAES(kek, key)
			if err != nil || hex.EncodeToString(got) != c.want {
				t.Errorf("%x, %v", got, err)
			}
			wrapped := decode(c.want)
			if got, err := unwrapAES(kek, wrapped); err != nil || !bytes.Equal(got, key) {
				t.Errorf("%x, %v", got, err)
			}
			broken(t, unwrapAES, kek, wrapped)
		})
	}
}

// broken changes and cuts a wrapped key: none of that is unwrapped.
func broken(t *testing.T, unwrap func(kek, wrapped []byte) ([]byte, error), kek, wrapped []byte) {
	t.Helper()
	for i := range wrapped {
		changed := bytes.Clone(wrapped)
		changed[i] ^= 0x20
		if got, err := unwrap(kek, changed); !errors.Is(err, errUnwrap) {
			t.Errorf("byte %d changed: %x, %v", i, got, err)
		}
		if got, err := unwrap(kek, wrapped[:i]); !errors.Is(err, errUnwrap) {
			t.Errorf("%d bytes: %x, %v", i, got, err)
		}
	}
	if got, err := unwrap(kek, bytes.Repeat(wrapped, 8)); !errors.Is(err, errUnwrap) {
		t.Errorf("very long: %x, %v", got, err)
	}
}

// The wraps of openssl and Bouncy Castle are read elsewhere; here each length comes
// back, and nothing that was changed does.
func Test3DESKeyWrap(t *testing.T) {
	kek := []byte("three keys of eight each")
	for _, n := range []int{16, 24, 32} {
		key := bytes.Repeat([]byte{byte(n)}, n)
		wrapped, err := wrap3DES(kek, key)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := unwrap3DES(kek, wrapped); err != nil || !bytes.Equal(got, key) {
			t.Errorf("%x, %v", got, err)
		}
		broken(t, unwrap3DES, kek, wrapped)
	}
}
