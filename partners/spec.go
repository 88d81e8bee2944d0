package partners

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/edigw/edigw/documents/roles"
	"github.com/edigw/edigw/edi"
)

// Spec is one YAML document: an organisation or a partner, complete with its
// defaults. File and Line say where it was read, for faults found later.
type Spec struct {
	Organisation *OrganisationSpec
	Partner      *PartnerSpec
	File         string
	Line         int

	// What the text is an export of, as a comment in it says; zero is unknown.
	Revision int32
	Applied  time.Time
}

// OrganisationSpec is `kind: Organisation`: one of the companies we receive for.
type OrganisationSpec struct {
	ID          string       `yaml:"id" json:"id"`
	Name        string       `yaml:"name" json:"name"`
	Identifiers []Identifier `yaml:"identifiers" json:"identifiers"`

	AS2 OrganisationAS2 `yaml:"as2" json:"as2"`
}

// PartnerSpec is `kind: Partner`. docs/reference/partners.md explains every key.
// It is stored as JSON with the same names, and read back over Defaults, so that
// a key added later has its default in what was stored before.
type PartnerSpec struct {
	ID           string       `yaml:"id" json:"id"`
	Name         string       `yaml:"name" json:"name"`
	State        string       `yaml:"state" json:"state"`
	Preset       string       `yaml:"preset" json:"preset"`
	Organisation string       `yaml:"organisation" json:"organisation"`
	Identifiers  []Identifier `yaml:"identifiers" json:"identifiers"`
	SpeaksFor    []string     `yaml:"speaks_for" json:"speaks_for"`
	Types        []string     `yaml:"types" json:"types"`
	Share        int          `yaml:"share" json:"share"`

	Processing             Processing    `yaml:"processing" json:"processing"`
	Acceptance             string        `yaml:"acceptance" json:"acceptance"`
	OnDrift                string        `yaml:"on_drift" json:"on_drift"`
	OnDead                 string        `yaml:"on_dead" json:"on_dead"`
	DriftAcknowledgement   string        `yaml:"drift_acknowledgement" json:"drift_acknowledgement"`
	FourEyes               string        `yaml:"four_eyes" json:"four_eyes"`
	ReceiptAction          int           `yaml:"receipt_action" json:"receipt_action"`
	AcceptsUCI8            bool          `yaml:"accepts_uci8" json:"accepts_uci8"`
	Absorb                 []string      `yaml:"absorb" json:"absorb"`
	Attempts               int           `yaml:"attempts" json:"attempts"`
	ControlReference       string        `yaml:"control_reference" json:"control_reference"`
	MessageReference       string        `yaml:"message_reference" json:"message_reference"`
	TransportID            string        `yaml:"transport_id" json:"transport_id"`
	KeyIncludesApplication bool          `yaml:"key_includes_application" json:"key_includes_application"`
	KnownDocument          KnownDocument `yaml:"known_document" json:"known_document"`
	Checks                 Checks        `yaml:"checks" json:"checks"`
	Documents              DocumentsSpec `yaml:"documents" json:"documents"`

	// Of X12.
	FunctionalAcknowledgement string `yaml:"functional_acknowledgement" json:"functional_acknowledgement"`
	TA1                       string `yaml:"ta1" json:"ta1"`

	AcknowledgeBy     string      `yaml:"acknowledge_by" json:"acknowledge_by"`
	AcknowledgeURL    string      `yaml:"acknowledge_url" json:"acknowledge_url"`       // of acknowledge_by: webhook; else none
	AcknowledgeSecret string      `yaml:"acknowledge_secret" json:"acknowledge_secret"` // names what it is signed with; none: not at all
	AdviseBy          string      `yaml:"advise_by" json:"advise_by"`
	HandOver          string      `yaml:"hand_over" json:"hand_over"`
	Silence           Silence     `yaml:"silence" json:"silence"`
	Reading           ReadingSpec `yaml:"reading" json:"reading"`

	Retention    RetentionSpec     `yaml:"retention" json:"retention"`
	Certificates []CertificateSpec `yaml:"certificates" json:"certificates"`
	HTTP         HTTPSpec          `yaml:"http" json:"http"`
	AS2          AS2Spec           `yaml:"as2" json:"as2"`
	AS4          AS4Spec           `yaml:"as4" json:"as4"`
}

