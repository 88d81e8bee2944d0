package deploy_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/edigw/edigw/pgtest"
)

// running is a gateway to which three partners have sent over three transports: a first
// message, its repeat, a changed copy.
type running struct {
	dir string // its data
	ops string // URL of its operations listener
}

// demo starts `edigw demo`, and waits until all has been sent.
func demo(t *testing.T) running {
	t.Helper()
	dir := pgtest.Dir(t)
	c := exec.Command(program(t), "demo", "--data-dir", dir, "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0", "--color", "never")
	told := start(t, c)
	told.wait(t, "Ctrl-C", 2*time.Minute)
	var at struct {
		URL string `json:"url"`
	}
	text, err := os.ReadFile(filepath.Join(dir, "api.json"))
	if err == nil {
		err = json.Unmarshal(text, &at)
	}
	if err != nil {
		t.Fatal(err)
	}
	return running{dir: dir, ops: at.URL}
}

// output is what a program has written so far.
type output struct {
	mu    sync.Mutex
	text  bytes.Buffer
	ended chan struct{}
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// start runs a program until the test ends.
func start(t *testing.T, c *exec.Cmd) *output {
	t.Helper()
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout, c.Stderr = to, to
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	o := &output{ended: make(chan struct{})}
	go func() {
		defer close(o.ended)
		lines := bufio.NewReader(from)
		for {
			line, err := lines.ReadString('\n')
			o.mu.Lock()
			o.text.WriteString(line)
			o.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := c.Wait(); err != nil {
			t.Errorf("%s: %v\n%s", c.Path, err, o)
		}
		<-o.ended
		if err := from.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

// wait waits until the program has written a text.
func (o *output) wait(t *testing.T, text string, patience time.Duration) {
	t.Helper()
	for end := time.Now().Add(patience); !strings.Contains(o.String(), text); time.Sleep(50 * time.Millisecond) {
		select {
		case <-o.ended:
			t.Fatalf("it has ended before it said %q:\n%s", text, o)
		default:
		}
		if time.Now().After(end) {
			t.Fatalf("it does not say %q:\n%s", text, o)
		}
	}
}

// prometheus scrapes a gateway each second and evaluates the rules.
func prometheus(t *testing.T, g running) (url string) {
	t.Helper()
	rules, err := filepath.Abs("prometheus/edigw.rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir, at := t.TempDir(), freeAddress(t)
	config := fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%q]\nscrape_configs:\n  - job_name: edigw\n    static_configs: [{targets: [%q]}]\n",
		rules, strings.TrimPrefix(g.ops, "http://"))
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	told := start(t, exec.Command(tool(t, "promtool", "prometheus/prometheus"), "--config.file="+filepath.Join(dir, "prometheus.yml"),
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+at))
	told.wait(t, "Server is ready to receive web requests", time.Minute)
	return "http://" + at
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

// sample is one series of an answer of Prometheus.
type sample struct {
	Metric map[string]string `json:"metric"`
	Value  [2]any            `json:"value"`
}

// ask asks Prometheus an expression for now.
func ask(t *testing.T, at, expr string) []sample {
	t.Helper()
	var answer struct {
		Data struct {
			Result []sample `json:"result"`
		} `json:"data"`
	}
	getJSON(t, at+"/api/v1/query?query="+url.QueryEscape(expr), &answer)
	return answer.Data.Result
}

func getJSON(t *testing.T, at string, v any) {
	t.Helper()
	r, err := http.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if r.StatusCode != http.StatusOK {
		t.Errorf("%s: %s\n%s", at, r.Status, text)
	}
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatalf("%s: %v\n%s", at, err, text)
	}
}
