package documents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

func TestEach(t *testing.T) {
	ctx := context.Background()
	pool := testPool(t)
	store := Store{Pool: pool}
	var ids []uuid.UUID
	var rows []Row
	for range 2*eachDocuments + 7 {
		r := row(t, "invoic-d96a.edi")
		ids, rows = append(ids, r.Document.ID), append(rows, r)
	}
	write(t, pool, "acme", rows...)
	write(t, pool, "other", row(t, "invoic-d96a.edi"))
	all := func(t *testing.T, f Filter, between func(list []Stored)) (got []uuid.UUID) {
		t.Helper()
		f.Partner = "acme"
		if err := store.Each(ctx, f, true, func(list []Stored) error {
			for i := range list {
				got = append(got, list[i].ID)
			}
			if between != nil {
				between(list)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return got
	}
	t.Run("every document comes once, the oldest first, whole, and no more at a time than fit", func(t *testing.T) {
		got := all(t, Filter{}, func(list []Stored) {
			if len(list) > eachDocuments {
				t.Errorf("%d at a time", len(list))
			}
			for i := range list {
				whole, err := store.Get(ctx, "acme", list[i].ID)
				if err != nil {
					t.Fatal(err)
				}
				if i < 2 {
					if diff := cmp.Diff(asJSON(t, &whole.Document), asJSON(t, &list[i].Document)); diff != "" {
						t.Errorf("alone (-) and with others (+):\n%s", diff)
					}
				}
			}
		})
		if diff := cmp.Diff(ids, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("it goes on behind a document", func(t *testing.T) {
		if diff := cmp.Diff(ids[150:], all(t, Filter{After: ids[149].String()}, nil)); diff != "" {
			t.Error(diff)
		}
		if got := all(t, Filter{After: ids[len(ids)-1].String()}, nil); got != nil {
			t.Errorf("behind the last: %v", got)
		}
	})
	t.Run("a cursor that is none is an error", func(t *testing.T) {
		if err := store.Each(ctx, Filter{Partner: "acme", After: "x"}, true, nil); err == nil || !strings.Contains(err.Error(), "cursor") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a partner without documents has none", func(t *testing.T) {
		if err := store.Each(ctx, Filter{Partner: "nobody"}, true, func([]Stored) error { return errors.New("called") }); err != nil {
			t.Error(err)
		}
	})
	t.Run("what arrives meanwhile is not in it, and what it replaces still is", func(t *testing.T) {
		last := ids[len(ids)-1]
		var newer []Row
		got := all(t, Filter{Live: true}, func([]Stored) {
			r := row(t, "invoic-d96a.edi")
			r.Supersedes, r.Revision = &last, 2
			newer = append(newer, r)
			write(t, pool, "acme", r)
			var b pgx.Batch
			QueueSupersede(&b, "acme", []uuid.UUID{last}, r.Document.ID, "20990101000000/1")
			QueueCancel(&b, "acme", []uuid.UUID{ids[len(ids)-2]}, r.Document.ID, "20990101000000/1", "20990101000000/1")
			send(t, pool, &b)
		})
		if diff := cmp.Diff(ids, got); diff != "" {
			t.Error(diff)
		}
		want := slices.Clone(ids[:len(ids)-2])
		for _, r := range newer {
			want = append(want, r.Document.ID)
		}
		if diff := cmp.Diff(want, all(t, Filter{Live: true}, nil)); diff != "" {
			t.Errorf("afterwards:\n%s", diff)
		}
	})
	t.Run("what the visitor says ends it", func(t *testing.T) {
		enough := errors.New("enough")
		calls := 0
		if err := store.Each(ctx, Filter{Partner: "acme"}, true, func([]Stored) error { calls++; return enough }); !errors.Is(err, enough) || calls != 1 {
			t.Errorf("%v after %d calls", err, calls)
		}
	})
	t.Run("who asked and has gone ends it", func(t *testing.T) {
		gone, cancel := context.WithCancel(ctx)
		err := store.Each(gone, Filter{Partner: "acme"}, true, func([]Stored) error { cancel(); return nil })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// Long documents come alone or with few: what is held at a time does not grow with them.
func TestEachHoldsFewLines(t *testing.T) {
	pool := testPool(t)
	var ids []uuid.UUID
	for i := range 6 {
		_, all := read(t, manyLines(2_000))
		d := all[0].doc
		d.ID = newID(t)
		ids = append(ids, d.ID)
		write(t, pool, "long", Row{Document: d, State: StateLive, MessageID: fmt.Sprint("unb:", i)})
	}
	var got []uuid.UUID
	if err := (Store{Pool: pool}).Each(context.Background(), Filter{Partner: "long"}, true, func(list []Stored) error {
		lines := 0
		for i := range list {
			got = append(got, list[i].ID)
			lines += len(list[i].Lines)
		}
		if lines > eachWeight {
			t.Errorf("%d lines at a time", lines)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ids, got) {
		t.Errorf("got %v, want %v", got, ids)
	}
}