// KnownDocument says what other content under a known document number does, by
// class of document.
type KnownDocument struct {
	Invoice  string `yaml:"invoice" json:"invoice"`
	Despatch string `yaml:"despatch" json:"despatch"`
}

// ReadingSpec is how strictly the partner's text is read: edi.Tolerance in words.
type ReadingSpec struct {
	Charset         string `yaml:"charset" json:"charset"`
	DefaultCharset  string `yaml:"default_charset" json:"default_charset"`
	ByteOrderMark   string `yaml:"byte_order_mark" json:"byte_order_mark"`
	BlankLines      string `yaml:"blank_lines" json:"blank_lines"`
	Padding         string `yaml:"padding" json:"padding"`
	LeadingZeros    string `yaml:"leading_zeros" json:"leading_zeros"`
	SurroundingText string `yaml:"surrounding_text" json:"surrounding_text"`
	Structure       string `yaml:"structure" json:"structure"`
	Guide           string `yaml:"guide" json:"guide"`
	LineWraps       string `yaml:"line_wraps" json:"line_wraps"`
}

// Words for a character set that is not set.
const (
	declared  = "declared"
	noCharset = "none"
)

var structures = map[string]edi.Structure{"off": edi.StructureIgnored, "note": edi.StructureNoted, "refuse": edi.StructureRefused}

// ownGuide is the word for the association code that a message names itself.
const ownGuide = "own"

func (s ReadingSpec) tolerance() edi.Tolerance {
	charset := func(name string) string {
		if name == declared || name == noCharset {
			return ""
		}
		return name
	}
	guide := s.Guide
	if guide == ownGuide {
		guide = ""
	}
	return edi.Tolerance{
		Charset:              charset(s.Charset),
		DefaultCharset:       charset(s.DefaultCharset),
		RefuseByteOrderMark:  s.ByteOrderMark == "refuse",
		RefuseBlankLines:     s.BlankLines == "refuse",
		RefuseUnpadded:       s.Padding == "refuse",
		RefuseLeadingZeros:   s.LeadingZeros == "refuse",
		RefuseSurroundedText: s.SurroundingText == "refuse",
		Structure:            structures[s.Structure],
		Guide:                guide,
		LineWraps:            s.LineWraps == "accept",
	}
}

// RetentionSpec holds the windows of one partner.
type RetentionSpec struct {
	DedupWindow      Days `yaml:"dedup_window" json:"dedup_window"`
	RetryWindow      Days `yaml:"retry_window" json:"retry_window"`
	ReuseAfter       Days `yaml:"reuse_after" json:"reuse_after"` // 0 is off
	Payloads         Days `yaml:"payloads" json:"payloads"`
	Acknowledgements Days `yaml:"acknowledgements" json:"acknowledgements"`
	Quarantine       Days `yaml:"quarantine" json:"quarantine"`
	Deliveries       Days `yaml:"deliveries" json:"deliveries"`

	Documents DocumentsRetention `yaml:"documents" json:"documents"`
	LegalHold bool               `yaml:"legal_hold" json:"legal_hold"`
}

// DocumentsRetention says how long documents are kept, by class; 0 is for good.
type DocumentsRetention struct {
	Invoice  Days `yaml:"invoice" json:"invoice"`
	Despatch Days `yaml:"despatch" json:"despatch"`
	Other    Days `yaml:"other" json:"other"` // of types that have no handler
}

// HTTPSpec is what a partner uses on plain HTTP.
type HTTPSpec struct {
	Credentials string      `yaml:"credentials" json:"credentials"`
	Tokens      []TokenSpec `yaml:"tokens" json:"tokens"`
}

