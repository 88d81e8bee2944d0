package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const (
	rulesFile = "deploy/prometheus/edigw.rules.yaml"
	testsFile = "deploy/prometheus/edigw.test.yaml"
	pages     = "docs/runbook"
)

// rule is one alert, as Prometheus reads it.
type rule struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

func rules(t *testing.T) (list []rule) {
	t.Helper()
	var file struct {
		Groups []struct {
			Name  string `yaml:"name"`
			Rules []rule `yaml:"rules"`
		} `yaml:"groups"`
	}
	if err := yaml.UnmarshalWithOptions([]byte(readFile(t, rulesFile)), &file, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		list = append(list, g.Rules...)
	}
	if len(list) == 0 {
		t.Fatal("there are no rules")
	}
	return list
}

func TestRules(t *testing.T) {
	promtool := tool(t, "promtool", "prometheus/promtool")
	for _, args := range [][]string{{"check", "rules", "edigw.rules.yaml"}, {"test", "rules", "edigw.test.yaml"}} {
		t.Run("promtool "+strings.Join(args[:2], " "), func(t *testing.T) {
			t.Parallel()
			c := exec.CommandContext(t.Context(), promtool, args...)
			c.Dir = "prometheus"
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestEveryAlertIsTried holds that the tests of the rules have of each alert a series that
// fires it and one that does not.
func TestEveryAlertIsTried(t *testing.T) {
	var file struct {
		Tests []struct {
			Series []any `yaml:"input_series"`
			Alerts []struct {
				Name string `yaml:"alertname"`
				Exp  []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		} `yaml:"tests"`
	}
	if err := yaml.Unmarshal([]byte(readFile(t, testsFile)), &file); err != nil {
		t.Fatal(err)
	}
	fires, quiet := map[string]bool{}, map[string]bool{}
	for _, group := range file.Tests {
		for _, a := range group.Alerts {
			switch {
			case len(a.Exp) > 0:
				fires[a.Name] = true
			case len(group.Series) > 0:
				quiet[a.Name] = true
			}
		}
	}
	for _, r := range rules(t) {
		if !fires[r.Alert] {
			t.Errorf("%s has no series that fires it in %s", r.Alert, testsFile)
		}
		if !quiet[r.Alert] {
			t.Errorf("%s has no series that does not fire it in %s", r.Alert, testsFile)
		}
	}
}

var (
	metricName = regexp.MustCompile(`\b(?:edigw|process|go)_[a-z_]+`)
	severities = []string{"critical", "warning", "info"}
)

// known reports whether a metric is one of the reference's, or of every Go program's.
func known(reference, name string) bool {
	for _, suffix := range []string{"", "_bucket", "_count", "_sum"} {
		if short, ok := strings.CutSuffix(name, suffix); ok && strings.Contains(reference, "`"+short+"`") {
			return true
		}
	}
	return slices.Contains([]string{"process_start_time_seconds", "process_open_fds", "process_max_fds", "process_resident_memory_bytes", "go_memstats_heap_inuse_bytes"}, name)
}

func TestAlertsSayWhatIsNeeded(t *testing.T) {
	reference := readFile(t, "docs/reference/metrics.md")
	seen := map[string]bool{}
	for _, r := range rules(t) {
		if seen[r.Alert] {
			t.Errorf("%s stands there twice", r.Alert)
		}
		seen[r.Alert] = true
		if !slices.Contains(severities, r.Labels["severity"]) {
			t.Errorf("%s: severity %q is none of %v", r.Alert, r.Labels["severity"], severities)
		}
		for _, name := range []string{"summary", "description"} {
			if r.Annotations[name] == "" {
				t.Errorf("%s has no %s", r.Alert, name)
			}
		}
		if want := "https://github.com/edigw/edigw/blob/main/" + pages + "/" + r.Alert + ".md"; r.Annotations["runbook_url"] != want {
			t.Errorf("%s: runbook_url is %q, not %s", r.Alert, r.Annotations["runbook_url"], want)
		}
		for _, name := range metricName.FindAllString(r.Expr, -1) {
			if !known(reference, name) {
				t.Errorf("%s asks for %s, which docs/reference/metrics.md does not name", r.Alert, name)
			}
		}
	}
}

func TestEveryAlertHasItsPage(t *testing.T) {
	index := readFile(t, pages+"/README.md")
	of := map[string]rule{}
	for _, r := range rules(t) {
		of[r.Alert] = r
		text, err := os.ReadFile(filepath.Join(root, pages, r.Alert+".md"))
		if err != nil {
			t.Errorf("%s has no page: %v", r.Alert, err)
			continue
		}
		if !strings.Contains(string(text), "Severity: `"+r.Labels["severity"]+"`") {
			t.Errorf("the page of %s does not name its severity, %s", r.Alert, r.Labels["severity"])
		}
		for _, heading := range []string{"What it means", "What to look at", "What to do", "What not to do"} {
			_, behind, found := strings.Cut(string(text), "\n## "+heading+"\n\n")
			if !found || strings.HasPrefix(behind, "#") || strings.TrimSpace(behind) == "" {
				t.Errorf("the page of %s does not say %s", r.Alert, strings.ToLower(heading))
			}
		}
		if row := "| [" + r.Alert + "](" + r.Alert + ".md) | `" + r.Labels["severity"] + "` |"; !strings.Contains(index, row) {
			t.Errorf("%s/README.md has no row %s", pages, row)
		}
	}
	files, err := os.ReadDir(filepath.Join(root, pages))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name := strings.TrimSuffix(f.Name(), ".md"); name != "README" && of[name].Alert == "" {
			t.Errorf("%s/%s is the page of no alert", pages, f.Name())
		}
	}
}
