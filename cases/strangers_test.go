package cases_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/edigw/edigw/as2"
	"github.com/edigw/edigw/as4"
)

// What the gateway keeps of one partner's and day's deliveries that fail verification.
const (
	quarantineRows  = 1000
	quarantineBytes = 64 << 20
)

// storm is what comes over a transport in great numbers from who does not belong.
type storm struct {
	name string
	yaml string // talquist
	// ask posts a request over a connection of its own, and gives what was told.
	ask func(r *rig, request []byte) string

	strange     func(i int) []byte // a message under names that are nobody's
	toldStrange string
	forgeries   []forgery
	large       func(i int) []byte // a forged message of about a megabyte
	toldLarge   string
	genuine     []byte // the message of the id m-1
	toldGenuine string
}

// forgery is what somebody else made under a name that is somebody's.
type forgery struct {
	name    string
	request func(id string) []byte
	told    string
}

var storms = []func(*testing.T) *storm{stormOverAS2, stormOverAS4}

func stormOverAS2(t *testing.T) *storm {
	talquist, other := newSigner(t, "talquist"), newSigner(t, "somebody else")
	good := invoic("1", "R-1", "100.00")
	sound := talquist.signed(good)
	plain := as2.Composed{ContentType: "application/EDIFACT", Body: []byte(good)}
	large := as2.Composed{ContentType: "application/EDIFACT", Body: []byte(strings.Repeat("UNB+forged'", 90_000))}
	forged := func(name string, c as2.Composed, told string) forgery {
		return forgery{name, func(id string) []byte { return posting("TALQUIST-AS2", id, asksSigned, c) }, "200 signed processed/error: " + told}
	}
	return &storm{
		name: "AS2", yaml: talquist.settings(`mdn_hosts: ["mdn.talquist.example"]`),
		ask: func(r *rig, request []byte) string { return r.rawBytes(request).String() },
		strange: func(i int) []byte {
			fields, c := asksSigned, sound
			if i%3 == 0 {
				c = plain
			}
			if i%5 == 0 {
				fields += "Receipt-Delivery-Option: http://mdn.talquist.example/\r\n"
			}
			text := string(posting("TALQUIST-AS2", fmt.Sprint("m-", i), fields, c))
			if i%2 == 0 {
				return []byte(strings.Replace(text, "AS2-From: TALQUIST-AS2", fmt.Sprint("AS2-From: NOBODY-", i), 1))
			}
			return []byte(strings.Replace(text, "AS2-To: NORDHAFEN-AS2", fmt.Sprint("AS2-To: NOBODY-", i), 1))
		},
		toldStrange: "200 unsigned processed/error: unknown-trading-partner",
		forgeries: []forgery{
			forged("signed by somebody else", other.signed(invoic("1", "F-1", "100.00")), "authentication-failed"),
			forged("changed", broken(talquist.signed(invoic("1", "F-2", "100.00"))), "integrity-check-failed"),
			forged("not signed", as2.Composed{ContentType: "application/EDIFACT", Body: []byte(invoic("1", "F-3", "100.00"))}, "insufficient-message-security"),
			forged("encrypted, and not signed", other.wrap(as2.Wrapping{Envelope: toUs(t)}, invoic("1", "F-4", "100.00")), "decryption-failed"),
			forged("garbage", as2.Composed{ContentType: "application/pkcs7-mime; smime-type=enveloped-data", Body: []byte("garbage")}, "decryption-failed"),
		},
		large:     func(i int) []byte { return posting("TALQUIST-AS2", fmt.Sprint("m-", i), asksMDN, large) },
		toldLarge: "200 unsigned processed/error: insufficient-message-security",
		genuine: posting("TALQUIST-AS2", "m-1", asksSigned,
			talquist.wrap(as2.Wrapping{Signature: talquist.signature(), Envelope: toUs(t)}, good)),
		toldGenuine: asSigned,
	}
}

