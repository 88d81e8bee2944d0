package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Check is one thing that must be so before deliveries can be taken. Run says
// what is wrong and what to do.
type Check struct {
	Name string
	Run  func(ctx context.Context) error
	// Only says that what is found is to be known and keeps no delivery from being taken.
	Only bool
}

// checkTimeout bounds all checks together: a load balancer waits no longer.
const checkTimeout = 5 * time.Second

// livez says that the process runs; it asks nothing else.
func (a *API) livez(w http.ResponseWriter, r *http.Request) {
	a.plain(w, r, http.StatusOK, "ok\n")
}

// readyz says whether deliveries can be taken. With ?verbose it lists each check.
func (a *API) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), checkTimeout)
	defer cancel()
	results := make([]error, len(a.Checks))
	var wg sync.WaitGroup
	for i, c := range a.Checks {
		wg.Go(func() { results[i] = c.Run(ctx) })
	}
	wg.Wait()
	status, verbose := http.StatusOK, r.URL.Query().Has("verbose")
	var lines strings.Builder
	for i, c := range a.Checks {
		switch {
		case results[i] != nil && c.Only:
			fmt.Fprintf(&lines, "[!] %s: %v\n", c.Name, results[i])
		case results[i] != nil:
			status = http.StatusServiceUnavailable
			fmt.Fprintf(&lines, "[-] %s: %v\n", c.Name, results[i])
		case verbose:
			fmt.Fprintf(&lines, "[+] %s\n", c.Name)
		}
	}
	word := "ready\n"
	if status != http.StatusOK {
		word = "not ready\n"
	}
	a.plain(w, r, status, lines.String()+word)
}

// index names what is served here.
func (a *API) index(w http.ResponseWriter, r *http.Request) {
	var b strings.Builder
	fmt.Fprintf(&b, "edigw %s, operations listener\n\n", a.Version)
	for _, line := range []string{
		"/api/v1/openapi.json  what the API offers (OpenAPI 3.1)",
		"/api/v1/messages      what came in, and its outcome",
		"/api/v1/drift         known ids that came with other content",
		"/api/v1/documents     invoices and despatch advices",
		"/api/v1/partners      who may send",
		"/metrics              for Prometheus",
		"/livez  /readyz       health; /readyz?verbose lists the checks",
	} {
		fmt.Fprintln(&b, line)
	}
	b.WriteString("\nThe API needs a token: edigw tokens create --role viewer\n")
	a.plain(w, r, http.StatusOK, b.String())
}

func (a *API) plain(w http.ResponseWriter, r *http.Request, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	if _, err := w.Write([]byte(text)); err != nil {
		a.Log.DebugContext(r.Context(), "the client went away during the answer", "path", r.URL.Path, "err", err)
	}
}
