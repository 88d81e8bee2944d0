package deploy_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// dashboard is what is held of the dashboard.
type dashboard struct {
	UID        string  `json:"uid"`
	Panels     []panel `json:"panels"`
	Templating struct {
		List []struct {
			Name       string `json:"name"`
			Type       string `json:"type"`
			Definition string `json:"definition"`
		} `json:"list"`
	} `json:"templating"`
}

type panel struct {
	ID      int    `json:"id"`
	Type    string `json:"type"`
	Title   string `json:"title"`
	Targets []struct {
		RefID string `json:"refId"`
		Expr  string `json:"expr"`
	} `json:"targets"`
}

// filled puts values into the variables of a query.
func filled(expr string) string {
	return strings.NewReplacer("$job", "edigw", "$partner", ".*", "$__rate_interval", "15s").Replace(expr)
}

var labelValues = regexp.MustCompile(`^label_values\(([a-z_]+), ([a-z]+)\)$`)

// TestOnARunningGateway asks every query of the dashboard, every rule and every command of
// the runbook of a gateway to which partners have sent.
func TestOnARunningGateway(t *testing.T) {
	g := demo(t)
	at := prometheus(t, g)
	// A rate needs two scrapes.
	for end := time.Now().Add(time.Minute); len(ask(t, at, `count_over_time(up{job="edigw"}[1m]) >= 4`)) == 0; time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the gateway is not scraped")
		}
	}

	t.Run("every query of the dashboard gives something", func(t *testing.T) {
		var d dashboard
		if err := json.Unmarshal([]byte(readFile(t, "deploy/grafana/edigw.json")), &d); err != nil {
			t.Fatal(err)
		}
		var ids []int
		asked := 0
		for _, p := range d.Panels {
			if slices.Contains(ids, p.ID) {
				t.Errorf("two panels have the id %d", p.ID)
			}
			ids = append(ids, p.ID)
			if p.Type != "row" && len(p.Targets) == 0 {
				t.Errorf("%s asks for nothing", p.Title)
			}
			for _, q := range p.Targets {
				asked++
				if expr := filled(q.Expr); strings.Contains(expr, "$") {
					t.Errorf("%s: %s has a variable that is not filled", p.Title, expr)
				} else if len(ask(t, at, expr)) == 0 {
					t.Errorf("%s: %s gives nothing", p.Title, expr)
				}
			}
		}
		if asked < 30 {
			t.Errorf("the dashboard asks for %d things", asked)
		}
		for _, v := range d.Templating.List {
			if v.Type != "query" {
				continue
			}
			m := labelValues.FindStringSubmatch(v.Definition)
			if m == nil {
				t.Errorf("the variable %s is made of %q", v.Name, v.Definition)
			} else if len(ask(t, at, fmt.Sprintf("count by (%s) (%s)", m[2], m[1]))) == 0 {
				t.Errorf("the variable %s has no value", v.Name)
			}
		}
	})

	t.Run("every rule is evaluated, and the changed copy fires", func(t *testing.T) {
		firing := map[string]bool{}
		for end := time.Now().Add(time.Minute); !firing["EdigwDriftCritical"]; time.Sleep(200 * time.Millisecond) {
			var answer struct {
				Data struct {
					Groups []struct {
						Rules []struct {
							Name   string `json:"name"`
							State  string `json:"state"`
							Health string `json:"health"`
							Error  string `json:"lastError"`
						} `json:"rules"`
					} `json:"groups"`
				} `json:"data"`
			}
			getJSON(t, at+"/api/v1/rules", &answer)
			for _, group := range answer.Data.Groups {
				for _, r := range group.Rules {
					firing[r.Name] = r.State == "firing"
					if r.Health == "err" {
						t.Fatalf("%s: %s", r.Name, r.Error)
					}
				}
			}
			if time.Now().After(end) {
				t.Fatal("the drift of the demonstration does not fire EdigwDriftCritical")
			}
		}
		for _, never := range []string{"EdigwDown", "EdigwDeliveriesFailed", "EdigwDeadLetters", "EdigwMixedVersions"} {
			if is, there := firing[never]; is || !there {
				t.Errorf("%s: known %t, fires %t", never, there, is)
			}
		}
	})

	t.Run("every command of the runbook is one of the program", func(t *testing.T) {
		tried := 0
		for _, c := range runbookCommands(t) {
			tried++
			out, err := exec.CommandContext(t.Context(), program(t), append([]string{"--data-dir", g.dir}, c.args...)...).CombinedOutput()
			// 1: the gateway of the test has no such message; 3: findings. 2 is usage.
			if code := exitOf(t, err); code == 2 || code > 5 || code < 0 {
				t.Errorf("%s: `edigw %s` ends with %d:\n%s", c.page, c.text, code, out)
			}
		}
		if tried < 30 {
			t.Errorf("the runbook has %d commands", tried)
		}
	})
}
