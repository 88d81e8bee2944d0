package keys_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/sha1"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"log/slog"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/partners/keys"
)

// authority issues certificates for keys of ours.
type authority struct {
	key    crypto.Signer
	cert   *x509.Certificate
	serial int64
}

func newAuthority(t *testing.T, s *keys.Store) *authority {
	t.Helper()
	k := create(t, s, "authority", "ec-p256", keys.EvidenceSign)
	signer, err := ring(t, s).Signer("north", keys.EvidenceSign, s.Now())
	if err != nil {
		t.Fatal(err)
	}
	return &authority{signer.Signer, &x509.Certificate{RawSubject: k.Certificates[0].Leaf().RawSubject, Subject: pkix.Name{CommonName: "authority"}}, 0}
}

// issue makes a certificate for a key, as change wants it.
func (a *authority) issue(t *testing.T, k *keys.Key, from, until time.Time, change func(c *x509.Certificate)) []*x509.Certificate {
	t.Helper()
	a.serial++
	c := &x509.Certificate{SerialNumber: big.NewInt(a.serial), Subject: pkix.Name{CommonName: "issued"}, NotBefore: from, NotAfter: until}
	if change != nil {
		change(c)
	}
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, k.Certificates[0].Leaf().PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return []*x509.Certificate{cert}
}

func certify(t *testing.T, s *keys.Store, label string, chain []*x509.Certificate, from time.Time) error {
	t.Helper()
	return inTx(t, s, func(tx pgx.Tx) error {
		_, err := s.CertifyTx(t.Context(), tx, keys.Certification{Organisation: "north", Label: label, Chain: chain, UseFrom: from, By: "anna"})
		return err
	})
}