func stormOverAS4(t *testing.T) *storm {
	good := invoic("1", "R-1", "100.00")
	genuine := wire(t, composeAS4(t, "m-1", zipped(good), talquistAP(), oursAP()))
	unsigned := wire(t, composeAS4(t, "m-1", zipped(good), nil, nil))
	// Each is composed for each id that it comes under, once.
	forged := func(name, told string, compose func(id string) []byte) forgery {
		made := map[string][]byte{}
		for i := range 3 {
			id := fmt.Sprint("m-", i)
			made[id] = compose(id)
		}
		return forgery{name, func(id string) []byte { return made[id] }, told}
	}
	large := as4.Bytes([]byte(strings.Repeat("UNB+forged'", 90_000)), "application/edifact")
	return &storm{
		name: "AS4", yaml: signedAS4(),
		ask: func(r *rig, request []byte) string { return r.rawSOAPBytes(request).String() },
		strange: func(i int) []byte {
			text := genuine
			if i%3 == 0 {
				text = unsigned
			}
			// Names of one length: that of the body is announced.
			if i%2 == 0 {
				return []byte(strings.Replace(string(text), ">talquist-ap<", fmt.Sprintf(">nobody-%04d<", i), 1))
			}
			return []byte(strings.Replace(string(text), ">nordhafen-ap<", fmt.Sprintf(">nowhere-%04d<", i), 1))
		},
		toldStrange: "200 EBMS:0003",
		forgeries: []forgery{
			forged("signed by somebody else", "200 signed EBMS:0101", func(id string) []byte {
				return wire(t, composeAS4(t, id, zipped(invoic("1", "F-1", "100.00")), otherAP(), oursAP()))
			}),
			forged("its header changed", "200 signed EBMS:0101", func(id string) []byte {
				return wire(t, composeAS4(t, id, zipped(good), talquistAP(), oursAP()), ">c1<", ">c2<")
			}),
			forged("its part changed", "200 signed EBMS:0102", func(id string) []byte {
				return spoilt(wire(t, composeAS4(t, id, zipped(good), talquistAP(), oursAP())))
			}),
			forged("not signed", "200 signed EBMS:0103", func(id string) []byte {
				return wire(t, composeAS4(t, id, zipped(invoic("1", "F-2", "100.00")), nil, oursAP()))
			}),
			forged("neither signed nor encrypted", "200 signed EBMS:0103", func(id string) []byte {
				return wire(t, composeAS4(t, id, zipped(invoic("1", "F-3", "100.00")), nil, nil))
			}),
			forged("its header no header", "200 signed EBMS:0009", func(id string) []byte {
				return wire(t, composeAS4(t, id, zipped(good), nil, nil), "<eb:Action>", "<eb:Act/><eb:Action>")
			}),
		},
		large: func(i int) []byte {
			return wire(t, composeAS4(t, fmt.Sprint("m-", i), large, nil, nil))
		},
		toldLarge:   "200 signed EBMS:0103",
		genuine:     genuine,
		toldGenuine: "200 signed receipt",
	}
}

// atOnce posts requests by so many senders at a time, and hands each answer to told. Who is
// told to come again, since a turn took long on a busy machine, does so.
func (r *rig) atOnce(s *storm, senders, n int, request func(i int) []byte, told func(i int, words string)) {
	r.t.Helper()
	var wg sync.WaitGroup
	for first := range senders {
		wg.Go(func() {
			for i := first; i < n; i += senders {
				words := s.ask(r, request(i))
				for again := 0; strings.HasPrefix(words, "503 ") && again < 10; again++ {
					words = s.ask(r, request(i))
				}
				told(i, words)
			}
		})
	}
	wg.Wait()
}

