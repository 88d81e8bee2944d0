package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// healthCommand asks the gateway of this machine for its health: for a container's health
// check and a probe, where there is no curl.
type healthCommand struct {
	Live bool `help:"Only whether the process answers (/livez), and not whether deliveries can be taken (/readyz)."`
}

// healthPatience is longer than /readyz takes for all its checks.
const healthPatience = 8 * time.Second

// Run shows what the gateway says and fails where it is not well.
func (c healthCommand) Run(a *app) error {
	at, err := readLocalAccess(a.grammar.DataDir)
	if err != nil {
		return fmt.Errorf("no gateway found on this machine: %w; start one with `edigw serve`, or name its data folder with --data-dir", err)
	}
	path := "/readyz"
	if c.Live {
		path = "/livez"
	}
	ctx, cancel := context.WithTimeout(a.ctx, healthPatience)
	defer cancel()
	said, err := health(ctx, at, path)
	if err != nil {
		return err
	}
	_, err = io.WriteString(a.stdout, said)
	return err
}

// health gives what a gateway says at path; it is an error where that is not 200.
func health(ctx context.Context, at localAccess, path string) (string, error) {
	c, err := httpClient(at.Certificate)
	if err != nil {
		return "", err
	}
	defer c.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.URL+path, nil)
	if err != nil {
		return "", err
	}
	resp, err := c.Do(r)
	if err != nil {
		return "", fmt.Errorf("%w; is the gateway running?", err)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if e := resp.Body.Close(); err == nil {
		err = e
	}
	if err != nil {
		return "", fmt.Errorf("%s%s: %w", at.URL, path, err)
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s%s: %s\n%s", at.URL, path, resp.Status, strings.TrimSpace(printableLines(string(text))))
	}
	return string(text), nil
}
