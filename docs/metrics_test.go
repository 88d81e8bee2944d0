package docs_test

import (
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/pgtest"
)

var (
	metricRow = regexp.MustCompile("(?m)^\\| `(edigw_[a-z_]+)` \\| ([a-z]+) \\|([^|]*)\\|")
	typeLine  = regexp.MustCompile(`(?m)^# TYPE (edigw_[a-z_]+) ([a-z]+)$`)
	labelName = regexp.MustCompile(`([a-z_]+)="`)
	metric    = regexp.MustCompile(`\bedigw_[a-z_]+`)
)

// TestMetricsAreDocumented holds the table against a gateway that has received,
// refused and turned away.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	shown := map[string]string{}
	for _, m := range metricRow.FindAllStringSubmatch(readPage(t, "docs/reference/metrics.md").text, -1) {
		labels := strings.FieldsFunc(m[3], func(r rune) bool { return strings.ContainsRune("` ,", r) })
		slices.Sort(labels)
		shown[m[1]] = m[2] + " " + strings.Join(labels, " ")
	}

	s := newSandbox(t, pgtest.URL(t), true)
	s.run(readPage(t, "docs/tutorial/first-partner.md"))
	response, err := http.Get("http://127.0.0.1:" + s.port("8081") + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	s.end()

	are := map[string]string{}
	for _, m := range typeLine.FindAllStringSubmatch(string(b), -1) {
		labels := map[string]bool{}
		for _, series := range regexp.MustCompile(`(?m)^`+m[1]+`(?:_bucket)?\{(.*)\}`).FindAllStringSubmatch(string(b), -1) {
			for _, l := range labelName.FindAllStringSubmatch(series[1], -1) {
				labels[l[1]] = true
			}
		}
		delete(labels, "le")
		are[m[1]] = m[2] + " " + strings.Join(slices.Sorted(maps.Keys(labels)), " ")
	}
	// The tutorial's partner has no certificate and no habits, and its organisation no key;
	// cmd/edigw tests them.
	are["edigw_certificate_expiry_timestamp_seconds"] = "gauge partner purpose"
	are["edigw_partner_expected_by_timestamp_seconds"] = "gauge partner"
	are["edigw_key_expiry_timestamp_seconds"] = "gauge organisation purpose"
	if diff := cmp.Diff(are, shown); diff != "" {
		t.Errorf("metrics (-) and docs/reference/metrics.md (+):\n%s", diff)
	}

	monitor, err := os.ReadFile(filepath.Join(root, "docs/how-to/monitor.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range metric.FindAllString(string(monitor), -1) {
		if _, known := are[name]; !known {
			t.Errorf("docs/how-to/monitor.md names %s, which is no metric", name)
		}
	}
}
