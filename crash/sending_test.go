//go:build linux

package crash_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// answer is what the partner read.
type answer struct {
	status  int
	verdict string
	header  http.Header
	body    string
	took    time.Duration
}

// send posts a payload, on a connection of its own. An error says that there was
// no whole answer; then answer is what of it came. An empty key sends none.
func (p partner) send(to *program, payload, key string) (answer, error) {
	request, err := http.NewRequest(http.MethodPost, to.ingress+"/in/"+p.id(), strings.NewReader(payload))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Authorization", "Bearer "+p.token())
	if key != "" {
		request.Header.Set("Idempotency-Key", `"`+key+`"`)
	}
	return posted(request)
}

// posted sends a request on a connection of its own. An error says that there was no
// whole answer; then answer is what of it came.
func posted(request *http.Request) (answer, error) {
	client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	begun := time.Now()
	response, err := client.Do(request)
	if err != nil {
		return answer{took: time.Since(begun)}, err
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close() // what was read of it counts
	return answer{response.StatusCode, response.Header.Get("Edigw-Verdict"), response.Header, string(body), time.Since(begun)}, err
}

// mustSend is send where there must be an answer.
func (p partner) mustSend(t testing.TB, to *program, payload, key string) answer {
	t.Helper()
	a, err := p.send(to, payload, key)
	if err != nil {
		t.Fatalf("send: %v", err)
	}
	return a
}

// retry sends, as a partner does, until there is an answer that stands. Every
// answer on the way must be one that says "try again".
func (p partner) retry(t testing.TB, to *program, payload, key string) answer {
	t.Helper()
	a, err := p.again(to, payload, key)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// again is retry for any goroutine.
func (p partner) again(to *program, payload, key string) (answer, error) {
	for end := time.Now().Add(patience); ; time.Sleep(30 * time.Millisecond) {
		a, err := p.send(to, payload, key)
		if err == nil {
			if err := a.wellFormed(); err != nil {
				return a, err
			}
			if !a.isTryAgain() {
				return a, nil
			}
		}
		if time.Now().After(end) {
			return a, fmt.Errorf("no answer that stands after %v: %d, %w", patience, a.status, err)
		}
	}
}

func (a answer) isTryAgain() bool {
	return a.status == http.StatusConflict || a.status == http.StatusServiceUnavailable
}

// wellFormed checks an answer: no 500, and of one that says "try again", when,
// and nothing about the inside.
func (a answer) wellFormed() error {
	switch {
	case a.status == http.StatusInternalServerError:
		return fmt.Errorf("500 is no answer: %s", a.body)
	case a.isTryAgain() && a.header.Get("Retry-After") == "":
		return fmt.Errorf("%d without Retry-After: %s", a.status, a.body)
	case a.isTryAgain():
		for _, inside := range []string{"SQLSTATE", "duplicate key", "constraint", "pgx", "postgres"} {
			if strings.Contains(a.body, inside) {
				return fmt.Errorf("the answer tells of the inside (%s): %s", inside, a.body)
			}
		}
	}
	return nil
}

// stands reports whether the answer is final, and fails if it is neither final
// nor a well-formed "try again".
func (a answer) stands(t testing.TB) bool {
	t.Helper()
	if err := a.wellFormed(); err != nil {
		t.Fatal(err)
	}
	return !a.isTryAgain()
}

// tryAgain checks that the answer says so.
func (a answer) tryAgain(t testing.TB) {
	t.Helper()
	if a.stands(t) {
		t.Fatalf("%d, want 409 or 503: %s", a.status, a.body)
	}
}

// is checks status and verdict.
func (a answer) is(t testing.TB, status int, verdict string) {
	t.Helper()
	if a.status != status || a.verdict != verdict {
		t.Fatalf("%d %q, want %d %q: %s", a.status, a.verdict, status, verdict, a.body)
	}
}
