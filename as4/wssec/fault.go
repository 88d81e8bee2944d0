package wssec

import (
	"errors"
	"fmt"
	"strings"
)

// Reason is why a message is refused. The ebMS error code that goes with it is in
// its comment: ebMS 3.0 core §6.7, AS4 profile §5.
type Reason int

// The reasons there are.
const (
	Malformed       Reason = iota + 1 // EBMS:0009 InvalidHeader: no envelope that can be read
	Unauthenticated                   // EBMS:0101 FailedAuthentication: signature, digest or signer
	Undecryptable                     // EBMS:0102 FailedDecryption: always with the same words
	NonCompliant                      // EBMS:0103 PolicyNoncompliance: unsigned, not encrypted, not covered, algorithm not allowed
)

func (r Reason) String() string {
	switch r {
	case Malformed:
		return "malformed"
	case Unauthenticated:
		return "unauthenticated"
	case Undecryptable:
		return "undecryptable"
	case NonCompliant:
		return "non-compliant"
	}
	return fmt.Sprintf("Reason(%d)", int(r))
}

// Fault is what is wrong with a message from outside. Every error of Read, Decrypt
// and Verify that is not a *Fault is ours: a part that could not be read again, for
// one.
type Fault struct {
	Reason Reason
	Detail string // for the partner: what, where and what to do. Undecryptable always says the same
	Err    error  // for the log alone; may be nil
}

func (f *Fault) Error() string {
	if f.Err == nil {
		return f.Detail
	}
	return f.Detail + ": " + f.Err.Error()
}

func (f *Fault) Unwrap() error { return f.Err }

func malformed(format string, a ...any) error {
	return &Fault{Reason: Malformed, Detail: clip(fmt.Sprintf(format, a...))}
}

func unauthenticated(format string, a ...any) error {
	return &Fault{Reason: Unauthenticated, Detail: clip(fmt.Sprintf(format, a...))}
}

func nonCompliant(format string, a ...any) error {
	return &Fault{Reason: NonCompliant, Detail: clip(fmt.Sprintf(format, a...))}
}

// longest is what of a detail is told: it may quote what the message says.
const longest = 600

func clip(detail string) string {
	if len(detail) <= longest {
		return detail
	}
	return strings.ToValidUTF8(detail[:longest], "") + "…"
}

// undecryptable is the one answer to everything that goes wrong with a key or with
// ciphertext, so that nobody learns from it where it did (XML Encryption 1.1 §6.1,
// the attacks of Bleichenbacher, Manger and Vaudenay). The cause is for the log.
func undecryptable(format string, a ...any) error {
	return &Fault{Reason: Undecryptable, Detail: "the message cannot be decrypted with any key of ours", Err: fmt.Errorf(format, a...)}
}

// ReasonOf gives why a message is refused, and 0 for errors of our own.
func ReasonOf(err error) Reason {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f.Reason
	}
	return 0
}
