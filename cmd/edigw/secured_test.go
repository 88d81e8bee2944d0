package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// serveSecured runs a gateway with a master key, which may send to this machine. must runs
// a command that has to end well; direct says to one that it goes to the database, past
// the gateway.
func serveSecured(t *testing.T) (g *gatewayUnderTest, must func(args ...string) ran, direct func(args ...string) []string) {
	t.Helper()
	master := strings.Repeat("ab", 32)
	g = serveGateway(t, "--master-key", master, "--allow-targets", "127.0.0.1")
	must = func(args ...string) ran {
		t.Helper()
		return g.must(nil, args...)
	}
	direct = func(args ...string) []string { return append(args, "--database-url", g.url, "--master-key", master) }
	return g, must, direct
}

// write makes a file of the gateway's folder and gives its path.
func (g *gatewayUnderTest) write(name, text string) string {
	g.t.Helper()
	path := filepath.Join(g.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		g.t.Fatal(err)
	}
	return path
}
