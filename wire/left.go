package wire

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
)

// Left gives a context for a request, and what tells whether that has left: its header was
// written to a connection. From then on nobody knows whether it arrived, until there is an
// answer.
func Left(ctx context.Context) (context.Context, func() bool) {
	var left atomic.Bool
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { left.Store(true) }}), left.Load
}

// Taken reports whether a request may have been taken that was answered by a status: a
// success, or a server that lost what stands behind it (RFC 9110 §15.6). 503 says that it
// was not.
func Taken(status int) bool {
	return status/100 == 2 || status/100 == 5 && status != 503
}
