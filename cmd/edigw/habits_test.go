package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/edigw/edigw/habits"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/pgtest"
)

func TestHabitMetrics(t *testing.T) {
	pool := pgtest.New(t)
	for _, sql := range []string{
		`insert into habit (partner_id, delivery_id, seq, evidence, expected_by, silent_since) values
			('acme', gen_random_uuid(), 0, '{}', to_timestamp(1800000000), to_timestamp(1800000060)),
			('bolt', gen_random_uuid(), 0, '{}', null, null),
			('gone', gen_random_uuid(), 0, '{}', null, now())`,
		`insert into sequence_gap (partner_id, gap_id, series, test, numbers, missing, width, before, after, since, opened_at, closed_at) values
			('bolt', gen_random_uuid(), 'unb:a:14:b:14:#', false, '{2,3}', '{2,3}', 0, '1', '4', now(), now(), null),
			('bolt', gen_random_uuid(), 'unb:a:14:b:14:#', false, '{6}', '{}', 0, '5', '7', now(), now(), now()),
			('bolt', gen_random_uuid(), 'unb:test:a:14:b:14:#', true, '{2}', '{2}', 0, '1', '3', now(), now(), null)`,
	} {
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	c := habitCollector{habits.Store{Pool: pool}, func() []*partners.Partner {
		return []*partners.Partner{{ID: "acme"}, {ID: "bolt"}, {ID: "cord"}}
	}, func(err error) { t.Error(err) }}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	found, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range found {
		for _, m := range f.Metric {
			got[f.GetName()+" "+m.Label[0].GetValue()] = m.GetGauge().GetValue()
		}
	}
	want := map[string]float64{ // of those who are configured, whether they are known or not
		"edigw_partner_expected_by_timestamp_seconds acme": 1800000000,
		"edigw_partner_silent acme":                        1,
		"edigw_partner_silent bolt":                        0,
		"edigw_partner_silent cord":                        0,
		"edigw_sequence_gaps acme":                         0,
		"edigw_sequence_gaps bolt":                         1,
		"edigw_sequence_gaps cord":                         0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