// TestStrangers sends under names that are nobody's, over each transport: whatever it
// is, they are told one thing and leave nothing.
func TestStrangers(t *testing.T) {
	for _, over := range storms {
		s := over(t)
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, s.yaml)
			t.Run("1,000 messages under unknown names leave no row", func(t *testing.T) {
				r.atOnce(s, 8, 1000, s.strange, func(_ int, words string) {
					if words != s.toldStrange && !t.Failed() {
						t.Errorf("told %s, want %s", words, s.toldStrange)
					}
				})
				r.empty("of strangers")
			})
			t.Run("the message under its names is First", func(t *testing.T) {
				if told := s.ask(r, s.genuine); told != s.toldGenuine || r.rows() != "T1 I1b" {
					t.Errorf("told %s, by %s", told, r.rows())
				}
				r.postedOnce("R-1")
			})
		})
	}
}

// TestAS2StrangersBy403 tells strangers nothing that is of AS2.
func TestAS2StrangersBy403(t *testing.T) {
	t.Parallel()
	s := stormOverAS2(t)
	r := newRig(t, s.yaml)
	r.as2.UnknownBy403 = true
	var bodies []string
	for i := range 10 {
		m := r.rawBytes(s.strange(i))
		if m.status != http.StatusForbidden || m.says != nil {
			t.Errorf("told %s", m)
		}
		bodies = append(bodies, string(m.body))
	}
	for _, b := range bodies {
		if b != bodies[0] {
			t.Errorf("one is told %q, another %q", bodies[0], b)
		}
	}
	r.empty("of strangers")
}

// TestForged sends what somebody else made under a name that is somebody's, over each
// transport. It fills the quarantine to its cap and no further, however many come at
// once; makes no key; and the genuine message is First.
func TestForged(t *testing.T) {
	for _, over := range storms {
		s := over(t)
		t.Run(s.name+": 1,000 forged messages and more, by eight at a time", func(t *testing.T) {
			t.Parallel()
			r := newRig(t, s.yaml)
			of := func(i int) forgery { return s.forgeries[i%len(s.forgeries)] }
			r.atOnce(s, 8, quarantineRows+40, func(i int) []byte {
				return of(i).request(fmt.Sprint("m-", i/len(s.forgeries)%3))
			}, func(i int, words string) {
				if words != of(i).told && !t.Failed() {
					t.Errorf("%s: told %s, want %s", of(i).name, words, of(i).told)
				}
			})
			kept := r.tables()
			if kept["delivery"] != quarantineRows || kept["payload"] > quarantineRows || kept["payload"] == 0 {
				t.Errorf("%d lines in the journal, with %d payloads", kept["delivery"], kept["payload"])
			}
			if kept["evidence"] > kept["payload"] { // of each the header that it came with
				t.Errorf("%d exhibits of %d payloads", kept["evidence"], kept["payload"])
			}
			if kept["evidence"] > kept["payload"] { // how each came, with its bytes
				t.Errorf("%d exhibits of %d payloads", kept["evidence"], kept["payload"])
			}
			for _, table := range []string{"delivery", "payload", "evidence"} {
				delete(kept, table)
			}
			delete(kept, "evidence")
			for table, n := range kept {
				if n != 0 {
					t.Errorf("%d rows in %s", n, table)
				}
			}
			if told := s.ask(r, s.genuine); told != s.toldGenuine || r.rows() != "T1 I1b" {
				t.Errorf("the genuine message is told %s, and judged by %s", told, r.rows())
			}
			r.postedOnce("R-1")
		})
		t.Run(s.name+": large ones fill no more than its bytes", func(t *testing.T) {
			t.Parallel()
			r := newRig(t, s.yaml)
			size := len(s.large(0))
			r.atOnce(s, 4, quarantineBytes/size+10, s.large, func(_ int, words string) {
				if words != s.toldLarge && !t.Failed() {
					t.Errorf("told %s, want %s", words, s.toldLarge)
				}
			})
			if n := r.count(`select coalesce(sum(bytes) filter (where payload_id is not null), 0) from delivery`); n > quarantineBytes || n < quarantineBytes-2*size {
				t.Errorf("%d bytes are kept", n)
			}
		})
	}
}
