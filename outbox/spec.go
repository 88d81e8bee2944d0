package outbox

import (
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Spec is a subscription as it is configured: who is told of what, where.
type Spec struct {
	Name     string   `json:"name" yaml:"name"`
	Types    []string `json:"types" yaml:"types"`                           // like document.created or document.*; none is all events
	Partners []string `json:"partners,omitempty" yaml:"partners,omitempty"` // none is all
	From     string   `json:"from" yaml:"from"`                             // where a new one begins: now or beginning
	// Refusals is how often the target may refuse an event before it is set aside and
	// the next one is sent.
	Refusals int `json:"refusals" yaml:"refusals"`

	// Exactly one of these says where.
	Webhook *WebhookSpec `json:"webhook,omitempty" yaml:"webhook,omitempty"`
	Kafka   *KafkaSpec   `json:"kafka,omitempty" yaml:"kafka,omitempty"`
	Mail    *MailSpec    `json:"mail,omitempty" yaml:"mail,omitempty"`
}

// WebhookSpec is a Standard Webhooks receiver.
type WebhookSpec struct {
	URL string `json:"url" yaml:"url"`
	// Secrets name what it is signed with, one signature each: two while one is replaced.
	Secrets []string `json:"secrets" yaml:"secrets"`
	Timeout string   `json:"timeout" yaml:"timeout"`           // of one request
	CA      string   `json:"ca,omitempty" yaml:"ca,omitempty"` // PEM: who issued its certificate, in place of the system's
}

// KafkaSpec is a topic of an Apache Kafka cluster.
type KafkaSpec struct {
	Brokers   []string `json:"brokers" yaml:"brokers"`
	Topic     string   `json:"topic" yaml:"topic"`
	TLS       bool     `json:"tls,omitempty" yaml:"tls,omitempty"`
	Mechanism string   `json:"mechanism,omitempty" yaml:"mechanism,omitempty"` // SASL: plain, scram-sha-256 or scram-sha-512
	User      string   `json:"user,omitempty" yaml:"user,omitempty"`
	Secret    string   `json:"secret,omitempty" yaml:"secret,omitempty"` // names the password

	CA          string `json:"ca,omitempty" yaml:"ca,omitempty"`                   // PEM: who issued the brokers' certificates, in place of the system's
	Certificate string `json:"certificate,omitempty" yaml:"certificate,omitempty"` // PEM: ours, that the brokers ask for, its chain behind it
	Key         string `json:"key,omitempty" yaml:"key,omitempty"`                 // names the secret that is its private key, in PEM
}

// MailSpec is people who get mail, several events in one.
type MailSpec struct {
	Server string   `json:"server" yaml:"server"` // host:port
	TLS    string   `json:"tls" yaml:"tls"`       // starttls, tls or none
	User   string   `json:"user,omitempty" yaml:"user,omitempty"`
	Secret string   `json:"secret,omitempty" yaml:"secret,omitempty"` // names the password
	From   string   `json:"from" yaml:"from"`
	To     []string `json:"to" yaml:"to"`
	Every  string   `json:"every" yaml:"every"`               // a partner's events are gathered for so long after a mail
	CA     string   `json:"ca,omitempty" yaml:"ca,omitempty"` // PEM: who issued the server's certificate, in place of the system's
}

// Where a new subscription begins.
const (
	FromNow       = "now"
	FromBeginning = "beginning"
)

// SpecFault says what is wrong with a spec, and what it must be.
type SpecFault struct {
	Name string // of the subscription
	Key  string // of the spec, with dots
	Text string
}

// Error gives "subscription erp: webhook.url: must be …".
func (f *SpecFault) Error() string {
	return fmt.Sprintf("subscription %s: %s: %s", f.Name, f.Key, f.Text)
}

var (
	plainName  = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,39}$`)
	kafkaTopic = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`)
)

const (
	defaultRefusals = 3
	defaultTimeout  = "15s"
	defaultEvery    = "5m"
)

