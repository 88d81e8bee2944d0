package wire

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDeadlines(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	// after are the deadlines, in seconds from the first byte, of a body whose blocks of
	// 32 KiB take so long each.
	after := func(b *Body, each time.Duration, blocks int) (seconds []float64) {
		b.Pace = 30 * time.Second
		now := start
		for range blocks {
			seconds = append(seconds, b.deadline(now).Sub(start).Seconds())
			b.read += paceBytes
			now = now.Add(each)
		}
		return seconds
	}
	for name, c := range map[string]struct {
		body *Body
		each time.Duration
		want []float64
	}{
		"every block has its deadline":                                {&Body{}, 29 * time.Second, []float64{30, 59, 88, 117, 146}},
		"a steady one that is quick has the same":                     {&Body{Steady: true}, time.Second, []float64{30, 31, 32, 33, 34}},
		"a steady one that is slow comes to its end behind two":       {&Body{Steady: true}, 29 * time.Second, []float64{30, 59, 82.5, 90, 97.5}},
		"one whose sender nobody knows has one, steady or not":        {&Body{Whole: true, Steady: true}, 0, []float64{30}},
		"a steady one of which much came before its pace began again": {&Body{Steady: true, read: 10 << 20}, 29 * time.Second, []float64{30, 59, 82.5}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, after(c.body, c.each, len(c.want))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCut(t *testing.T) {
	cause := errors.New("others need the room")
	// serve has handle read a request of which half has come.
	serve := func(t *testing.T, handle func(*Body) error) {
		t.Helper()
		ended := make(chan error, 1)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b := NewBody(w, r, 1<<20, time.Hour)
			ended <- handle(b)
			b.Release()
		}))
		defer s.Close()
		from, to := io.Pipe()
		r, err := http.NewRequest(http.MethodPost, s.URL, from)
		if err != nil {
			t.Fatal(err)
		}
		r.ContentLength = 100
		go func() {
			_, _ = io.Copy(to, strings.NewReader(strings.Repeat("x", 50))) // the rest never comes
		}()
		go func() {
			if a, err := http.DefaultClient.Do(r); err == nil {
				_ = a.Body.Close() // nobody reads it
			}
		}()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		_ = to.CloseWithError(io.ErrClosedPipe) // of a pipe, it is nil
	}
	read := func(b *Body) (int64, error) { return io.Copy(io.Discard, bufio.NewReader(b)) }

	t.Run("who waits for more is woken, and told why", func(t *testing.T) {
		serve(t, func(b *Body) error {
			half := make([]byte, 50)
			if _, err := io.ReadFull(b, half); err != nil {
				return err
			}
			go b.Cut(cause)
			if n, err := read(b); n != 0 || !errors.Is(err, cause) {
				t.Errorf("read %d, %v", n, err)
			}
			return nil
		})
	})
	t.Run("nothing is read after it, however much would come", func(t *testing.T) {
		serve(t, func(b *Body) error {
			b.Cut(cause)
			if n, err := read(b); n != 0 || !errors.Is(err, cause) {
				t.Errorf("read %d, %v", n, err)
			}
			return nil
		})
	})
}
