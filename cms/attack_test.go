package cms

import (
	"bytes"
	"compress/zlib"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
)

// What follows are messages made to cost more than they are worth, or to break
// what reads them.

func TestDepth(t *testing.T) {
	for _, indefinite := range []bool{false, true} {
		for _, c := range []struct {
			name  string
			first byte
		}{{"sequences", byte(tagSequence) | constructed}, {"OCTET STRINGs", byte(tagOctetString) | constructed}} {
			t.Run(fmt.Sprintf("%s in each other, indefinite %v", c.name, indefinite), func(t *testing.T) {
				inner := element(byte(tagOctetString), []byte("x"))
				for range 2000 {
					inner = berStyle{indefinite: indefinite}.wrap(c.first, inner)
				}
				for _, content := range [][]byte{
					sequence(integer(1), inner),
					sequence(integer(1), setOf(), sequence(element(byte(tagOID), oidData), explicit(0, inner))),
				} {
					_, err := ParseSigned(sequence(element(byte(tagOID), oidSigned), explicit(0, content)), Limits{})
					if !errors.Is(err, ErrLimit) && !errors.Is(err, ErrMalformed) {
						t.Error(err)
					}
				}
				if _, err := derOf(inner); !errors.Is(err, ErrLimit) {
					t.Error(err)
				}
			})
		}
	}
	t.Run("the limit is the caller's", func(t *testing.T) {
		one := forms(t)[0]
		if _, err := ParseSigned(one.der, Limits{Depth: 3}); !errors.Is(err, ErrLimit) {
			t.Error(err)
		}
	})
}

func TestLengths(t *testing.T) {
	for _, text := range []string{
		"", "\x30", "\x30\x80", "\x30\x81", "\x30\x82\x01", "\x30\x84\xff\xff\xff\xff", "\x30\x88\xff\xff\xff\xff\xff\xff\xff\xff",
		"\x30\x88\x7f\xff\xff\xff\xff\xff\xff\xff", "\x30\x89\x01\x00\x00\x00\x00\x00\x00\x00\x00", "\x30\xff", "\x30\x03\x02\x02\x01",
		"\x04\x80\x00\x00", "\x3f\xff\xff\xff\xff\xff\x7f\x00", "\x3f\x1f", "\x3f", "\x30\x05\x06\x80\x00\x00\x00", "\x30\x02\x00\x00",
		"\x30\xfe" + strings.Repeat("\x00", 126),
	} {
		for _, read := range []func([]byte) error{
			func(b []byte) error { _, err := ParseSigned(b, Limits{}); return err },
			func(b []byte) error { _, err := ParseEnveloped(b, Limits{}); return err },
			func(b []byte) error { _, err := ParseCompressed(b, Limits{}); return err },
			func(b []byte) error { _, err := ParseCertificate(b); return err },
		} {
			if err := read([]byte(text)); !errors.Is(err, ErrMalformed) {
				t.Errorf("% x: %v", text, err)
			}
		}
		if k := KindOf([]byte(text)); k != "" {
			t.Errorf("% x is %s", text, k)
		}
	}
	t.Run("a length is written and read at every border", func(t *testing.T) {
		for _, n := range []int{0, 1, 0x7f, 0x80, 0xff, 0x100, 0xffff, 0x10000, 0xffffff, 0x1000000} {
			text := element(byte(tagOctetString), make([]byte, n))
			if len(text) != headerSize(n)+n {
				t.Errorf("%d: a header of %d bytes, said %d", n, len(text)-n, headerSize(n))
			}
			r := newReader(text, 1)
			if got, err := r.primitive(tagOctetString); err != nil || len(got) != n || r.finish() != nil {
				t.Errorf("%d: %d, %v", n, len(got), err)
			}
		}
		if got := headerSize(math.MaxInt); got != 10 {
			t.Errorf("the longest header has %d bytes", got)
		}
	})
}

// allocated gives how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestNothingGrowsWithPieces(t *testing.T) {
	content := bytes.Repeat([]byte("x"), 1<<18)
	der, err := Signature{Key: newP256(t), Certificate: testKey(t, "p256").Certificate}.SignAttached(content)
	if err != nil {
		t.Fatal(err)
	}
	ber := berStyle{indefinite: true, piece: 1}.write(t, der)
	n := 0
	got := allocated(func() {
		s, err := ParseSigned(ber, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for piece := range s.Content.Pieces() {
			n += len(piece)
		}
	})
	if n != len(content) {
		t.Errorf("%d bytes of %d", n, len(content))
	}
	if got > 64<<10 {
		t.Errorf("%d bytes allocated for %d pieces", got, len(content))
	}
}

func TestDecryptingStaysInPlace(t *testing.T) {
	k := testKey(t, "p256")
	for _, c := range []Encryption{AES256CBC, AES256GCM, AES256CCM} {
		for _, s := range berStyles[:3] {
			der, err := Envelope{Recipients: []*Certificate{k.Certificate}, Encryption: c}.Encrypt(make([]byte, 1<<20))
			if err != nil {
				t.Fatal(err)
			}
			ber := s.write(t, der)
			got := allocated(func() {
				e, err := ParseEnveloped(ber, Limits{})
				if err != nil {
					t.Fatal(err)
				}
				if d, err := e.Decrypt([]Key{k}); err != nil || len(d.Content) != 1<<20 {
					t.Fatal(Detail(err))
				}
			})
			if got > 256<<10 {
				t.Errorf("%s in %s: %d bytes allocated for a message of a mebibyte", c, s.name, got)
			}
		}
	}
}