// Complete fills in what was left out and checks the whole. The error is a *SpecFault.
func (s *Spec) Complete() error {
	fault := func(key, format string, args ...any) error {
		return &SpecFault{s.Name, key, fmt.Sprintf(format, args...)}
	}
	if !plainName.MatchString(s.Name) {
		return fault("name", "must be a short name like erp: up to 40 of a-z, 0-9, dot, hyphen and underscore, not %q", s.Name)
	}
	if len(s.Types) == 0 {
		s.Types = []string{"*"}
	}
	slices.Sort(s.Types)
	s.Types = slices.Compact(s.Types)
	for _, pattern := range s.Types {
		if len(typesOf(pattern)) == 0 {
			return fault("types", "nothing is called %q; there are %s, and with an asterisk like document.* all of a kind", pattern, strings.Join(Types, ", "))
		}
	}
	slices.Sort(s.Partners)
	s.Partners = slices.Compact(s.Partners)
	for _, p := range s.Partners {
		if !plainName.MatchString(p) {
			return fault("partners", "%q is no partner's id", p)
		}
	}
	if s.From == "" {
		s.From = FromNow
	}
	if s.From != FromNow && s.From != FromBeginning {
		return fault("from", "must be now or beginning, not %q", s.From)
	}
	if s.Refusals == 0 {
		s.Refusals = defaultRefusals
	}
	if s.Refusals < 1 || s.Refusals > 100 {
		return fault("refusals", "must be 1 to 100, not %d", s.Refusals)
	}
	n := 0
	for _, given := range []bool{s.Webhook != nil, s.Kafka != nil, s.Mail != nil} {
		if given {
			n++
		}
	}
	if n != 1 {
		return fault("webhook", "exactly one of webhook, kafka and mail must be given, not %d", n)
	}
	switch {
	case s.Webhook != nil:
		return s.Webhook.complete(fault)
	case s.Kafka != nil:
		return s.Kafka.complete(fault)
	}
	return s.Mail.complete(fault)
}

type faultOf = func(key, format string, args ...any) error

func (w *WebhookSpec) complete(fault faultOf) error {
	u, err := url.Parse(w.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return fault("webhook.url", "must be an address like https://erp.example/edigw, not %q", w.URL)
	case u.User != nil:
		return fault("webhook.url", "holds a name or password; requests are signed instead: leave it out")
	case u.Fragment != "":
		return fault("webhook.url", "has a fragment (#…), which is never sent; leave it out")
	case len(w.Secrets) == 0 || len(w.Secrets) > 5:
		return fault("webhook.secrets", "must name 1 to 5 secrets, not %d; `edigw subscriptions secret` makes one", len(w.Secrets))
	}
	for _, name := range w.Secrets {
		if !plainName.MatchString(name) {
			return fault("webhook.secrets", "%q is no name of a secret, like erp-2026; never write the secret itself here", shortened(name))
		}
	}
	if err := trusted(w.CA, "webhook.ca", u.Scheme == "https", "write https:// in url", fault); err != nil {
		return err
	}
	return duration(&w.Timeout, defaultTimeout, time.Second, 5*time.Minute, "webhook.timeout", fault)
}

func (k *KafkaSpec) complete(fault faultOf) error {
	if len(k.Brokers) == 0 {
		return fault("kafka.brokers", "must name at least one broker like kafka.example:9092")
	}
	for _, b := range k.Brokers {
		if !hostAndPort(b) {
			return fault("kafka.brokers", "must be host:port like kafka.example:9092, not %q", b)
		}
	}
	if !kafkaTopic.MatchString(k.Topic) || k.Topic == "." || k.Topic == ".." {
		return fault("kafka.topic", "must be a topic's name: up to 249 letters, digits, dots, hyphens and underscores, not %q", k.Topic)
	}
	if err := k.identified(fault); err != nil {
		return err
	}
	if k.Mechanism == "" && (k.User != "" || k.Secret != "") {
		k.Mechanism = "scram-sha-512"
	}
	if k.Mechanism == "" {
		return nil
	}
	if !slices.Contains([]string{"plain", "scram-sha-256", "scram-sha-512"}, k.Mechanism) {
		return fault("kafka.mechanism", "must be plain, scram-sha-256 or scram-sha-512, not %q", k.Mechanism)
	}
	if k.Mechanism == "plain" && !k.TLS {
		return fault("kafka.mechanism", "plain sends the password as it is: set tls: true, or use scram-sha-512")
	}
	return login(k.User, k.Secret, "kafka", fault)
}

