package deploy_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

func TestContainerfile(t *testing.T) {
	if out, err := exec.CommandContext(t.Context(), tool(t, "linters", "linters/bin/hadolint"), "--failure-threshold", "style", "Containerfile").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// rendered is what Helm makes of the chart with some values.
type rendered struct {
	Manifests map[string]string `json:"manifests"`
	Lint      struct {
		Messages []struct {
			Severity int    `json:"severity"` // 2 warns, 3 is an error
			Path     string `json:"path"`
			Error    string `json:"error"`
		} `json:"messages"`
		Errors []string `json:"errors"`
	} `json:"lint"`
	Error string `json:"error"`
}

func render(t *testing.T, values string) rendered {
	t.Helper()
	c := exec.CommandContext(t.Context(), tool(t, "linters", "linters/bin/python"), "helm/render.py", "helm/edigw")
	c.Stdin = strings.NewReader(values)
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var r rendered
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

// objects are the rendered ones, by kind and name.
func objects(t *testing.T, r rendered) map[string]map[string]any {
	t.Helper()
	if r.Error != "" {
		t.Fatal(r.Error)
	}
	for _, m := range r.Lint.Messages {
		if m.Severity >= 2 {
			t.Errorf("helm lint: %s: %s", m.Path, m.Error)
		}
	}
	for _, e := range r.Lint.Errors {
		t.Errorf("helm lint: %s", e)
	}
	all := map[string]map[string]any{}
	for _, file := range slices.Sorted(maps.Keys(r.Manifests)) {
		d := yaml.NewDecoder(bytes.NewReader([]byte(r.Manifests[file])))
		for {
			var o map[string]any
			err := d.Decode(&o)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", file, err, r.Manifests[file])
			}
			if o == nil {
				continue
			}
			kind, _ := o["kind"].(string)
			name, _ := at(o, "metadata", "name").(string)
			if kind == "" || name == "" || o["apiVersion"] == nil {
				t.Errorf("%s: an object without kind, name or version: %v", file, o)
			}
			all[kind+" "+name] = o
		}
	}
	return all
}

// at walks into an object by keys and indexes.
func at(o any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := o.(map[string]any)
			o = m[step]
		case int:
			l, _ := o.([]any)
			if step >= len(l) {
				return nil
			}
			o = l[step]
		}
	}
	return o
}

