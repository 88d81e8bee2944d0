package gateway

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	m, err := NewMetrics(registry, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	leave := m.Enter("http")
	now := time.Unix(1_800_000_000, 0)
	m.Count(&Line{Transport: "http", Partner: "acme", Receipt: &Receipt{Answer: ToldDrift, Verdict: Drift}, Took: 3 * time.Millisecond}, now)
	m.Count(&Line{Transport: "http", Partner: UnknownPartner, Reason: "unknown-token"}, now)
	m.Count(&Line{Transport: "as2", Partner: "acme", Err: ErrBusy}, now)
	m.Count(&Line{Transport: "as4", Partner: UnknownPartner, Claimed: "acme", Reason: "failed-authentication"}, now)

	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, s := range f.GetMetric() {
			name := f.GetName()
			if name == "edigw_build_info" {
				got[name] = s.GetGauge().GetValue()
				continue // its labels are those of the build
			}
			for _, l := range s.GetLabel() {
				name += " " + l.GetValue()
			}
			got[name] = s.GetCounter().GetValue() + s.GetGauge().GetValue() + float64(s.GetHistogram().GetSampleCount())
		}
	}
	want := map[string]float64{
		"edigw_build_info":                                      1,
		"edigw_deliveries_total busy acme as2":                  1,
		"edigw_deliveries_total quarantined acme http":          1,
		"edigw_deliveries_total refused unknown as4":            1,
		"edigw_deliveries_total refused unknown http":           1,
		"edigw_inflight http":                                   1,
		"edigw_partner_last_delivery_timestamp_seconds acme":    1_800_000_000,
		"edigw_receive_seconds as2":                             1,
		"edigw_receive_seconds http":                            1,
		"edigw_rejections_total acme failed-authentication as4": 1,
		"edigw_rejections_total acme payload-drift http":        1,
		"edigw_rejections_total unknown unknown-token http":     1,
		"edigw_spool_bytes":                                     0,
		"edigw_verdicts_total http drift":                       1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	leave()

	t.Run("registered twice is an error", func(t *testing.T) {
		if _, err := NewMetrics(registry, "1.2.3"); err == nil {
			t.Error("got none")
		}
	})

	t.Run("none at all measures nothing", func(t *testing.T) {
		var none *Metrics
		none.Enter("http")()
		none.Count(&Line{}, now)
	})
}
