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

// python, java and node are the command lines of our programs around the peers in
// dir.
func python(dir, program string, arguments ...string) []string {
	return append([]string{filepath.Join(dir, "as2", "python", "bin", "python"), filepath.Join("bench/as2/programs", program)}, arguments...)
}

func java(dir, peer, program string, arguments ...string) []string {
	path := filepath.Join(dir, "as2", peer, "jars", "*") + string(os.PathListSeparator) + filepath.Join(dir, "as2", peer, "classes")
	return append([]string{"java", "-Xmx256m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", path, program}, arguments...)
}

func node(dir, program string, arguments ...string) []string {
	return append([]string{"env", "NODE_PATH=" + filepath.Join(dir, "as2", "node", "node_modules"), "node", filepath.Join("bench/as2/programs", program)}, arguments...)
}

// program is a sender that is told a message a line.
type program struct {
	process   *peers.Process
	checksMIC bool   // it compares the MIC with its own
	listens   string // port that it takes asynchronous MDNs at, "" where it takes none
}

func (p program) send(m message) (answer, error) {
	line, err := p.process.Ask(m.line())
	if err != nil {
		return answer{}, err
	}
	return parseAnswer(line)
}

// server is a receiver.
type server struct {
	process *peers.Process
	address string // http://host:port/
	folder  string
	seen    int // arrivals that were looked at

	// bare: what it received stands in the folder alone, under its name.
	bare bool
}

func startServer(ctx context.Context, name, folder string, argv []string) (*server, error) {
	p, err := peers.Start(ctx, name, argv...)
	if err != nil {
		return nil, err
	}
	port, err := listening(p)
	return &server{process: p, address: "http://127.0.0.1:" + port + "/", folder: folder}, err
}

// listening reads the line that tells a port.
func listening(p *peers.Process) (port string, err error) {
	line, err := p.Line()
	if err != nil {
		return "", err
	}
	port, is := strings.CutPrefix(line, "listening ")
	if !is {
		return "", fmt.Errorf("no port: %q", line)
	}
	return port, nil
}

// arrived gives what has come since it was last asked.
func (s *server) arrived() (list []arrival, err error) {
	if s.bare {
		return s.bareArrived()
	}
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
		if a.content, err = os.ReadFile(filepath.Join(s.folder, fmt.Sprint(s.seen, ".0"))); err != nil {
			return nil, err
		}
		list = append(list, a)
	}
}

// bareArrived takes away what it gives.
func (s *server) bareArrived() (list []arrival, err error) {
	found, err := os.ReadDir(s.folder)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	for _, f := range found {
		path := filepath.Join(s.folder, f.Name())
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		list = append(list, arrival{Filename: f.Name(), content: content, untold: true})
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return list, nil
}
