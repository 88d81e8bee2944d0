package as2

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/edigw/edigw/cms"
	"github.com/edigw/edigw/gateway"
)

// Fault says why a message is not taken as it was sent.
type Fault struct {
	Reason string // of Reasons: for metrics and the journal, and what the MDN says
	Detail string // a sentence, for the partner
	Cause  error  // for our own log alone

	structural bool // it may have come of a decryption that went wrong
}

// Error is for the log.
func (f *Fault) Error() string {
	text := f.Reason + ": " + f.Detail
	if f.Cause == nil {
		return text
	}
	if detail := cms.Detail(f.Cause); detail != "" {
		return text + " (" + detail + ")"
	}
	return text + " (" + f.Cause.Error() + ")"
}

// Unwrap gives the cause.
func (f *Fault) Unwrap() error { return f.Cause }

// Reason is a reason for which this package refuses, and how an MDN says it: RFC 4130
// §7.4.3 and §7.5.3, RFC 8098 §3.2.6.
type Reason struct {
	Name     string
	Kind     string // processed, failed
	Modifier string // what stands behind the slash
}

// The reasons.
const (
	authenticationFailed = "authentication-failed"
	integrityFailed      = "integrity-check-failed"
	decryptionFailed     = "decryption-failed"
	decompressionFailed  = "decompression-failed"
	insufficientSecurity = "insufficient-message-security"
	unexpected           = "unexpected-processing-error"
	senderIsReceiver     = "sender-equals-receiver"
	unsupportedFormat    = "unsupported-format"
	unsupportedMIC       = "unsupported-mic-algorithms"
	unknownPartner       = "unknown-trading-partner"
	empty                = "empty"
)

// Reasons is every one there is. `failed` is of MDNs that cannot be made as they were
// asked for: RFC 4130 §7.5.3.
var Reasons = []Reason{
	{authenticationFailed, "processed", "error: authentication-failed"},
	{integrityFailed, "processed", "error: integrity-check-failed"},
	{decryptionFailed, "processed", "error: decryption-failed"},
	{decompressionFailed, "processed", "error: decompression-failed"},
	{insufficientSecurity, "processed", "error: insufficient-message-security"},
	{unexpected, "processed", "error: unexpected-processing-error"},
	{empty, "processed", "error: unexpected-processing-error"},
	{unknownPartner, "processed", "error: unknown-trading-partner"},
	{senderIsReceiver, "failed", "failure: sender-equals-receiver"},
	{unsupportedFormat, "failed", "failure: unsupported format"},
	{unsupportedMIC, "failed", "failure: unsupported MIC-algorithms"},
}

func reasonNamed(name string) (Reason, bool) {
	for _, r := range Reasons {
		if r.Name == name {
			return r, true
		}
	}
	return Reason{}, false
}

// reasonOfAnswer is the reason that says what the outcome table has for AS2.
func reasonOfAnswer(a gateway.Answer) string {
	for _, r := range Reasons {
		if r.Modifier == a.Told().AS2 {
			return r.Name
		}
	}
	return unexpected
}

func fault(reason string, cause error, format string, args ...any) *Fault {
	return &Fault{Reason: reason, Cause: cause, Detail: fmt.Sprintf(format, args...)}
}

// status is that of an answer without an MDN.
func (f *Fault) status() int {
	switch f.Reason {
	case authenticationFailed:
		return http.StatusForbidden
	case insufficientSecurity, empty:
		return http.StatusUnprocessableEntity
	}
	return http.StatusBadRequest
}

// malformed is of MIME or CMS that cannot be read.
func malformed(cause error, format string, args ...any) *Fault {
	f := fault(unexpected, cause, format, args...)
	f.structural = true
	return f
}

// cannotDecrypt is one fault for all that may go wrong behind an encryption: a sender
// who could tell one from the other could find out what others have encrypted.
func cannotDecrypt(cause error) *Fault {
	return fault(decryptionFailed, cause, "The message could not be decrypted, or is no message that we agreed on inside. Encrypt it to the certificate that we gave you, with an algorithm that we agreed on; where we agreed on a signature, it belongs inside.")
}

// behindEncryption is what a fault of decrypted content is told as.
func behindEncryption(err error) error {
	if f := (*Fault)(nil); errors.As(err, &f) && f.structural {
		return cannotDecrypt(f)
	}
	return err
}
