package partners

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// shortName is what partners and organisations are called in keys, tables, URLs
// and metric labels.
var shortName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,39}$`)

// messageType is UNH 0065 or ST01.
var messageType = regexp.MustCompile(`^[A-Z0-9]{1,6}$`)

func (d *document) organisation(body ast.Node) *OrganisationSpec {
	s := &OrganisationSpec{}
	seen := d.mapping(body, "",
		field{"kind", func(ast.Node, string) {}}, // read already
		field{"id", d.shortName(&s.ID)},
		field{"name", d.text(&s.Name, 200)},
		field{"identifiers", d.identifiers(&s.Identifiers)},
		field{"as2", d.organisationAS2(&s.AS2)},
	)
	d.require(body, seen, "id", "the organisation's short name, like `id: north`")
	if s.Name == "" {
		s.Name = s.ID
	}
	s.normalise()
	return s
}

func (d *document) partner(body ast.Node) *PartnerSpec {
	spec := d.preset(body)
	s := &spec
	windows, deferred, as4, overAS2 := map[string]*token.Token{}, map[string]*token.Token{}, map[string]*token.Token{}, map[string]*token.Token{}
	purposes := map[string]place{}
	seen := d.mapping(body, "",
		field{"kind", func(ast.Node, string) {}}, // read already
		field{"id", d.shortName(&s.ID)},
		field{"name", d.text(&s.Name, 200)},
		field{"preset", func(ast.Node, string) {}}, // read already
		field{"state", d.oneOf(&s.State, "active", "paused")},
		field{"organisation", d.shortName(&s.Organisation)},
		field{"identifiers", d.identifiers(&s.Identifiers)},
		field{"speaks_for", d.list(&s.SpeaksFor, shortName, "a partner's id")},
		field{"types", d.types(&s.Types)},
		field{"share", d.number(&s.Share, 1, 100)},
		field{"processing", d.processing(&s.Processing, deferred)},
		field{"acceptance", d.oneOf(&s.Acceptance, "interchange", "message")},
		field{"on_drift", d.oneOf(&s.OnDrift, "reject", "hold")},
		field{"on_dead", d.oneOf(&s.OnDead, "hold", "refuse")},
		field{"drift_acknowledgement", d.oneOf(&s.DriftAcknowledgement, "none", "reject")},
		field{"four_eyes", d.oneOf(&s.FourEyes, "invoices", "off")},
		field{"receipt_action", d.number(&s.ReceiptAction, 7, 8)},
		field{"accepts_uci8", d.boolean(&s.AcceptsUCI8)},
		field{"absorb", d.list(&s.Absorb, regexp.MustCompile(`^(formatting|envelope)$`), "formatting or envelope")},
		field{"attempts", d.number(&s.Attempts, 1, 100)},
		field{"control_reference", d.oneOf(&s.ControlReference, "unique", "unique_per_day", "unreliable")},
		field{"message_reference", d.oneOf(&s.MessageReference, "unique", "unreliable")},
		field{"transport_id", d.oneOf(&s.TransportID, "unique", "unreliable")},
		field{"reuse_after", d.days(&s.Retention.ReuseAfter, true)},
		field{"key_includes_application", d.boolean(&s.KeyIncludesApplication)},
		field{"known_document", d.knownDocument(&s.KnownDocument)},
		field{"checks", d.checks(&s.Checks)},
		field{"documents", d.documents(&s.Documents)},
		field{"functional_acknowledgement", d.oneOf(&s.FunctionalAcknowledgement, byVersion, "997", "999")},
		field{"ta1", d.oneOf(&s.TA1, requested, "always", "never")},
		field{"acknowledge_by", d.acknowledgeBy(&s.AcknowledgeBy)},
		field{"acknowledge_url", d.text(&s.AcknowledgeURL, 2000)},
		field{"acknowledge_secret", d.shortName(&s.AcknowledgeSecret)},
		field{"advise_by", d.oneOf(&s.AdviseBy, asAcknowledged, "webhook", "folder", "as2", "as4", "none")},
		field{"hand_over", d.oneOf(&s.HandOver, "none", "folder")},
		field{"silence", d.silence(&s.Silence)},
		field{"reading", d.reading(&s.Reading)},
		field{"retention", d.retention(&s.Retention, windows)},
		field{"certificates", d.certificates(&s.Certificates, purposes)},
		field{"http", d.http(&s.HTTP)},
		field{"as2", d.as2(&s.AS2, overAS2)},
		field{"as4", d.as4(&s.AS4, as4)},
	)
	d.require(body, seen, "id", "the partner's short name, like `id: acme`")
	d.require(body, seen, "organisation", "the id of the organisation of ours that this partner sends to")
	if outer, inner := seen["reuse_after"], windows["reuse_after"]; outer != nil && inner != nil {
		d.fault(inner, "retention.reuse_after", "stands twice; the other is reuse_after in line %d", d.before+outer.Position.Line)
	} else if outer != nil {
		windows["reuse_after"] = outer
	}
	if !slices.ContainsFunc(d.faults, func(f Fault) bool {
		return f.Key == "reuse_after" || strings.HasPrefix(f.Key, "retention.")
	}) {
		d.windows(s.Retention, windows)
	}
	d.processed(s, deferred)
	d.acknowledged(s, seen)
	d.overAS2(&s.AS2, overAS2)
	d.agreedOnAS4(&s.AS4, seen["as4"], as4)
	d.longEnough(s, purposes)
	if slices.Contains(s.SpeaksFor, s.ID) && s.ID != "" {
		d.fault(seen["speaks_for"], "speaks_for", "names the partner itself; every partner speaks for itself")
	}
	if s.Name == "" {
		s.Name = s.ID
	}
	s.normalise()
	return s
}

func (d *document) require(body ast.Node, seen map[string]*token.Token, key, what string) {
	if seen[key] == nil {
		d.fault(entriesOf(body)[0].Key.GetToken(), key, "is missing: %s", what)
	}
}

func (d *document) shortName(into *string) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		s, ok := d.scalar(n, path)
		if ok && !shortName.MatchString(s) {
			d.fault(n.GetToken(), path, "must be 1 to 40 of a-z, 0-9, dot, dash and underscore, a letter or digit first, not %q", s)
		}
		*into = s
	}
}

func (d *document) text(into *string, longest int) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		s, ok := d.scalar(n, path)
		if !ok {
			return
		}
		if s == "" || utf8.RuneCountInString(s) > longest || !printable(s) {
			d.fault(n.GetToken(), path, "must be 1 to %d printable characters on one line", longest)
		}
		*into = s
	}
}

// printable also refuses what PostgreSQL's text cannot hold: NUL and bytes that
// are no UTF-8.
func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

func (d *document) oneOf(into *string, allowed ...string) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		s, ok := d.scalar(n, path)
		if ok && !slices.Contains(allowed, s) {
			d.fault(n.GetToken(), path, "must be %s, not %q", or(allowed), s)
		}
		*into = s
	}
}

func or(allowed []string) string {
	last := len(allowed) - 1
	return strings.Join(allowed[:last], ", ") + " or " + allowed[last]
}

func (d *document) boolean(into *bool) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		s, ok := d.scalar(n, path)
		if ok && s != "true" && s != "false" {
			d.fault(n.GetToken(), path, "must be true or false, not %q", s)
		}
		*into = s == "true"
	}
}

func (d *document) number(into *int, least, most int) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		s, ok := d.scalar(n, path)
		v, err := strconv.Atoi(s)
		if ok && (err != nil || v < least || v > most) {
			between := "to"
			if most-least == 1 {
				between = "or"
			}
			d.fault(n.GetToken(), path, "must be a number, %d %s %d, not %q", least, between, most, s)
		}
		*into = v
	}
}

func (d *document) days(into *Days, off bool) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		s, ok := d.scalar(n, path)
		if !ok {
			return
		}
		if err := into.UnmarshalText([]byte(s)); err != nil || (s == "off" && !off) {
			allowed := "days like 30d, 1d to 36500d"
			if off {
				allowed += ", or off"
			}
			d.fault(n.GetToken(), path, "must be %s, not %q", allowed, s)
		}
	}
}

// list reads a set of words; one that stands twice is a fault.
func (d *document) list(into *[]string, allowed *regexp.Regexp, what string) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		*into = nil
		d.sequence(n, path, maxItems, func(item ast.Node, path string) {
			s, ok := d.scalar(item, path)
			switch {
			case !ok:
			case !allowed.MatchString(s):
				d.fault(item.GetToken(), path, "must be %s, not %q", what, s)
			case slices.Contains(*into, s):
				d.fault(item.GetToken(), path, "%s stands twice", s)
			default:
				*into = append(*into, s)
			}
		})
	}
}

func (d *document) types(into *[]string) func(ast.Node, string) {
	read := d.list(into, messageType, "a message type in capitals like INVOIC or 810")
	return func(n ast.Node, path string) {
		before := len(d.faults)
		read(n, path)
		if len(*into) == 0 && len(d.faults) == before {
			d.fault(n.GetToken(), path, "must name at least one type; state: paused refuses everything")
		}
	}
}

// identifiers reads interchange addresses.
//
// QUIRK: ISA06 is padded to 15 characters, and some people copy it into their
// configuration with the blanks: trimmed on the right, as on the wire.
func (d *document) identifiers(into *[]Identifier) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		d.sequence(n, path, maxItems, func(item ast.Node, path string) {
			var id Identifier
			before := len(d.faults)
			d.mapping(item, path,
				field{"qualifier", d.code(&id.Qualifier, 4)},
				field{"id", d.code(&id.ID, 35)},
			)
			switch id.ID = strings.TrimRight(id.ID, " "); {
			case len(d.faults) > before:
			case id.ID == "":
				d.fault(item.GetToken(), join(path, "id"), "is missing: the address itself, like `id: \"5412345000013\"`")
			case slices.Contains(*into, id):
				d.fault(item.GetToken(), path, "%s stands twice", id)
			default:
				*into = append(*into, id)
			}
		})
	}
}

