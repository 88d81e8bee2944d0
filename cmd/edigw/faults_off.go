//go:build !faults

package main

import (
	"net/http"

	"github.com/edigw/edigw/gateway"
)

// withFaults gives the ingress as it is: only a build with the tag faults can be
// told to fail.
func withFaults(_ *app, _ *gateway.Gateway, ingress http.Handler) http.Handler { return ingress }

// watchHook does nothing, likewise.
func watchHook(*app) func(point string) { return func(string) {} }