func TestChart(t *testing.T) {
	const everything = `{
		"database": {"mode": "embedded"}, "serviceMonitor": {"enabled": true}, "prometheusRule": {"enabled": true, "labels": {"release": "prometheus"}},
		"tls": {"secret": "edigw-tls"}, "secrets": {"master_key": {"name": "edigw-master-key", "key": "key"}},
		"settings": {"workers": 4, "tls_suites": "compatible", "trusted_proxies": ["10.0.0.0/8"]}}`
	external, embedded := objects(t, render(t, `{}`)), objects(t, render(t, everything))

	t.Run("each kind of database has its workload", func(t *testing.T) {
		want := []string{"ConfigMap edigw", "Deployment edigw", "NetworkPolicy edigw", "PodDisruptionBudget edigw", "Service edigw", "Service edigw-operations"}
		if got := slices.Sorted(maps.Keys(external)); !slices.Equal(got, want) {
			t.Errorf("external: %v", got)
		}
		want = []string{"ConfigMap edigw", "NetworkPolicy edigw", "PrometheusRule edigw", "Service edigw", "Service edigw-operations", "ServiceMonitor edigw", "StatefulSet edigw"}
		if got := slices.Sorted(maps.Keys(embedded)); !slices.Equal(got, want) {
			t.Errorf("embedded: %v", got)
		}
		if n := at(embedded["StatefulSet edigw"], "spec", "replicas"); n != uint64(1) {
			t.Errorf("an embedded database has %v processes", n)
		}
	})
	for name, workload := range map[string]any{"external": external["Deployment edigw"], "embedded": embedded["StatefulSet edigw"]} {
		t.Run("the pod is shut in: "+name, func(t *testing.T) {
			pod := at(workload, "spec", "template", "spec")
			for what, is := range map[string][2]any{
				"runs as root":              {at(pod, "securityContext", "runAsNonRoot"), true},
				"has any system call":       {at(pod, "securityContext", "seccompProfile", "type"), "RuntimeDefault"},
				"may reach the cluster":     {at(pod, "automountServiceAccountToken"), false},
				"may get more rights":       {at(pod, "containers", 0, "securityContext", "allowPrivilegeEscalation"), false},
				"may write its own files":   {at(pod, "containers", 0, "securityContext", "readOnlyRootFilesystem"), true},
				"has capabilities":          {at(pod, "containers", 0, "securityContext", "capabilities", "drop", 0), "ALL"},
				"asks elsewhere for health": {at(pod, "containers", 0, "readinessProbe", "httpGet", "path"), "/readyz"},
				"lives by another answer":   {at(pod, "containers", 0, "livenessProbe", "httpGet", "path"), "/livez"},
			} {
				if is[0] != is[1] {
					t.Errorf("it %s: %v", what, is[0])
				}
			}
			mounts := map[any]bool{}
			for _, m := range at(pod, "containers", 0, "volumeMounts").([]any) {
				mounts[at(m, "name")] = true
			}
			volumes := map[any]bool{}
			for _, v := range at(pod, "volumes").([]any) {
				volumes[at(v, "name")] = true
			}
			if name == "embedded" {
				volumes[at(workload, "spec", "volumeClaimTemplates", 0, "metadata", "name")] = true
			}
			if !maps.Equal(mounts, volumes) {
				t.Errorf("mounts %v of volumes %v", mounts, volumes)
			}
		})
	}
	t.Run("the rules are those that are tried", func(t *testing.T) {
		if readFile(t, "deploy/helm/edigw/edigw.rules.yaml") != readFile(t, rulesFile) {
			t.Errorf("deploy/helm/edigw/edigw.rules.yaml is not %s: copy it", rulesFile)
		}
		groups, _ := at(embedded["PrometheusRule edigw"], "spec", "groups").([]any)
		n := 0
		for _, g := range groups {
			list, _ := at(g, "rules").([]any)
			n += len(list)
		}
		if want := len(rules(t)); n != want {
			t.Errorf("the chart has %d rules of %d", n, want)
		}
	})
	t.Run("the program takes its settings", func(t *testing.T) {
		text, _ := at(embedded["ConfigMap edigw"], "data", "edigw.yaml").(string)
		dir := t.TempDir()
		file := filepath.Join(dir, "edigw.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := exec.CommandContext(t.Context(), program(t), "config", "print", "-o", "json")
		for _, e := range at(embedded["StatefulSet edigw"], "spec", "template", "spec", "containers", 0, "env").([]any) {
			name, _ := at(e, "name").(string)
			value, _ := at(e, "value").(string)
			if under, ok := strings.CutPrefix(value, "/run/secrets/"); ok { // stands there only in the pod
				value = filepath.Join(dir, filepath.Base(under))
				if err := os.WriteFile(value, []byte("a secret\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if name == "EDIGW_CONFIG" {
				value = file
			}
			c.Env = append(c.Env, name+"="+value)
		}
		c.Env = append(c.Env, "HOME="+dir)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, want := range []string{`"compatible"`, `"10.0.0.0/8"`, `"30s"`} {
			if !strings.Contains(string(out), want) {
				t.Errorf("the settings do not have %s:\n%s", want, out)
			}
		}
	})
	for values, want := range map[string]string{
		`{"database": {"mode": "sqlite"}}`:                 "mode",
		`{"replica": 3}`:                                   "replica",
		`{"goMemLimit": "lots"}`:                           "goMemLimit",
		`{"settings": {"database_url": "postgres://x:y"}}`: "database_url",
		`{"secrets": {"master_key": "in the clear"}}`:      "master_key",
		`{"operations": {"port": 70000}}`:                  "port",
	} {
		t.Run("what is wrong is refused: "+want, func(t *testing.T) {
			if r := render(t, values); !strings.Contains(r.Error, want) {
				t.Errorf("%s: %q", values, r.Error)
			}
		})
	}
}
