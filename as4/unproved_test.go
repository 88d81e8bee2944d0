package as4_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/gateway"
)

func TestUnproved(t *testing.T) {
	// stall sends the beginning of a request, and no more of it.
	stall := func(t *testing.T, r *rig, begin string) net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() }) // nothing of it is wanted
		if _, err := fmt.Fprintf(c, "POST /as4 HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: 1000000000\r\n\r\n%s", framed, begin); err != nil {
			t.Fatal(err)
		}
		return c
	}
	t.Run("requests that stop before their SOAP part keep no partner out, however much was read of them", func(t *testing.T) {
		r := newRig(t, "")
		held := prometheus.NewGauge(prometheus.GaugeOpts{Name: "held"})
		r.handler.Spool = &gateway.Spool{Dir: t.TempDir(), Threshold: 1 << 10, Gauge: held}
		r.handler.Limits = as4.Limits{MaxUnproved: 1 << 20}
		const each, stalled = 340 << 10, 3
		for range stalled {
			stall(t, r, "--b\r\nContent-ID: <early>\r\n\r\n"+strings.Repeat("x", each))
		}
		waitFor(t, "nearly all of the room is taken", func() bool {
			var m dto.Metric
			return held.Write(&m) == nil && m.GetGauge().GetValue() > stalled*(each-(64<<10))
		})
		for i := range 20 {
			ref := fmt.Sprint("REF", i)
			r.received(r.compose(message(ref), gzipped(interchange(ref, "R-"+ref, "1.00")+strings.Repeat("\r\n", 1<<10))))
		}
		if n := r.posted(); n != 20 {
			t.Errorf("%d documents", n)
		}
	})
	t.Run("who sends a copy of an envelope of the partner's, and no parts, keeps it out no more", func(t *testing.T) {
		r := newRig(t, "")
		c := r.compose(message("m1"), gzipped(interchange("REF1", "R-1", "1.00")))
		whole := string(r.wireOf(c))
		end := strings.Index(whole, "Envelope>\r\n") + len("Envelope>\r\n")
		if end < 1000 {
			t.Fatalf("the envelope is not found in\n%.2000s", whole)
		}
		const stalled = 150 // more than use one name
		contentType := c.ContentType
		for range stalled {
			conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }() // nothing of it is wanted
			if _, err := fmt.Fprintf(conn, "POST /as4 HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", contentType, len(whole), whole[:end+20]); err != nil {
				t.Fatal(err)
			}
		}
		r.received(c)
	})
}