// TokenSpec is one token a partner may show. Its text never stands in a
// configuration: env and file references are digested where they are read.
type TokenSpec struct {
	Label   string     `yaml:"label" json:"label"`
	SHA256  string     `yaml:"sha256" json:"sha256"`                       // of the token's bytes, 64 lower-case hex digits
	Expires *time.Time `yaml:"expires,omitempty" json:"expires,omitempty"` // first instant it is refused, UTC; nil is never
}

// Days is a duration in whole days, written 400d; zero is written off.
type Days int

// String gives "400d" or "off".
func (d Days) String() string {
	if d == 0 {
		return "off"
	}
	return strconv.Itoa(int(d)) + "d"
}

// MarshalText gives what String gives.
func (d Days) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText gives; 1d to 36500d.
func (d *Days) UnmarshalText(text []byte) error {
	s := string(text)
	if s == "off" {
		*d = 0
		return nil
	}
	digits, found := strings.CutSuffix(s, "d")
	n, err := strconv.Atoi(digits)
	if !found || err != nil || n < 1 || n > 36500 || strconv.Itoa(n) != digits {
		return fmt.Errorf("%q is not a number of days like 30d", s)
	}
	*d = Days(n)
	return nil
}

// Duration is d in hours of which a day has 24: windows count in UTC.
func (d Days) Duration() time.Duration { return time.Duration(d) * 24 * time.Hour }

// Words for what X12 is answered with where nothing is set.
const (
	byVersion = "by_version"
	requested = "requested"
)

// unless is a setting's value, "" where it is the word for none.
func unless(value, none string) string {
	if value == none {
		return ""
	}
	return value
}

// Defaults is a partner as it is where its YAML says nothing.
func Defaults() PartnerSpec {
	return PartnerSpec{
		State:                     "active",
		Preset:                    Standard,
		Types:                     []string{"810", "856", "DESADV", "INVOIC"},
		Share:                     DefaultShare,
		Acceptance:                "interchange",
		OnDrift:                   "reject",
		OnDead:                    "hold",
		DriftAcknowledgement:      "none",
		FourEyes:                  "invoices",
		ReceiptAction:             int(edi.ActionAcknowledged),
		Attempts:                  5,
		ControlReference:          "unique",
		MessageReference:          "unique",
		TransportID:               "unique",
		KnownDocument:             KnownDocument{Invoice: "hold", Despatch: "note"},
		Documents:                 DocumentsSpec{Profile: roles.Automatic},
		FunctionalAcknowledgement: byVersion,
		TA1:                       requested,
		AcknowledgeBy:             "response",
		AcknowledgeURL:            nowhere,
		AcknowledgeSecret:         nowhere,
		AdviseBy:                  asAcknowledged,
		HandOver:                  "none",
		Reading: ReadingSpec{
			Charset:         declared,
			DefaultCharset:  noCharset,
			ByteOrderMark:   "accept",
			BlankLines:      "accept",
			Padding:         "accept",
			LeadingZeros:    "accept",
			SurroundingText: "accept",
			Structure:       "note",
			Guide:           ownGuide,
			LineWraps:       "refuse",
		},
		Retention: RetentionSpec{
			DedupWindow:      400,
			RetryWindow:      30,
			Payloads:         90,
			Acknowledgements: 90,
			Quarantine:       180,
			Deliveries:       400,
		},
		HTTP: HTTPSpec{Credentials: AnyCredential},
		AS2:  as2Defaults(),
		AS4:  AS4DefaultsOf(AS4None),
	}
}

// normalise makes two specs that mean the same compare equal: lists that are
// sets are sorted, empty ones are nil.
func (s *PartnerSpec) normalise() {
	sortIdentifiers(&s.Identifiers)
	s.Processing.normalise()
	s.Checks.normalise()
	s.Documents.normalise()
	for _, list := range []*[]string{&s.SpeaksFor, &s.Types, &s.Absorb} {
		sortSet(list)
	}
	s.AS2.normalise()
	normaliseCertificates(&s.Certificates)
	slices.SortFunc(s.HTTP.Tokens, func(a, b TokenSpec) int { return cmp.Compare(a.Label, b.Label) })
	if len(s.HTTP.Tokens) == 0 {
		s.HTTP.Tokens = nil
	}
	s.AS4.normalise()
}

