package gateway

import "encoding/json"

// Signal is what a channel that knows only yes and no is told: AS2 and AS4.
type Signal int

// The signals of outcomes.md, "What the partner is told".
const (
	SignalPositive Signal = iota
	SignalTryAgain        // no acknowledgement: the sender comes again
	SignalNegative
)

// Signal gives the answer over AS2 and AS4, and for a negative one whose code is told:
// that of the first interchange that is negative. What a functional acknowledgement
// says, the receipt need not say again: an MDN says "received intact", a 997 or CONTRL
// says "sound".
func (r *Receipt) Signal() (Signal, Told) {
	negative := Answer(0)
	for _, it := range r.Items {
		switch {
		case it.Answer == ToldTryAgain:
			return SignalTryAgain, it.Answer.Told()
		case it.Acknowledged && (it.Answer == ToldPartly || it.Answer == ToldRejected):
		case it.Answer == ToldPartly && negative == 0:
			negative = ToldRejected
		case it.Answer == ToldPartly || it.Answer.positive() || negative != 0:
		default:
			negative = it.Answer
		}
	}
	switch {
	case negative != 0:
		return SignalNegative, negative.Told()
	case len(r.Items) == 0:
		return SignalNegative, r.Answer.Told()
	}
	return SignalPositive, ToldAccepted.Told()
}

// acknowledged reports whether an interchange's part of a receipt names a functional
// acknowledgement that the sender of this delivery gets.
func (d *Delivery) acknowledged(a Answer, item json.RawMessage) bool {
	if a != ToldPartly && a != ToldRejected {
		return false
	}
	var told struct {
		Acknowledgement *FunctionalAcknowledgement `json:"acknowledgement"`
	}
	if json.Unmarshal(item, &told) != nil || told.Acknowledgement == nil {
		return false
	}
	return d.WithAcknowledgement || told.Acknowledgement.By != ""
}
