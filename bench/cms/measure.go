package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// The bounds, of those measurements that have them.
const (
	timeBound   = 3.0 // times openssl's
	memoryBound = 2.5 // times the content's size
)

// measurement is one message that openssl makes, and both open.
type measurement struct {
	name  string
	make  []string // options of openssl cms
	work  string   // of ours
	bound bool
}

var measurements = []measurement{
	{"AES-256-CBC, DER", []string{"-encrypt", "-aes256"}, "decrypt", true},
	{"AES-256-CBC, BER", []string{"-encrypt", "-aes256", "-stream", "-indef"}, "decrypt", true},
	{"AES-256-GCM, DER", []string{"-encrypt", "-aes-256-gcm"}, "decrypt", false},
	{"AES-256-GCM, BER", []string{"-encrypt", "-aes-256-gcm", "-stream", "-indef"}, "decrypt", false},
	{"3DES, DER", []string{"-encrypt", "-des3"}, "decrypt", false},
	{"signed SHA-256, DER", []string{"-sign", "-nodetach", "-md", "sha256"}, "verify", false},
	{"signed SHA-256, BER", []string{"-sign", "-nodetach", "-md", "sha256", "-stream", "-indef"}, "verify", false},
}

// measure prints a line for each measurement, and gives the names of those whose
// bound is broken.
func measure(ctx context.Context, w io.Writer, size, rounds int) (broken []string, err error) {
	dir, err := os.MkdirTemp("", "edigw-cms-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := content(at("content"), size); err != nil {
		return nil, err
	}
	if err := certify(ctx, at); err != nil {
		return nil, err
	}
	fmt.Fprintf(w, "%d MB of content, median of %d rounds; CPU seconds, MB resident at most\n", size/1e6, rounds)
	for _, m := range measurements {
		kept, err := m.run(ctx, w, self, at, size, rounds)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		if !kept {
			broken = append(broken, m.name)
		}
	}
	return broken, nil
}

// certify makes a key and its certificate.
func certify(ctx context.Context, at func(string) string) error {
	_, err := run(ctx, "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", at("key"), "-out", at("certificate"), "-subj", "/CN=bench", "-days", "2")
	return err
}

// content writes a file of random bytes.
func content(path string, size int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.CopyN(f, rand.Reader, int64(size))
	return errors.Join(err, f.Close())
}

// run measures one message in interleaved rounds.
func (m measurement) run(ctx context.Context, w io.Writer, self string, at func(string) string, size, rounds int) (kept bool, err error) {
	theirs := []string{"cms", "-decrypt", "-binary", "-inform", "DER", "-in", at("message"), "-recip", at("certificate"), "-inkey", at("key"), "-out", os.DevNull}
	if m.work == "verify" {
		theirs = []string{"cms", "-verify", "-binary", "-inform", "DER", "-in", at("message"), "-CAfile", at("certificate"), "-purpose", "any", "-out", os.DevNull}
	}
	if _, err := run(ctx, "openssl", m.making(at)...); err != nil {
		return false, err
	}
	var ourTimes, theirTimes, ourMemory, theirMemory []float64
	for range rounds {
		u, err := run(ctx, self, "-work", m.work, at("message"), at("certificate"), at("key"))
		if err != nil {
			return false, err
		}
		o, err := run(ctx, "openssl", theirs...)
		if err != nil {
			return false, err
		}
		ourTimes, theirTimes = append(ourTimes, u.seconds), append(theirTimes, o.seconds)
		ourMemory, theirMemory = append(ourMemory, u.resident), append(theirMemory, o.resident)
	}
	took, bytes := median(ourTimes)/max(median(theirTimes), 1e-3), median(ourMemory)/float64(size)
	kept = !m.bound || took <= timeBound && bytes <= memoryBound
	mark := ""
	switch {
	case !kept:
		mark = fmt.Sprintf("   BROKEN: at most %.1f and %.1f", timeBound, memoryBound)
	case m.bound:
		mark = fmt.Sprintf("   (at most %.1f and %.1f)", timeBound, memoryBound)
	}
	fmt.Fprintf(w, "%-22s ours %6.2f s %6.1f MB   openssl %6.2f s %6.1f MB   time %.2f × openssl's, memory %.2f × the content%s\n", m.name,
		median(ourTimes), median(ourMemory)/1e6, median(theirTimes), median(theirMemory)/1e6, took, bytes, mark)
	return kept, nil
}

// making is how openssl is told to make the message.
func (m measurement) making(at func(string) string) []string {
	args := append([]string{"cms"}, m.make...)
	args = append(args, "-binary", "-in", at("content"), "-outform", "DER", "-out", at("message"))
	if m.work == "verify" {
		return append(args, "-signer", at("certificate"), "-inkey", at("key"))
	}
	return append(args, "-recip", at("certificate"))
}

// usage is what a process took.
type usage struct {
	seconds  float64 // of CPU, user and system
	resident float64 // bytes, the most there were
}

func run(ctx context.Context, program string, args ...string) (usage, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return usage{}, fmt.Errorf("%s %q: %w\n%s", program, args, err, out.Bytes())
	}
	used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return usage{}, errors.New("the system does not tell what a process used")
	}
	seconds := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(time.Microsecond).Seconds()
	return usage{seconds, float64(used.Maxrss) * 1024}, nil // Linux tells kibibytes
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
