package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/edigw/edigw/bench/peers"
)

// java is the command line of one of our programs around phase4.
func java(dir, program string, arguments ...string) []string {
	path := filepath.Join(dir, "as4", "jars", "*") + string(os.PathListSeparator) + filepath.Join(dir, "as4", "classes")
	return append([]string{"java", "-Xmx256m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", path, program}, arguments...)
}

// client is phase4 sending.
type client struct{ process *peers.Process }

// startClient has own send to other.
func startClient(ctx context.Context, dir, keys, own, other string) (client, error) {
	p, err := peers.Start(ctx, "phase4's client", java(dir, "Client", keys, own, other)...)
	return client{p}, err
}

// send sends a message and gives what came back.
func (c client) send(m message) (a answer, err error) {
	line, err := json.Marshal(m)
	if err != nil {
		return a, err
	}
	told, err := c.process.Ask(string(line))
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal([]byte(told), &a); err != nil {
		return a, fmt.Errorf("phase4's client tells %q: %w", told, err)
	}
	return a, nil
}

// server is phase4 receiving.
type server struct {
	process *peers.Process
	address string // http://host:port
	folder  string
	seen    int // arrivals that were looked at
}

// startServer has party receive from other.
func startServer(ctx context.Context, dir, keys, party, other, folder string) (*server, error) {
	p, err := peers.Start(ctx, "phase4's server", java(dir, "Server", keys, party, other, folder)...)
	if err != nil {
		return nil, err
	}
	line, err := p.Line()
	if err != nil {
		return nil, err
	}
	port, is := strings.CutPrefix(line, "listening ")
	if !is {
		return nil, fmt.Errorf("phase4's server tells %q", line)
	}
	return &server{process: p, address: "http://127.0.0.1:" + port, folder: folder}, nil
}

// arrived gives what has come since it was last asked.
func (s *server) arrived() (list []arrival, err error) {
	for ; ; s.seen++ {
		text, err := os.ReadFile(filepath.Join(s.folder, fmt.Sprint(s.seen, ".json")))
		if os.IsNotExist(err) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		var a arrival
		if err := json.Unmarshal(text, &a); err != nil {
			return nil, err
		}
		for i := range a.Types {
			content, err := os.ReadFile(filepath.Join(s.folder, fmt.Sprint(s.seen, ".", i)))
			if err != nil {
				return nil, err
			}
			a.payloads = append(a.payloads, content)
		}
		list = append(list, a)
	}
}
