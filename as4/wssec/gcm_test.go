package wssec

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// lengths are those at which chunks and blocks begin and end.
var lengths = []int{0, 1, 15, 16, 17, 31, 32, 33, 4095, 4096, 32<<10 - 16, 32<<10 - 1, 32 << 10, 32<<10 + 1, 32<<10 + 15, 32<<10 + 16, 32<<10 + 17, 64<<10 + 31, 64<<10 + 32, 64<<10 + 33, 200_001}

func TestGCMIsThatOfTheStandardLibrary(t *testing.T) {
	for _, size := range []int{16, 24, 32} {
		key := bytes.Repeat([]byte{7, 1, 9, 200}, 8)[:size]
		block, err := aes.NewCipher(key)
		if err != nil {
			t.Fatal(err)
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			t.Fatal(err)
		}
		nonce := []byte("twelve bytes")
		for _, n := range lengths {
			plain := make([]byte, n)
			for i := range plain {
				plain[i] = byte(i * i >> 3)
			}
			want := aead.Seal(bytes.Clone(nonce), nonce, plain, nil)
			for name, in := range map[string]io.Reader{"whole": bytes.NewReader(plain), "in halves": iotest.HalfReader(bytes.NewReader(plain)), "with its end": iotest.DataErrReader(bytes.NewReader(plain))} {
				sealed, err := seal(block, nonce, io.NopCloser(in))
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(sealed)
				if err != nil || !bytes.Equal(want, got) {
					t.Errorf("%d bytes %s under a key of %d are sealed otherwise, %v", n, name, size, err)
				}
			}
			got, length, err := verifyGCM(block, iotest.HalfReader(bytes.NewReader(want)))
			if err != nil || length != int64(n) || !bytes.Equal(got[:], nonce) {
				t.Errorf("%d bytes under a key of %d: %v, length %d", n, size, err, length)
			}
			for _, at := range []int{0, 11, 12, len(want) / 2, len(want) - 17, len(want) - 16, len(want) - 1} {
				forged := bytes.Clone(want)
				forged[at] ^= 0x10
				if _, _, err := verifyGCM(block, bytes.NewReader(forged)); err != errTag {
					t.Errorf("%d bytes with byte %d changed: %v", n, at, err)
				}
			}
			if _, _, err := verifyGCM(block, bytes.NewReader(append(want, 0))); err != errTag {
				t.Errorf("%d bytes and one more: %v", n, err)
			}
		}
	}
}

func TestGCMThatIsCut(t *testing.T) {
	block, err := aes.NewCipher(make([]byte, 16))
	if err != nil {
		t.Fatal(err)
	}
	for n := range gcmNonce + gcmTag {
		if _, _, err := verifyGCM(block, bytes.NewReader(make([]byte, n))); err != errShort {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	broken := errors.New("the disk is gone")
	for _, n := range []int{0, 5, 12, 40} {
		if _, _, err := verifyGCM(block, io.MultiReader(bytes.NewReader(make([]byte, n)), iotest.ErrReader(broken))); !errors.Is(err, broken) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
	sealed, err := seal(block, make([]byte, gcmNonce), io.NopCloser(iotest.ErrReader(broken)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(sealed); !errors.Is(err, broken) {
		t.Errorf("sealing what cannot be read: %v", err)
	}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestKeyWrap(t *testing.T) {
	// The vectors of RFC 3394 §4.
	const data = "00112233445566778899AABBCCDDEEFF0001020304050607"
	const kek = "000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F"
	for _, c := range []struct {
		kek, key int
		wrapped  string
	}{
		{16, 16, "1FA68B0A8112B447AEF34BD8FB5A7B829D3E862371D2CFE5"},
		{24, 16, "96778B25AE6CA435F92B5B97C050AED2468AB8A17AD84E5D"},
		{32, 16, "64E8C3F9CE0F5BA263E9777905818A2A93C8191E7D6E8AE7"},
		{24, 24, "031D33264E15D33268F24EC260743EDCE1C6C7DDEE725A936BA814915C6762D2"},
		{32, 24, "A8F9BC1612C68B3FF6E6F4FBE30E71E4769C8B80A32CB8958CD5D17D6B254DA1"},
	} {
		block, err := aes.NewCipher(unhex(t, kek[:2*c.kek]))
		if err != nil {
			t.Fatal(err)
		}
		key, wrapped := unhex(t, data[:2*c.key]), unhex(t, c.wrapped)
		if diff := cmp.Diff(wrapped, wrapKey(block, key)); diff != "" {
			t.Errorf("%d bytes under %d (-want +got):\n%s", c.key, c.kek, diff)
		}
		got, err := unwrapKey(block, wrapped)
		if err != nil || !bytes.Equal(got, key) {
			t.Errorf("%d bytes under %d: %x, %v", c.key, c.kek, got, err)
		}
		for i := range wrapped {
			forged := bytes.Clone(wrapped)
			forged[i] ^= 1
			if key, err := unwrapKey(block, forged); err != errUnwrap || key != nil {
				t.Errorf("byte %d changed: %x, %v", i, key, err)
			}
		}
		for _, n := range []int{0, 8, 16, 23, 25, 80} {
			if _, err := unwrapKey(block, make([]byte, n)); err != errUnwrap {
				t.Errorf("%d bytes: %v", n, err)
			}
		}
	}
}

func TestConcat(t *testing.T) {
	// NIST SP 800-56A §5.8.1 by hand: one round is SHA-256 over the counter, the secret
	// and the other information.
	secret, other := []byte("shared secret"), []byte("other")
	one := sha256.Sum256(append([]byte{0, 0, 0, 1}, "shared secretother"...))
	two := sha256.Sum256(append([]byte{0, 0, 0, 2}, "shared secretother"...))
	if got, want := concat(sha256.New, secret, other, 48), append(one[:], two[:16]...); !bytes.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

func TestCBCPadding(t *testing.T) {
	block, err := aes.NewCipher(make([]byte, 16))
	if err != nil {
		t.Fatal(err)
	}
	iv := []byte("an iv of 16 byte")
	encrypt := func(padded []byte) Part {
		out := bytes.Clone(padded)
		cipher.NewCBCEncrypter(block, iv).CryptBlocks(out, padded)
		return Part{Open: func() (io.ReadCloser, error) {
			return io.NopCloser(iotest.HalfReader(bytes.NewReader(append(bytes.Clone(iv), out...)))), nil
		}}
	}
	for _, n := range append([]int{4<<10 - 17, 4<<10 - 16, 4<<10 - 1, 4 << 10, 4<<10 + 1, 4<<10 + 16}, lengths...) {
		plain := bytes.Repeat([]byte{0x21}, n)
		pad := 16 - n%16
		padded := append(bytes.Clone(plain), bytes.Repeat([]byte{0xee}, pad-1)...) // any bytes, then their number: ISO 10126
		in, err := openCBC(encrypt(append(padded, byte(pad))), block)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(in); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%d bytes come back as %d, %v", n, len(got), err)
		}
	}
	t.Run("a padding that is none is left, and no error tells of it", func(t *testing.T) {
		for _, last := range []byte{0, 17, 255} {
			padded := append(bytes.Repeat([]byte{1}, 31), last)
			in, err := openCBC(encrypt(padded), block)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(in); err != nil || !bytes.Equal(got, padded) {
				t.Errorf("%x, %v", got, err)
			}
		}
	})
}
