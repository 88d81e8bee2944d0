package httpin

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/edigw/edigw/gateway"
)

// ProblemBase is what every problem's type begins with (RFC 9457 §3.1.1); behind
// it stands the problem's name, whose section in docs/reference/problems.md says
// what it means and what to do.
const ProblemBase = "https://edigw.dev/problems/"

// Problem is a kind of negative answer.
type Problem struct {
	Name   string // stable: type is ProblemBase + Name
	Status int
	Title  string
	Detail string // where nothing more is known: what happened, and what to do
}

// Problems are the answers of plain HTTP that are made before a receipt, or
// instead of one. Those with a receipt stand in gateway.Answers.
var Problems = []Problem{
	{"invalid-message-id", 400, "The message id cannot be used", "Send 1 to 255 printable ASCII characters in Idempotency-Key or EDI-Message-Id, once."},
	{"invalid-content-digest", 400, "Content-Digest cannot be read", "Send Content-Digest as RFC 9530 says, or leave it out."},
	{"digest-mismatch", 400, "The body is not what Content-Digest says", "The body was changed on the way, or the digest is of something else. Nothing was processed."},
	{"incomplete-body", 400, "The body did not arrive whole", "Nothing was processed: send it again."},
	{"invalid-content-encoding", 400, "The body is no sound gzip", "Content-Encoding is gzip, but the body cannot be decompressed. Send it again, or uncompressed and without Content-Encoding."},
	{"empty", 400, "The payload is empty", "The body holds nothing, or only white space. Send the interchange itself as the body: with curl, --data-binary @file."},
	{"unauthorized", 401, "The partner's credentials are needed", "Send the token of the partner in the path, as Authorization: Bearer, or as the password of Basic, or connect with the partner's client certificate, as was agreed. Wrong credentials, those of another partner and a path without partner are answered alike."},
	{"not-found", 404, "There is nothing here", "Interchanges are received by POST at /in/ and the partner's name."},
	{"method-not-allowed", 405, "Only POST is received here", "Send the interchange as the body of a POST."},
	{"request-timeout", 408, "The body came too slowly", "Nothing was processed: send it again."},
	{"in-progress", 409, "The first copy is still being received", "This message is being received at this moment. Send it again after the time in Retry-After: the answer will be that of the first copy."},
	{"content-too-large", 413, "The body is too large", "Send its interchanges in several requests."},
	{"unsupported-content-type", 415, "The body has to be the interchange itself", "Send the interchange itself as the body, in one part."},
	{"unsupported-content-encoding", 415, "Only gzip is decompressed here", "Send the body as it is, or compressed by gzip alone."},
	{"too-many-at-once", 503, "More of your deliveries are on their way than are taken at once", "Nothing was kept. Send the same again under the same id after the time in Retry-After, and fewer at a time."},
	{"unavailable", 503, "Nothing can be received at the moment", "Nothing was kept. Send the same again under the same id after the time in Retry-After."},
}

// problemNamed finds a problem of this package.
func problemNamed(name string) (Problem, bool) {
	for _, p := range Problems {
		if p.Name == name {
			return p, true
		}
	}
	return Problem{}, false
}

// details are the members that every problem has, and those of this package's.
type details struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Limit  int64  `json:"limit,omitempty"` // bytes, of content-too-large
}

// encode gives v as JSON on one line. Characters of HTML stay as they are: EDI
// is full of them, and nothing here ends up in a page.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// sentence ends s with a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}

// capital begins s with one.
func capital(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	if n == 0 || first == utf8.RuneError {
		return s
	}
	return string(unicode.ToUpper(first)) + s[n:]
}

// advice is what a partner is to do about an answer of gateway.Answers, by its
// problem.
var advice = map[string]string{
	"digest-mismatch":                     "Send the same message again, whole",
	problem(gateway.ToldUnproven):         "Send the credentials that were agreed, under a name of your own.",
	problem(gateway.ToldRejected):         "Nothing of it was processed: mend it and send it again, its control reference may be used again.",
	problem(gateway.ToldUnreadable):       "An interchange begins with UNA, UNB or ISA. Check that the file is one and was sent as it is: with curl, --data-binary @file.",
	problem(gateway.ToldDrift):            "Nothing of it was processed. If this is another message, send it under an id and a control reference of its own; if it is the same, send the bytes that were sent first. Our operators have been told.",
	problem(gateway.ToldTryAgain):         "The reason is on our side. Send the same again under the same id after the time in Retry-After.",
	problem(gateway.ToldDeadRefused):      "It is kept, but could not be processed, for a reason on our side; our operators have been told. Sending it again will not help: ask us.",
	problem(gateway.ToldSenderNotAllowed): "The sender in an interchange has to be one of your own addresses, or one that you may send for: correct it, or ask us to allow it.",
	problem(gateway.ToldUnsupported):      "Nothing of it was processed. Ask us to accept this type from you, then send it again.",
	problem(gateway.ToldReplaced):         "There is nothing to do: what was sent in its place was taken.",
	problem(gateway.ToldEmpty):            "Send the interchange itself as the body: with curl, --data-binary @file.",
}

func problem(a gateway.Answer) string { return a.Told().Problem }
