package gateway

import "github.com/edigw/edigw/edi"

// Answer is what the partner is told of an interchange, or of a delivery. Its
// number is stored: append only.
type Answer int16

// The answers of outcomes.md, "What the partner is told".
const (
	ToldAccepted         Answer = iota + 1
	ToldPartly                  // partly, nothing dead
	ToldRejected                // envelope readable
	ToldUnreadable              // envelope unreadable
	ToldDrift                   // on_drift: reject
	ToldDriftHeld               // on_drift: hold
	ToldDeferred                // received, processed later
	ToldDead                    // something dead, on_dead: hold
	ToldTryAgain                // something dead, on_dead: refuse, attempts left
	ToldDeadRefused             // something dead, on_dead: refuse, attempts used up
	ToldSenderNotAllowed        // the transport partner may not speak for the sender
	ToldUnsupported             // type not in the partner's types
	ToldReplaced                // I6 of an interchange that only ever got 503
	ToldEmpty                   // the payload holds nothing
	ToldFaulty                  // it failed verification under a known name: journalled, no key
	ToldUnproven                // its sender has not proved to be the partner it claims to be, and it is worth a line in that partner's journal; no key
)

// Told is a row of the answers: how each channel says it.
type Told struct {
	Answer  Answer
	Word    string     // outcome in the receipt
	HTTP    int        // status of plain HTTP; a repeat answers 200 where this is 201
	Problem string     // type of problem+json, relative to the documentation; "" for a receipt
	Title   string     // of the problem
	AS2     string     // disposition modifier after "processed", "" for plain processed
	AS4     string     // ebMS error code, "" for a receipt
	Action  edi.Action // of CONTRL's UCI, 0 for none
}

// Answers is the table of what each channel is told.
var Answers = []Told{
	{ToldAccepted, "accepted", 201, "", "", "", "", edi.ActionAcknowledged},
	{ToldPartly, "partly", 201, "", "", "", "", edi.ActionAcknowledged},
	{ToldRejected, "rejected", 422, "invalid-interchange", "The interchange was not accepted", "error: unexpected-processing-error", "EBMS:0004", edi.ActionRejected},
	{ToldUnreadable, "rejected", 422, "unreadable-interchange", "No interchange could be read", "error: unexpected-processing-error", "EBMS:0004", 0},
	{ToldDrift, "quarantined", 422, "payload-drift", "This id came before with other content", "error: unexpected-processing-error", "EBMS:0004", 0},
	{ToldDriftHeld, "quarantined", 202, "", "", "", "", 0},
	{ToldDeferred, "received", 202, "", "", "", "", 0},
	{ToldDead, "dead", 202, "", "", "", "", 0},
	{ToldTryAgain, "dead", 503, "try-again", "Not processed yet, please send again", "", "EBMS:0202", 0},
	{ToldDeadRefused, "dead", 422, "not-processed", "The interchange could not be processed", "error: unexpected-processing-error", "EBMS:0004", 0},
	{ToldSenderNotAllowed, "rejected", 403, "sender-not-allowed", "This partner may not send for that sender", "error: authentication-failed", "EBMS:0003", 0},
	{ToldUnsupported, "rejected", 422, "unsupported", "This message type is not accepted from this partner", "error: unexpected-processing-error", "EBMS:0004", edi.ActionRejected},
	{ToldReplaced, "rejected", 422, "replaced", "Another content was processed under this id since", "error: unexpected-processing-error", "EBMS:0004", 0},
	{ToldEmpty, "rejected", 422, "empty", "The payload is empty", "error: unexpected-processing-error", "EBMS:0004", 0},
	{ToldFaulty, "refused", 400, "digest-mismatch", "The body failed verification", "error: integrity-check-failed", "EBMS:0101", 0},
	{ToldUnproven, "refused", 401, "unauthorized", "The partner's credentials are needed", "error: authentication-failed", "EBMS:0101", 0},
}

// Told gives the answer's row.
func (a Answer) Told() Told {
	for _, t := range Answers {
		if t.Answer == a {
			return t
		}
	}
	return Told{Answer: a, Word: "unknown", HTTP: 503, Problem: "try-again"}
}

// positive reports whether the answer tells the partner that nothing more is
// expected of him, as HTTP tells it.
func (a Answer) positive() bool {
	s := a.Told().HTTP
	return s >= 200 && s < 300
}

// Overall is the one answer of a delivery over plain HTTP: 503 if any is, else
// 422 (or 403) if any is refused or a drift under reject, else 202, else 201.
func Overall(items []Item) Answer {
	best, rank := ToldUnreadable, -1
	for _, it := range items {
		if r := httpRank(it.Answer.Told().HTTP); r > rank {
			best, rank = it.Answer, r
		}
	}
	return best
}

func httpRank(status int) int {
	switch status {
	case 503:
		return 4
	case 422:
		return 3
	case 403:
		return 2
	case 202:
		return 1
	}
	return 0
}
