package as2

import (
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

func TestUnproved(t *testing.T) {
	t.Run("slow connections that use a partner's name keep none of its messages out", func(t *testing.T) {
		in := newIngress(t)
		g := &gateway.Gateway{}
		var asked atomic.Int64
		var who atomic.Pointer[partners.Partner]
		in.Admit = func(p *partners.Partner, address string) (*gateway.Entry, bool) {
			defer asked.Add(1)
			who.Store(p)
			return g.AdmitUnproved(p, address)
		}
		in.Reserve = g.ReserveUnproved
		const slow = 300
		for i := range slow {
			c, err := net.Dial("tcp", strings.TrimPrefix(in.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }() // nothing of it is wanted
			// In chunks, so that its Message-ID is reserved.
			if _, err := fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\nAS2-From: TALQUIST-AS2\r\nAS2-To: NORDHAFEN-AS2\r\nMessage-ID: <m%d@talquist.example>\r\nContent-Type: application/EDIFACT\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nUNB+\r\n", i%100); err != nil {
				t.Fatal(err)
			}
		}
		for end := time.Now().Add(time.Minute); asked.Load() < slow; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d came", asked.Load())
			}
		}
		c, _ := wrap(t, Wrapping{Signature: signature(known().partner), Envelope: envelope(known().us)}, edifact, 0)
		if a := in.send(c, signedMDN, "Message-ID: <m1@talquist.example>"); a.says() != "200 signed processed" {
			t.Errorf("the genuine message: got %s", a.says())
		}
		leave, ok := g.Admit(who.Load())
		if !ok {
			t.Fatal("nor over another transport, where it is proved at once")
		}
		leave()
	})
	t.Run("what is proved is the partner's while it is received, and what is refused is not", func(t *testing.T) {
		in := newIngress(t)
		g := &gateway.Gateway{}
		for range 512 { // the partner's share, of what is proved
			if _, ok := g.Admit(&partners.Partner{ID: "talquist"}); !ok {
				t.Fatal("not let in")
			}
		}
		in.Admit = func(p *partners.Partner, address string) (*gateway.Entry, bool) {
			if p.ID != "talquist" {
				t.Errorf("asked for %s", p.ID)
			}
			return g.AdmitUnproved(p, address)
		}
		genuine, _ := wrap(t, Wrapping{Signature: signature(known().partner)}, edifact, 0)
		if a := in.send(genuine, signedMDN); a.status != 503 || len(in.got) != 0 {
			t.Errorf("beyond the share: got %s", a.says())
		}
		if a := in.send(edifact, signedMDN); a.status != 200 || len(in.got) != 1 { // not signed, as it has to be
			t.Errorf("a refusal: got %s", a.says())
		}
	})
}
