package documents

import (
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/edi"
)

// Unit is a logistic unit that a despatch advice names by its SSCC, and where.
type Unit struct {
	SSCC string
	At   edi.Location
}

// Units are the logistic units that a despatch advice names, in its order.
func (d *Document) Units() []Unit { return d.units }

// Comparable reports whether the SSCC is looked for in other despatch advices: what is not
// valid may be anything.
func (u Unit) Comparable() bool { return validSSCC(u.SSCC) }

// maxCarried is how many packages of one SSCC are looked at, the latest ones.
const maxCarried = 100

// carriedFor is how long an SSCC is not to be used again: GS1 allows it after a year.
const carriedFor = 366 * 24 * time.Hour

// Carried is a despatch advice that names a logistic unit.
type Carried struct {
	At       int // index of the SSCC that was asked for
	Number   string
	Received time.Time
}

// QueueCarried looks for despatch advices of the partner that name the SSCCs, and calls
// each with the latest one of an SSCC: among those that are in force, came within a
// year, and have not the number beside it, which another revision of the same despatch
// has. Tests look for tests.
//
// Of the packages that have an SSCC, those of that year alone are looked at, and so many
// of them that a number which is filled in for want of one, and stands everywhere, costs
// no more as the years go by. The index has all that they are chosen by.
func QueueCarried(b *pgx.Batch, partnerID string, test bool, ssccs, numbers []string, each func(Carried)) {
	b.Queue(`
select k.at - 1, d.number, d.received_at
from unnest($3::text[], $4::text[]) with ordinality as k (sscc, number, at)
cross join lateral (
  select d.number, d.received_at
  from (
    select document_id from document_package
    where partner_id = $1 and sscc = k.sscc collate "C" and document_id >= $6
    order by document_id desc
    limit $5) p
  join document d on d.partner_id = $1 and d.document_id = p.document_id
  where d.number <> k.number collate "C"
    and d.state = 'live' and d.superseded_by is null and d.cancelled_by is null and d.test = $2 and d.function_code not in ('1', '17')
    and d.received_at > now() - interval '1 year'
  order by d.document_id desc
  limit 1) d`, partnerID, test, ssccs, numbers, maxCarried, idAt(time.Now().Add(-carriedFor-idSlack))).Query(func(rows pgx.Rows) error {
		var c Carried
		_, err := pgx.ForEachRow(rows, []any{&c.At, &c.Number, &c.Received}, func() error {
			each(c)
			return nil
		})
		return err
	})
}

// CodeElsewhere is the finding of a unit that another despatch advice names too.
const CodeElsewhere = "sscc-elsewhere"

// Elsewhere is that finding.
func Elsewhere(u Unit, number, day string) *edi.Error {
	return &edi.Error{Code: CodeElsewhere, Severity: edi.SeverityNote, Location: u.At,
		Text: fmt.Sprintf("SSCC %s stands in despatch advice %s of %s as well", u.SSCC, shorten(number), day)}
}

// KeepElsewhere keeps with the document what was found of its units elsewhere, in place
// of what was found before.
func (d *Document) KeepElsewhere(errs []*edi.Error) {
	kept := slices.DeleteFunc(slices.Clone(d.Detail.Findings), func(f Finding) bool { return f.Code == CodeElsewhere })
	if d.Detail.Findings = append(kept, Findings(errs)...); len(d.Detail.Findings) == 0 {
		d.Detail.Findings = nil
	}
}
