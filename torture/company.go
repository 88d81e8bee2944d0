package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

const (
	organisation = "north"
	ourAddress   = "9520002000019"
	stranger     = "9520009000011" // an address that is nobody's
)

// partner is one who sends, with the settings that decide what he is told.
type partner struct {
	n          int
	acceptance string // interchange, message
	onDrift    string // reject, hold
	onDead     string // hold, refuse
	fourEyes   string // invoices, off
	attempts   int
	deferred   bool // a worker processes what he sends
	speaksFor  []*partner
}

func (p *partner) id() string      { return fmt.Sprintf("p%02d", p.n) }
func (p *partner) token() string   { return "edigw_p_" + p.id() }
func (p *partner) address() string { return fmt.Sprintf("95200010%05d", p.n) }

// van reports whether he speaks for others.
func (p *partner) van() bool { return len(p.speaksFor) > 0 }

// company gives every combination of settings twice, with and without a second
// person for decisions; four partners of whom all is processed later; and two VANs.
func company() []*partner {
	var all []*partner
	for _, fourEyes := range []string{"off", "invoices"} {
		for _, acceptance := range []string{"interchange", "message"} {
			for _, onDrift := range []string{"reject", "hold"} {
				for _, onDead := range []string{"hold", "refuse"} {
					all = append(all, &partner{n: len(all) + 1, acceptance: acceptance, onDrift: onDrift, onDead: onDead, fourEyes: fourEyes, attempts: 3 + len(all)%3})
				}
			}
		}
	}
	for _, acceptance := range []string{"interchange", "message"} {
		for _, onDrift := range []string{"reject", "hold"} {
			all = append(all, &partner{n: len(all) + 1, acceptance: acceptance, onDrift: onDrift, onDead: "hold", fourEyes: "off", attempts: 3, deferred: true})
		}
	}
	owners := all
	for i := range 2 {
		all = append(all, &partner{n: len(all) + 1, acceptance: "interchange", onDrift: "reject", onDead: "hold", fourEyes: "off", attempts: 5, speaksFor: owners[i*10 : i*10+10]})
	}
	return all
}

// configuration is the YAML of the company.
func configuration(all []*partner) string {
	var b strings.Builder
	fmt.Fprintf(&b, "kind: Organisation\nid: %s\nidentifiers: [{qualifier: \"14\", id: \"%s\"}]\n", organisation, ourAddress)
	for _, p := range all {
		digest := sha256.Sum256([]byte(p.token()))
		fmt.Fprintf(&b, "---\nkind: Partner\nid: %s\norganisation: %s\nidentifiers: [{qualifier: \"14\", id: \"%s\"}]\ntypes: [INVOIC]\n"+
			"acceptance: %s\non_drift: %s\non_dead: %s\nfour_eyes: %s\nattempts: %d\nhttp:\n  tokens: [{label: erp, sha256: %s}]\n",
			p.id(), organisation, p.address(), p.acceptance, p.onDrift, p.onDead, p.fourEyes, p.attempts, hex.EncodeToString(digest[:]))
		if p.deferred {
			b.WriteString("processing: deferred\n")
		}
		if p.van() {
			var ids []string
			for _, o := range p.speaksFor {
				ids = append(ids, o.id())
			}
			fmt.Fprintf(&b, "speaks_for: [%s]\n", strings.Join(ids, ", "))
		}
	}
	return b.String()
}