// code reads an element of an envelope: 0004 is an..35, 0007 an..4.
func (d *document) code(into *string, longest int) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		s, ok := d.scalar(n, path)
		if ok && (utf8.RuneCountInString(strings.TrimRight(s, " ")) > longest || !printable(s)) {
			d.fault(n.GetToken(), path, "must be at most %d printable characters, not %q", longest, s)
		}
		*into = strings.TrimRight(s, " ")
	}
}

// String gives the address as people write it: qualifier and id, or the id alone.
func (id Identifier) String() string {
	if id.Qualifier == "" {
		return id.ID
	}
	return id.Qualifier + ":" + id.ID
}

func (d *document) knownDocument(into *KnownDocument) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		d.mapping(n, path,
			field{"invoice", d.oneOf(&into.Invoice, "hold", "note")},
			field{"despatch", d.oneOf(&into.Despatch, "hold", "note")},
		)
	}
}

// retention reads the windows and remembers where each stood.
func (d *document) retention(r *RetentionSpec, at map[string]*token.Token) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		seen := d.mapping(n, path,
			field{"dedup_window", d.days(&r.DedupWindow, false)},
			field{"retry_window", d.days(&r.RetryWindow, false)},
			field{"reuse_after", d.days(&r.ReuseAfter, true)},
			field{"payloads", d.days(&r.Payloads, false)},
			field{"acknowledgements", d.days(&r.Acknowledgements, false)},
			field{"quarantine", d.days(&r.Quarantine, false)},
			field{"deliveries", d.days(&r.Deliveries, false)},
			field{"documents", func(n ast.Node, path string) {
				d.mapping(n, path,
					field{"invoice", d.days(&r.Documents.Invoice, true)},
					field{"despatch", d.days(&r.Documents.Despatch, true)},
					field{"other", d.days(&r.Documents.Other, true)},
				)
			}},
			field{"legal_hold", d.boolean(&r.LegalHold)},
		)
		maps.Copy(at, seen)
	}
}

// windows holds the windows against each other. The fault stands at the first of
// its keys that was written.
func (d *document) windows(r RetentionSpec, at map[string]*token.Token) {
	for _, rule := range []struct {
		broken     bool
		key, other string
		text       string
	}{
		{r.RetryWindow > r.DedupWindow, "retry_window", "dedup_window",
			fmt.Sprintf("%s is longer than dedup_window (%s): a late retry would be processed again", r.RetryWindow, r.DedupWindow)},
		{r.RetryWindow > r.Acknowledgements, "retry_window", "acknowledgements",
			fmt.Sprintf("%s is longer than acknowledgements (%s): a late retry would not get the first answer", r.RetryWindow, r.Acknowledgements)},
		{r.ReuseAfter >= r.DedupWindow, "reuse_after", "dedup_window",
			fmt.Sprintf("%s is not shorter than dedup_window (%s), after which a reference is forgotten anyway", r.ReuseAfter, r.DedupWindow)},
	} {
		if !rule.broken {
			continue
		}
		place := at[rule.key]
		if place == nil {
			place = at[rule.other]
		}
		d.fault(place, "retention."+rule.key, "%s", rule.text)
	}
}
