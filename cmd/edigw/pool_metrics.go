package main

import (
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
)

// poolCollector tells how the database's connections are used.
type poolCollector struct {
	pool *pgxpool.Pool
}

var (
	poolConnections = prometheus.NewDesc("edigw_database_connections", "Connections to the database by state.", []string{"state"}, nil)
	poolLimit       = prometheus.NewDesc("edigw_database_connections_max", "Connections to the database at most.", nil, nil)
	poolWaits       = prometheus.NewDesc("edigw_database_waits_total", "Times that a connection had to be waited for.", nil, nil)
	poolWaited      = prometheus.NewDesc("edigw_database_wait_seconds_total", "Time spent waiting for a connection.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c poolCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{poolConnections, poolLimit, poolWaits, poolWaited} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c poolCollector) Collect(to chan<- prometheus.Metric) {
	s := c.pool.Stat()
	to <- prometheus.MustNewConstMetric(poolConnections, prometheus.GaugeValue, float64(s.AcquiredConns()), "in_use")
	to <- prometheus.MustNewConstMetric(poolConnections, prometheus.GaugeValue, float64(s.IdleConns()), "idle")
	to <- prometheus.MustNewConstMetric(poolLimit, prometheus.GaugeValue, float64(s.MaxConns()))
	to <- prometheus.MustNewConstMetric(poolWaits, prometheus.CounterValue, float64(s.EmptyAcquireCount()))
	to <- prometheus.MustNewConstMetric(poolWaited, prometheus.CounterValue, s.EmptyAcquireWaitTime().Seconds())
}