// identified checks by what brokers are known, and we by them.
func (k *KafkaSpec) identified(fault faultOf) error {
	if err := trusted(k.CA, "kafka.ca", k.TLS, "set tls: true", fault); err != nil {
		return err
	}
	if err := trusted(k.Certificate, "kafka.certificate", k.TLS, "set tls: true", fault); err != nil {
		return err
	}
	if (k.Certificate == "") != (k.Key == "") || k.Key != "" && !plainName.MatchString(k.Key) {
		return fault("kafka.key", "certificate and the name of a secret, which holds its private key, go together")
	}
	return nil
}

func (m *MailSpec) complete(fault faultOf) error {
	if !hostAndPort(m.Server) {
		return fault("mail.server", "must be host:port like mail.example:587, not %q", m.Server)
	}
	if m.TLS == "" {
		m.TLS = "starttls"
	}
	if !slices.Contains([]string{"starttls", "tls", "none"}, m.TLS) {
		return fault("mail.tls", "must be starttls, tls or none, not %q", m.TLS)
	}
	if m.User != "" || m.Secret != "" {
		if m.TLS == "none" {
			return fault("mail.tls", "none would send the password as it is: use starttls or tls, or leave user and secret out")
		}
		if err := login(m.User, m.Secret, "mail", fault); err != nil {
			return err
		}
	}
	if err := trusted(m.CA, "mail.ca", m.TLS != "none", "set tls to starttls or tls", fault); err != nil {
		return err
	}
	if _, err := mail.ParseAddress(m.From); err != nil {
		return fault("mail.from", "must be an address like edigw@north.example, not %q", m.From)
	}
	if len(m.To) == 0 {
		return fault("mail.to", "must name at least one address")
	}
	for _, to := range m.To {
		if _, err := mail.ParseAddress(to); err != nil {
			return fault("mail.to", "must be addresses like edi@north.example, not %q", to)
		}
	}
	return duration(&m.Every, defaultEvery, time.Second, 24*time.Hour, "mail.every", fault)
}

func login(user, secret, where string, fault faultOf) error {
	if user == "" || !plainName.MatchString(secret) {
		return fault(where+".secret", "user and the name of a secret, which holds the password, go together")
	}
	if len(user) > 200 || strings.ContainsFunc(user, unicode.IsControl) {
		return fault(where+".user", "must be a name of up to 200 characters on one line")
	}
	return nil
}

func duration(into *string, otherwise string, least, most time.Duration, key string, fault faultOf) error {
	if *into == "" {
		*into = otherwise
	}
	if d, err := time.ParseDuration(*into); err != nil || d < least || d > most {
		return fault(key, "must be a time from %v to %v, like %s, not %q", least, most, otherwise, *into)
	}
	return nil
}

// hostAndPort checks without a look-up: a name or an address, and a port.
func hostAndPort(s string) bool {
	if _, err := netip.ParseAddrPort(s); err == nil {
		return true
	}
	u, err := url.Parse("//" + s)
	return err == nil && u.Host == s && u.Hostname() != "" && u.Port() != ""
}

// shortened keeps what may be a secret out of messages.
func shortened(s string) string {
	if len(s) > 8 {
		return s[:8] + "…"
	}
	return s
}

// Wants gives the exact types that the spec's patterns stand for.
func (s *Spec) Wants() []string {
	var list []string
	for _, pattern := range s.Types {
		list = append(list, typesOf(pattern)...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// typesOf gives the types a pattern stands for. The bare asterisk is all events;
// notices have to be named.
func typesOf(pattern string) (list []string) {
	prefix, all := strings.CutSuffix(pattern, "*")
	for _, typ := range Types {
		notice := strings.HasPrefix(typ, "alert.") || strings.HasPrefix(typ, "notice.")
		if typ == pattern || all && (pattern == "*" && !notice || strings.HasSuffix(prefix, ".") && strings.HasPrefix(typ, prefix)) {
			list = append(list, typ)
		}
	}
	return list
}