func TestDecompressedContentStandsInMemoryOnce(t *testing.T) {
	content := make([]byte, 8<<20)
	rand.Read(content)
	for i := range content {
		content[i] &= 0x0f // packs to half
	}
	der, err := Compress(content)
	if err != nil {
		t.Fatal(err)
	}
	c, err := ParseCompressed(der, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	got := allocated(func() {
		if out, err := c.Decompress(64 << 20); err != nil || !bytes.Equal(out, content) {
			t.Error(len(out), err)
		}
	})
	if got > 9<<20 {
		t.Errorf("%d bytes allocated for %d", got, len(content))
	}
	got = allocated(func() {
		if _, err := c.Decompress(4 << 20); !errors.Is(err, ErrLimit) {
			t.Error(err)
		}
	})
	if got > 1<<20 {
		t.Errorf("%d bytes allocated for what is too long", got)
	}
}

func TestCounts(t *testing.T) {
	k := testKey(t, "p256")
	many := func(n int, one []byte) [][]byte {
		list := make([][]byte, n)
		for i := range list {
			list[i] = one
		}
		return list
	}
	s, err := Signature{Key: newP256(t), Certificate: k.Certificate, NoCertificates: true}.Sign(InMemory(interchange))
	if err != nil {
		t.Fatal(err)
	}
	var info []byte
	if err := open(s, Limits{}, "", func(r *reader) error {
		for range 3 { // version, digest algorithms, content
			if _, err := r.skip(); err != nil {
				return err
			}
		}
		if err := r.enter(tagSet); err != nil {
			return err
		}
		info, err = r.skip()
		return errors.Join(err, r.leave())
	}, oidSigned); err != nil {
		t.Fatal(err)
	}
	signed := func(certificates, signers int) []byte {
		return contentInfo(oidSigned, integer(1), setOf(), sequence(element(byte(tagOID), oidData)),
			explicit(0, many(certificates, k.Certificate.Raw)...), setOf(many(signers, info)...))
	}
	for _, c := range []struct {
		certificates, signers int
		l                     Limits
		want                  error
	}{
		{1, 1, Limits{}, nil}, {64, 8, Limits{}, nil}, {65, 1, Limits{}, ErrLimit}, {1, 9, Limits{}, ErrLimit},
		{3, 1, Limits{Certificates: 2}, ErrLimit}, {1, 2, Limits{Signers: 1}, ErrLimit}, {100, 20, Limits{Certificates: 100, Signers: 20}, nil},
	} {
		if _, err := ParseSigned(signed(c.certificates, c.signers), c.l); !errors.Is(err, c.want) {
			t.Errorf("%d certificates, %d signers: %v", c.certificates, c.signers, err)
		}
	}
	for _, c := range []struct {
		recipients int
		l          Limits
		want       error
	}{{64, Limits{}, nil}, {65, Limits{}, ErrLimit}, {3, Limits{Recipients: 2}, ErrLimit}} {
		for _, to := range []*Certificate{k.Certificate, testKey(t, "rsa").Certificate} {
			e := Envelope{}
			for range c.recipients {
				e.Recipients = append(e.Recipients, to)
			}
			der, err := e.Encrypt(interchange)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ParseEnveloped(der, c.l); !errors.Is(err, c.want) {
				t.Errorf("%d recipients: %v", c.recipients, err)
			}
		}
	}
}

func TestBombs(t *testing.T) {
	compressed := func(fill func(w *zlib.Writer)) []byte {
		var packed bytes.Buffer
		w := zlib.NewWriter(&packed)
		fill(w)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return contentInfo(oidCompressed, integer(0), sequence(element(byte(tagOID), oidZlib)),
			sequence(element(byte(tagOID), oidData), explicit(0, element(byte(tagOctetString), packed.Bytes()))))
	}
	zeros := make([]byte, 1<<20)
	bomb := compressed(func(w *zlib.Writer) {
		for range 64 {
			if _, err := w.Write(zeros); err != nil {
				t.Fatal(err)
			}
		}
	})
	c, err := ParseCompressed(bomb, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("more than max is an error, and costs no more than max", func(t *testing.T) {
		got := allocated(func() {
			if _, err := c.Decompress(1 << 20); !errors.Is(err, ErrLimit) {
				t.Error(err)
			}
		})
		if got > 8<<20 {
			t.Errorf("%d bytes allocated", got)
		}
	})
	t.Run("exactly max is none", func(t *testing.T) {
		if content, err := c.Decompress(64 << 20); err != nil || len(content) != 64<<20 {
			t.Error(len(content), err)
		}
		if _, err := c.Decompress(64<<20 - 1); !errors.Is(err, ErrLimit) {
			t.Error(err)
		}
		if content, err := c.Decompress(math.MaxInt64); err != nil || len(content) != 64<<20 {
			t.Error(len(content), err)
		}
	})
	t.Run("nothing", func(t *testing.T) {
		c, err := ParseCompressed(compressed(func(*zlib.Writer) {}), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if content, err := c.Decompress(0); err != nil || len(content) != 0 {
			t.Error(content, err)
		}
	})
	for name, text := range map[string]string{"no zlib": "UNB+UNOC:3", "an end that is missing": "\x78\x9c\x03\x00\x00", "empty": ""} {
		t.Run(name, func(t *testing.T) {
			c, err := ParseCompressed(contentInfo(oidCompressed, integer(0), sequence(element(byte(tagOID), oidZlib)),
				sequence(element(byte(tagOID), oidData), explicit(0, element(byte(tagOctetString), []byte(text))))), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Decompress(100); !errors.Is(err, ErrDecompress) {
				t.Error(err)
			}
		})
	}
}