func (s *OrganisationSpec) normalise() {
	sortIdentifiers(&s.Identifiers)
	sortSet(&s.AS2.Names)
}

func sortIdentifiers(ids *[]Identifier) {
	slices.SortFunc(*ids, func(a, b Identifier) int {
		return cmp.Or(cmp.Compare(a.Qualifier, b.Qualifier), cmp.Compare(a.ID, b.ID))
	})
	if len(*ids) == 0 {
		*ids = nil
	}
}

// partnerSpec reads a stored spec over the defaults.
func partnerSpec(stored []byte) (PartnerSpec, error) {
	var named struct {
		Preset string `json:"preset"`
		AS4    struct {
			Profile string `json:"profile"`
		} `json:"as4"`
	}
	if err := json.Unmarshal(stored, &named); err != nil {
		return PartnerSpec{}, fmt.Errorf("stored partner: %w", err)
	}
	s := DefaultsOf(named.Preset)
	s.AS4 = AS4DefaultsOf(named.AS4.Profile)
	if err := json.Unmarshal(stored, &s); err != nil {
		return s, fmt.Errorf("stored partner: %w", err)
	}
	s.normalise()
	return s, nil
}

// partner makes the value the gateway works with. earlier is newest first; what
// ended by now is left out.
func (s PartnerSpec) partner(revision int32, connected time.Time, earlier []KeySettings, now time.Time) *Partner {
	var previous *KeySettings
	for _, e := range slices.Backward(earlier) {
		if e.Until.After(now) {
			previous = &KeySettings{e.ControlReference, e.KeyIncludesApplication, e.Until, previous}
		}
	}
	return &Partner{
		ID:           s.ID,
		Name:         s.Name,
		Active:       s.State == "active",
		Revision:     revision,
		Connected:    connected,
		Organisation: s.Organisation,
		Identifiers:  s.Identifiers,
		SpeaksFor:    s.SpeaksFor,
		Types:        s.Types,
		Share:        s.Share,
		Policy: Policy{
			Acceptance:             s.Acceptance,
			OnDrift:                s.OnDrift,
			OnDead:                 s.OnDead,
			DriftAcknowledgement:   s.DriftAcknowledgement,
			FourEyes:               s.FourEyes,
			ReceiptAction:          edi.Action(s.ReceiptAction),
			AcceptsUCI8:            s.AcceptsUCI8,
			Absorb:                 s.Absorb,
			Attempts:               s.Attempts,
			ControlReference:       s.ControlReference,
			MessageReference:       s.MessageReference,
			TransportID:            s.TransportID,
			ReuseAfter:             s.Retention.ReuseAfter.Duration(),
			KeyIncludesApplication: s.KeyIncludesApplication,
			OnKnownDocument:        map[string]string{"invoice": s.KnownDocument.Invoice, "despatch": s.KnownDocument.Despatch},
			Checks:                 s.Checks,
			Roles:                  s.Documents.set(),
			Form:                   unless(s.FunctionalAcknowledgement, byVersion),
			TA1:                    unless(s.TA1, requested),
			Acknowledge:            s.AcknowledgeBy,
			Advise:                 s.adviseBy(),
			AcknowledgeURL:         unless(s.AcknowledgeURL, nowhere),
			AcknowledgeSecret:      unless(s.AcknowledgeSecret, nowhere),
			Processing:             s.Processing,
			HandOver:               s.HandOver,
			Silence:                s.Silence,
			Reading:                s.Reading.tolerance(),
			Previous:               previous,
		},
		Retention:    s.Retention.windows(),
		Credentials:  s.HTTP.Credentials,
		Certificates: certificatesOf(s.Certificates),
		AS2:          s.AS2.over(nil),
		AS4:          s.AS4.value(),
	}
}
