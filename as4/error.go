package as4

import (
	"fmt"
	"slices"
)

// Error is an eb:Error: what is wrong with a message, for its sender (core §6.2).
type Error struct {
	Code   string // EBMS:0009
	Detail string // what, where and what to do
	// Reason is for metrics and the journal, where it says more than the code.
	Reason string
	// Cause is for the log; the sender does not learn it.
	Cause error
}

// Error gives the code with its detail, and the cause.
func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s %s: %s: %v", e.Code, e.Row().Short, e.Detail, e.Cause)
	}
	return fmt.Sprintf("%s %s: %s", e.Code, e.Row().Short, e.Detail)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Row gives what the specifications say of the code.
func (e *Error) Row() ErrorRow {
	if i := slices.IndexFunc(Errors, func(r ErrorRow) bool { return r.Code == e.Code }); i >= 0 {
		return Errors[i]
	}
	return ErrorRow{Code: e.Code, Short: "Other", Severity: "failure", Category: "Content", Origin: "ebMS"}
}

func faulty(code, format string, args ...any) *Error {
	return &Error{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// ErrorRow is a code as core §6.7 and the AS4 profile §2.2.4 and §4 list it.
type ErrorRow struct {
	Code, Short, Severity, Category, Origin string
}

// Codes that the package tells, or reads.
const (
	ValueNotRecognized       = "EBMS:0001"
	ValueInconsistent        = "EBMS:0003"
	OtherError               = "EBMS:0004"
	ConnectionFailure        = "EBMS:0005"
	EmptyChannel             = "EBMS:0006"
	MimeInconsistency        = "EBMS:0007"
	FeatureNotSupported      = "EBMS:0008"
	InvalidHeader            = "EBMS:0009"
	ProcessingModeMismatch   = "EBMS:0010"
	ExternalPayloadError     = "EBMS:0011"
	FailedAuthentication     = "EBMS:0101"
	FailedDecryption         = "EBMS:0102"
	PolicyNoncompliance      = "EBMS:0103"
	DysfunctionalReliability = "EBMS:0201"
	DeliveryFailure          = "EBMS:0202"
	InvalidReceipt           = "EBMS:0302"
	DecompressionFailure     = "EBMS:0303"
)

// Errors lists every code of the two specifications.
var Errors = []ErrorRow{
	{ValueNotRecognized, "ValueNotRecognized", "failure", "Content", "ebMS"},
	{"EBMS:0002", "FeatureNotSupported", "warning", "Content", "ebMS"},
	{ValueInconsistent, "ValueInconsistent", "failure", "Content", "ebMS"},
	{OtherError, "Other", "failure", "Content", "ebMS"},
	{ConnectionFailure, "ConnectionFailure", "failure", "Communication", "ebMS"},
	{EmptyChannel, "EmptyMessagePartitionChannel", "warning", "Communication", "ebMS"},
	{MimeInconsistency, "MimeInconsistency", "failure", "Unpackaging", "ebMS"},
	{FeatureNotSupported, "FeatureNotSupported", "failure", "Unpackaging", "ebMS"},
	{InvalidHeader, "InvalidHeader", "failure", "Unpackaging", "ebMS"},
	{ProcessingModeMismatch, "ProcessingModeMismatch", "failure", "Processing", "ebMS"},
	{ExternalPayloadError, "ExternalPayloadError", "failure", "Content", "ebMS"},
	{FailedAuthentication, "FailedAuthentication", "failure", "Processing", "security"},
	{FailedDecryption, "FailedDecryption", "failure", "Processing", "security"},
	{PolicyNoncompliance, "PolicyNoncompliance", "failure", "Processing", "security"},
	{DysfunctionalReliability, "DysfunctionalReliability", "failure", "Processing", "reliability"},
	{DeliveryFailure, "DeliveryFailure", "failure", "Communication", "reliability"},
	{"EBMS:0301", "MissingReceipt", "failure", "Communication", "ebMS"},
	{InvalidReceipt, "InvalidReceipt", "failure", "Communication", "ebMS"},
	{DecompressionFailure, "DecompressionFailure", "failure", "Communication", "ebMS"},
}

// Reasons for metrics, the journal and the log: one word for each code. Strangers
// and what is no ebMS at all have their own.
var reasons = map[string]string{
	ValueNotRecognized: "value-not-recognized", ValueInconsistent: "value-inconsistent", OtherError: "other",
	MimeInconsistency: "mime-inconsistency", FeatureNotSupported: "feature-not-supported", InvalidHeader: "invalid-header",
	ProcessingModeMismatch: "processing-mode-mismatch", ExternalPayloadError: "external-payload-error",
	FailedAuthentication: "failed-authentication", FailedDecryption: "failed-decryption", PolicyNoncompliance: "policy-noncompliance",
	DeliveryFailure: "delivery-failure", DecompressionFailure: "decompression-failure", InvalidReceipt: "invalid-receipt",
}

func (e *Error) reason() string {
	if e.Reason != "" {
		return e.Reason
	}
	return reasons[e.Code]
}
