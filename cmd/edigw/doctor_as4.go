package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/partners/keys"
)

// as4 looks for what a partner's messages over AS4 need and is not there.
func (d *doctor) as4(ctx context.Context, pool *pgxpool.Pool) {
	list, err := (&partners.Store{Pool: pool}).List(ctx)
	if err != nil {
		d.ill("as4", "try again", "%v", err)
		return
	}
	ours, err := (&keys.Store{Pool: pool}).List(ctx)
	if err != nil {
		d.ill("as4", "try again", "%v", err)
		return
	}
	before, using, now := len(d.list), 0, time.Now()
	missing := map[[2]string]bool{}
	without := map[string]string{
		keys.AS4Sign:    "partner %s is told to come again",
		keys.AS4Decrypt: "what partner %s encrypts is told to come again",
	}
	for _, p := range list {
		if p.AS4 == nil || !p.Active {
			continue
		}
		using++
		for _, purpose := range []string{keys.AS4Sign, keys.AS4Decrypt} {
			of := [2]string{p.Organisation, purpose}
			needed := purpose == keys.AS4Sign && p.AS4.Unsigned == partners.AS4Refuse || purpose == keys.AS4Decrypt && p.AS4.Unencrypted == partners.AS4Refuse
			if needed && !missing[of] && !slices.ContainsFunc(ours, func(k *keys.Key) bool {
				return k.Organisation == p.Organisation && (k.Signs(purpose, now) || k.Opens(purpose, now))
			}) {
				missing[of] = true
				d.ill("as4", "edigw keys create "+p.Organisation+" LABEL --for as4_sign,as4_decrypt, and send its certificate to the partners", "%s has no key for %s that holds now; "+without[purpose], p.Organisation, purpose, p.ID)
			}
		}
		signs := func(k *keys.Key) bool { return k.Organisation == p.Organisation && k.Signs(keys.AS4Sign, now) }
		if slices.ContainsFunc(ours, signs) && !slices.ContainsFunc(ours, func(k *keys.Key) bool { return signs(k) && signsBy(k.Algorithm, p.AS4.Signatures) }) {
			d.ill("as4", "edigw keys create "+p.Organisation+" LABEL --for as4_sign --algorithm ALGORITHM, and send its certificate to the partner", "no key of %s for as4_sign signs by an algorithm agreed with partner %s (%s): it cannot take our receipts", p.Organisation, p.ID, strings.Join(p.AS4.Signatures, ", "))
		}
		if p.AS4.Unsigned == partners.AS4Refuse && len(p.CertificatesFor(partners.AS4Sign, now)) == 0 {
			d.ill("as4", "add the partner's certificate for as4_sign", "partner %s has none that holds now: everything it sends is refused", p.ID)
		}
		if p.AS4.Unsigned == partners.AS4Accept {
			d.ill("as4", "set as4.unsigned to refuse or certificate when the test is over", "whoever knows the names of partner %s may send as it", p.ID)
		}
	}
	if using > 0 && len(d.list) == before {
		d.well("as4", "%d partners, with the keys and certificates that they need", using)
	}
}

// signsBy tells whether a key of this kind signs by one of the algorithms, each by the
// name that it is configured with.
func signsBy(kind string, algorithms []string) bool {
	family, _, _ := strings.Cut(kind, "-")
	if family == "ec" {
		family = "ecdsa"
	}
	return slices.ContainsFunc(algorithms, func(a string) bool { return a == family || strings.HasPrefix(a, family+"-") })
}
