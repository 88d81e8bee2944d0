package keys

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// State says in words what becomes of a key at an instant: whether it signs, from
// when or until when, whether it opens, and what certificate is to come. list is
// all keys of its organisation.
func State(list []*Key, k *Key, at time.Time) string {
	if k.Retired != nil {
		return "retired " + date(*k.Retired)
	}
	if k.Until != nil && !at.Before(*k.Until) {
		return "ended " + date(*k.Until)
	}
	var words []string
	if slices.ContainsFunc(k.Purposes, signs) {
		words = append(words, k.signing(list, at))
	}
	if i := slices.IndexFunc(k.Purposes, func(p string) bool { return k.Opens(p, at) }); i >= 0 {
		word := "opens"
		if k.Until != nil {
			word += " until " + date(*k.Until)
		}
		words = append(words, word)
	}
	if next := k.Next(at); next != nil && k.Shown(at) != nil {
		from, _ := next.Window()
		words = append(words, "next certificate from "+date(from))
	}
	return strings.Join(words, ", ")
}

// signing says whether k signs, of those that could the one that began last.
func (k *Key) signing(list []*Key, at time.Time) string {
	if at.Before(k.From) {
		return "signs from " + date(k.From)
	}
	if k.Shown(at) == nil {
		if next := k.Next(at); next != nil {
			from, _ := next.Window()
			return "signs from " + date(from)
		}
		return "certificate ended " + date(k.Present(at).Leaf().NotAfter)
	}
	signing, taken := 0, time.Time{}
	for _, p := range k.Purposes {
		if !signs(p) {
			continue
		}
		signing++
		for _, o := range list {
			if o.ID != k.ID && o.Organisation == k.Organisation && o.Signs(p, at) && later(o, k) {
				signing--
				break
			}
		}
	}
	if signing == 0 {
		return "signs no more"
	}
	for _, o := range list { // until another takes over
		if o.ID != k.ID && o.Organisation == k.Organisation && o.Retired == nil && o.From.After(at) && (taken.IsZero() || o.From.Before(taken)) &&
			slices.ContainsFunc(k.Purposes, func(p string) bool { return o.Signs(p, o.From) }) {
			taken = o.From
		}
	}
	if end := k.End(); taken.IsZero() || end.Before(taken) {
		taken = end
	}
	return "signs until " + date(taken)
}

// later reports whether a is the one to sign where both could: the later.
func later(a, b *Key) bool {
	if !a.From.Equal(b.From) {
		return a.From.After(b.From)
	}
	return strings.Compare(a.ID.String(), b.ID.String()) > 0
}

func date(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// LeftTx gives the purposes of a key that its organisation has no other key for
// now.
func (s *Store) LeftTx(ctx context.Context, tx pgx.Tx, k *Key) ([]string, error) {
	list, _, err := query(ctx, tx, `where organisation_id = $1 and retired_at is null`, k.Organisation)
	if err != nil {
		return nil, err
	}
	now := s.now()
	var left []string
	for _, p := range k.Purposes {
		if !slices.ContainsFunc(list, func(o *Key) bool { return o.ID != k.ID && (o.Signs(p, now) || o.Opens(p, now)) }) {
			left = append(left, p)
		}
	}
	return left, nil
}