func TestCertify(t *testing.T) {
	s, clock := newStore(t)
	made := create(t, s, "2026", "rsa-2048", keys.AS2Sign, keys.AS2Decrypt)
	a := newAuthority(t, s)
	start := clock.Time
	shown := func(at time.Time) *x509.Certificate {
		t.Helper()
		k, err := ring(t, s).Signer("north", keys.AS2Sign, at)
		if err != nil {
			t.Fatal(err)
		}
		return k.Chain[0]
	}
	own := made.Certificates[0].Leaf()
	clock.Time = start.Add(time.Millisecond)
	now := a.issue(t, made, start, start.Add(90*day), nil)
	later := a.issue(t, made, start.Add(20*day), start.Add(400*day), nil)
	if err := certify(t, s, "2026", now, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if err := certify(t, s, "2026", later, time.Time{}); err != nil {
		t.Fatal(err)
	}
	t.Run("one that holds is shown at once, one that does not yet when it begins", func(t *testing.T) {
		for at, want := range map[time.Duration]*x509.Certificate{time.Second: now[0], 20*day - time.Second: now[0], 20 * day: later[0], 399 * day: later[0]} {
			if got := shown(start.Add(at)); !got.Equal(want) {
				t.Errorf("after %s: %s", at, got.SerialNumber)
			}
		}
	})
	t.Run("what was encrypted to any it ever had is opened", func(t *testing.T) {
		r := ring(t, s)
		for _, c := range []*x509.Certificate{own, now[0], later[0]} {
			k, err := r.Opener("north", keys.AS2Decrypt, keys.Recipient{Issuer: c.RawIssuer, Serial: c.SerialNumber}, start.Add(500*day))
			if err != nil || !k.Named.Equal(c) {
				t.Errorf("%s: %v", c.Subject, err)
			}
		}
	})
	t.Run("of several from the same instant on the one that was given last is shown", func(t *testing.T) {
		made := create(t, s, "at once", "ec-p256", keys.AS4Sign)
		for range 6 {
			chain := a.issue(t, made, start.Add(-day), start.Add(90*day), nil)
			if err := certify(t, s, "at once", chain, time.Time{}); err != nil {
				t.Fatal(err)
			}
			if k, err := ring(t, s).Signer("north", keys.AS4Sign, clock.Time); err != nil || !k.Chain[0].Equal(chain[0]) {
				t.Errorf("certificate %s is not shown, %v", chain[0].SerialNumber, err)
			}
		}
	})
	t.Run("a day is said from which it is shown, and moved by saying another", func(t *testing.T) {
		if err := certify(t, s, "2026", later, start.Add(40*day)); err != nil {
			t.Fatal(err)
		}
		if got := shown(start.Add(39 * day)); !got.Equal(now[0]) {
			t.Error("it is shown before the day")
		}
		if got := shown(start.Add(40 * day)); !got.Equal(later[0]) {
			t.Error("it is not shown on the day")
		}
	})
	t.Run("the one before is shown again when it is given again", func(t *testing.T) {
		clock.Time = start.Add(41 * day)
		if err := certify(t, s, "2026", now, time.Time{}); err != nil {
			t.Fatal(err)
		}
		if got := shown(clock.Add(time.Second)); !got.Equal(now[0]) {
			t.Error("it is not")
		}
		if got := shown(start.Add(95 * day)); !got.Equal(later[0]) {
			t.Error("where it has ended the other does not take its place")
		}
	})
	for name, c := range map[string]struct {
		chain []*x509.Certificate
		from  time.Time
		want  string
	}{
		"one that has ended":           {a.issue(t, made, start, start.Add(30*day), nil), time.Time{}, "ended"},
		"a day before it holds":        {a.issue(t, made, start.Add(60*day), start.Add(90*day), nil), start.Add(50 * day), "is not valid before"},
		"a day on which it has ended":  {a.issue(t, made, start, start.Add(90*day), nil), start.Add(91 * day), "has ended by"},
		"one that may not sign":        {a.issue(t, made, start, start.Add(90*day), func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageKeyEncipherment }), time.Time{}, "as2_sign needs digitalSignature or nonRepudiation"},
		"one that may not encrypt":     {a.issue(t, made, start, start.Add(90*day), func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageDigitalSignature }), time.Time{}, "as2_decrypt needs keyEncipherment"},
		"a chain of who did not issue": {append(slices.Clone(now), own), time.Time{}, "has not issued the one before it"},
	} {
		t.Run("refused is "+name, func(t *testing.T) {
			if err := certify(t, s, "2026", c.chain, c.from); !errors.Is(err, keys.ErrUnfit) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("a certificate that the program before gave the key names it too", func(t *testing.T) {
		foreign := a.issue(t, made, start.Add(42*day), start.Add(500*day), nil)
		if _, err := s.Pool.Exec(t.Context(), `update private_key set certificates = $1 where label = '2026'`, [][]byte{foreign[0].Raw}); err != nil {
			t.Fatal(err)
		}
		if got := shown(start.Add(43 * day)); !got.Equal(foreign[0]) {
			t.Errorf("shown is %s", got.SerialNumber)
		}
		if err := certify(t, s, "2026", a.issue(t, made, start.Add(44*day), start.Add(500*day), nil), time.Time{}); err != nil {
			t.Fatal(err)
		}
		if _, err := ring(t, s).Opener("north", keys.AS2Decrypt, keys.Recipient{Issuer: foreign[0].RawIssuer, Serial: foreign[0].SerialNumber}, start); err != nil {
			t.Error(err)
		}
	})
}

func TestOpener(t *testing.T) {
	s, clock := newStore(t)
	made := create(t, s, "a", "rsa-2048", keys.AS2Decrypt)
	create(t, s, "b", "ec-p256", keys.AS2Decrypt)
	a := newAuthority(t, s)
	issued := a.issue(t, made, clock.Time, clock.Add(day), func(c *x509.Certificate) { c.SubjectKeyId = []byte("said so") })[0]
	if err := certify(t, s, "a", []*x509.Certificate{issued}, time.Time{}); err != nil {
		t.Fatal(err)
	}
	// PrintableString as UTF8String.
	name := bytes.Replace(slices.Clone(issued.RawIssuer), append([]byte{asn1.TagPrintableString, 9}, "authority"...), append([]byte{asn1.TagUTF8String, 9}, "authority"...), 1)
	if bytes.Equal(name, issued.RawIssuer) {
		t.Fatal("the name is no PrintableString")
	}
	var info struct {
		Algorithm pkix.AlgorithmIdentifier
		Key       asn1.BitString
	}
	if _, err := asn1.Unmarshal(issued.RawSubjectPublicKeyInfo, &info); err != nil {
		t.Fatal(err)
	}
	digest := sha1.Sum(info.Key.Bytes)
	r := ring(t, s)
	for said, to := range map[string]keys.Recipient{
		"issuer and number":                 {Issuer: issued.RawIssuer, Serial: issued.SerialNumber},
		"an issuer that was written anew":   {Issuer: name, Serial: issued.SerialNumber},
		"the identifier it has":             {SubjectKeyID: []byte("said so")},
		"the identifier made of the key":    {SubjectKeyID: digest[:]},
		"its first certificate":             {Issuer: made.Certificates[0].Leaf().RawIssuer, Serial: made.Certificates[0].Leaf().SerialNumber},
		"one of both that it does not have": {Issuer: issued.RawIssuer, Serial: big.NewInt(99), SubjectKeyID: digest[:]},
	} {
		t.Run("a key is found by "+said, func(t *testing.T) {
			k, err := r.Opener("north", keys.AS2Decrypt, to, clock.Time)
			if err != nil || k.Label != "a" {
				t.Errorf("got %v, %v", k, err)
			}
		})
	}
	for said, to := range map[string]keys.Recipient{
		"nothing": {}, "another number": {Issuer: issued.RawIssuer, Serial: big.NewInt(99)}, "a number alone": {Serial: issued.SerialNumber},
		"another issuer": {Issuer: made.Certificates[0].Leaf().RawIssuer, Serial: issued.SerialNumber}, "an issuer that is none": {Issuer: []byte{1, 2}, Serial: issued.SerialNumber},
	} {
		t.Run("none is found by "+said, func(t *testing.T) {
			if k, err := r.Opener("north", keys.AS2Decrypt, to, clock.Time); !errors.Is(err, keys.ErrUnknown) {
				t.Errorf("got %v, %v", k, err)
			}
		})
	}
	to := keys.Recipient{SubjectKeyID: digest[:]}
	t.Run("nor for another purpose or organisation", func(t *testing.T) {
		for _, c := range [][2]string{{"north", keys.AS4Decrypt}, {"north", keys.AS2Sign}, {"south", keys.AS2Decrypt}} {
			if k, err := r.Opener(c[0], c[1], to, clock.Time); !errors.Is(err, keys.ErrUnknown) {
				t.Errorf("%v: got %v, %v", c, k, err)
			}
		}
	})
	t.Run("that our master key is missing is not told as the sender's fault", func(t *testing.T) {
		with := *s
		with.Master = master(t, second)
		if _, err := ring(t, &with).Opener("north", keys.AS2Decrypt, to, clock.Time); !errors.Is(err, keys.ErrNoMaster) {
			t.Errorf("got %v", err)
		}
	})
}

func TestRing(t *testing.T) {
	t.Run("a running gateway follows what is done to keys", func(t *testing.T) {
		s, clock := newStore(t)
		r := &keys.Ring{Store: s, Every: time.Millisecond, Log: slog.New(slog.DiscardHandler)}
		if _, err := r.Signer("north", keys.AS2Sign, clock.Time); !errors.Is(err, keys.ErrUnknown) {
			t.Errorf("before it is loaded: %v", err)
		}
		if err := r.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		go r.Watch(t.Context())
		patience, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		until := func(what string, is func() bool) {
			t.Helper()
			for !is() {
				if patience.Err() != nil {
					t.Fatal(what)
				}
				time.Sleep(time.Millisecond)
			}
		}
		made := create(t, s, "a", "ec-p256", keys.AS2Sign)
		until("made", func() bool { _, err := r.Signer("north", keys.AS2Sign, clock.Time); return err == nil })
		a := newAuthority(t, s)
		clock.Time = clock.Add(time.Second)
		chain := a.issue(t, made, clock.Time, clock.Add(day), nil)
		if err := certify(t, s, "a", chain, time.Time{}); err != nil {
			t.Fatal(err)
		}
		until("certified", func() bool {
			k, err := r.Signer("north", keys.AS2Sign, clock.Time)
			return err == nil && k.Chain[0].Equal(chain[0])
		})
		if err := inTx(t, s, func(tx pgx.Tx) error { _, err := s.RetireTx(t.Context(), tx, "north", "a"); return err }); err != nil {
			t.Fatal(err)
		}
		until("retired", func() bool {
			_, err := r.Signer("north", keys.AS2Sign, clock.Time)
			return errors.Is(err, keys.ErrUnknown)
		})
	})
	t.Run("what cannot be opened is told once, and another key does not sign in its place", func(t *testing.T) {
		s, clock := newStore(t)
		create(t, s, "old", "ec-p256", keys.AS2Sign)
		with := *s
		with.Master = master(t, second, first)
		clock.Time = clock.Add(time.Second)
		create(t, &with, "new", "ec-p256", keys.AS2Sign)
		var log bytes.Buffer
		r := &keys.Ring{Store: s, Log: slog.New(slog.NewTextHandler(&log, nil))}
		for range 2 {
			if err := r.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if n := strings.Count(log.String(), "level=ERROR"); n != 1 || !strings.Contains(log.String(), `organisation=north key=new for=as2_sign`) {
			t.Errorf("%d lines: %s", n, log.String())
		}
		if _, err := r.Signer("north", keys.AS2Sign, clock.Time); !errors.Is(err, keys.ErrNoMaster) {
			t.Errorf("got %v", err)
		}
		if err := r.Check(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "1 of 2 private keys cannot be opened (the master key does not open them)") || strings.Contains(err.Error(), "new") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a key that was opened stays open while it is sealed anew, and that is told", func(t *testing.T) {
		s, clock := newStore(t)
		create(t, s, "a", "ec-p256", keys.AS2Sign)
		r := ring(t, s)
		with := *s
		with.Master = master(t, second, first)
		if err := inTx(t, s, func(tx pgx.Tx) error { _, _, err := with.ResealTx(t.Context(), tx); return err }); err != nil {
			t.Fatal(err)
		}
		if err := r.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Signer("north", keys.AS2Sign, clock.Time); err != nil {
			t.Error(err)
		}
		if closed := r.Closed(); len(closed) != 1 || !closed[0].StillOpen {
			t.Errorf("%v", closed)
		}
	})
}

func TestALostMasterKey(t *testing.T) {
	s, clock := newStore(t)
	create(t, s, "lost", "ec-p256", keys.AS2Sign)
	s.Master = master(t, second)
	t.Run("beside keys that it does not open, a master key seals none", func(t *testing.T) {
		_, err := tryCreate(t, s, "next", "ec-p256", keys.AS2Sign)
		if !errors.Is(err, keys.ErrNoMaster) || !strings.Contains(err.Error(), `key "lost" of north is sealed under`) || !strings.Contains(err.Error(), "keys retire") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("the lost key is retired, the next one made and sealed anew", func(t *testing.T) {
		if err := inTx(t, s, func(tx pgx.Tx) error { _, err := s.RetireTx(t.Context(), tx, "north", "lost"); return err }); err != nil {
			t.Fatal(err)
		}
		create(t, s, "next", "ec-p256", keys.AS2Sign)
		if _, err := ring(t, s).Signer("north", keys.AS2Sign, clock.Time); err != nil {
			t.Error(err)
		}
		s.Master = master(t, strings.Repeat("03", 32), second)
		if err := inTx(t, s, func(tx pgx.Tx) error {
			n, lost, err := s.ResealTx(t.Context(), tx)
			if n != 1 || lost != 1 {
				t.Errorf("%d sealed, %d lost", n, lost)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	})
}
