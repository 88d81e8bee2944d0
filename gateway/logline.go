package gateway

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"
)

// Line is what is said of one delivery once it was answered: one line in the
// log, and the metrics. Payloads and secrets have no place in it.
type Line struct {
	Transport string
	Partner   string // id from the configuration, or UnknownPartner
	Claimed   string // the configured partner that an unauthenticated sender claimed to be, if any
	Remote    string
	Status    int // of the answer
	Bytes     int64
	Took      time.Duration
	MessageID string // where there is no receipt to tell it

	Signer string   // label of the partner's certificate that signed it
	Notes  []string // what was let pass, in words

	Receipt *Receipt // nil: none was given, for Reason or Err
	Word    string   // outcome of what is answered and never delivered: tested
	Reason  string   // why the transport refused it, in a word of a fixed list
	Err     error    // *Rejection, ErrBusy, ErrCrowded, or a failure of ours
	Lost    error    // the answer could not be written
}

// linedKeys is the number of keys that a line names.
const linedKeys = 8

// Outcome is what the partner was told, in a word: an outcome of Answers, or
// tested, busy, crowded, refused or failed where there is no receipt.
func (l *Line) Outcome() string {
	var r *Rejection
	switch {
	case l.Receipt != nil:
		return l.Receipt.Answer.Told().Word
	case errors.Is(l.Err, ErrBusy):
		return "busy"
	case errors.Is(l.Err, ErrCrowded):
		return "crowded"
	case l.Reason != "" || errors.As(l.Err, &r):
		return "refused"
	case l.Word != "" && l.Err == nil:
		return l.Word
	}
	return "failed"
}

// Write writes the line: a failure of ours as an error, what the sender has to
// change as a warning.
func (l *Line) Write(ctx context.Context, log *slog.Logger) {
	level, outcome := slog.LevelInfo, l.Outcome()
	switch {
	case outcome == "failed":
		level = slog.LevelError
	case outcome == "refused" || outcome == "crowded" || l.Receipt != nil && l.Receipt.Answer.Told().HTTP >= 400:
		level = slog.LevelWarn
	}
	if !log.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, 20)
	add := func(a slog.Attr) { attrs = append(attrs, a) }
	add(slog.String("partner", l.Partner))
	if l.Claimed != "" {
		add(slog.String("claimed", l.Claimed))
	}
	add(slog.String("transport", l.Transport))
	add(slog.String("outcome", outcome))
	if r := l.Receipt; r != nil {
		add(slog.String("verdict", string(r.Verdict)))
		add(slog.String("delivery", r.Delivery.String()))
		add(slog.String("message_id", r.MessageID))
		add(slog.Any("keys", r.Keys[:min(len(r.Keys), linedKeys)]))
		if n := len(r.Keys) - linedKeys; n > 0 {
			add(slog.Int("keys_omitted", n))
		}
		add(slog.Any("rules", r.Rules[:min(len(r.Rules), linedKeys)]))
		add(slog.Int("documents", r.Posted))
		if r.AlertID != uuid.Nil {
			add(slog.String("alert", r.AlertID.String()))
		}
	} else if l.MessageID != "" {
		add(slog.String("message_id", l.MessageID))
	}
	if reason := l.reason(); reason != "" {
		add(slog.String("reason", reason))
	}
	if l.Err != nil {
		add(slog.String("error", l.Err.Error()))
	}
	if l.Signer != "" {
		add(slog.String("signer", l.Signer))
	}
	if len(l.Notes) > 0 {
		add(slog.Any("let_pass", l.Notes))
	}
	if l.Lost != nil {
		add(slog.String("answer_lost", l.Lost.Error()))
	}
	add(slog.Int("status", l.Status))
	add(slog.Int64("bytes", l.Bytes))
	add(slog.Duration("took", l.Took))
	add(slog.String("remote", l.Remote))
	log.LogAttrs(ctx, level, "delivery", attrs...)
}
