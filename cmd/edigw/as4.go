package main

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/partners/keys"
)

type as4Command struct {
	Send as4Send `cmd:"" help:"Send files as an AS4 message, and hold the receipt against what was sent. Needs no server: with --partner it works on the database."`
}

// as4Send sends as an access point does: to a partner as we do, or with what the flags
// name as somebody else would, to try a connection.
type as4Send struct {
	Files []string `arg:"" optional:"" help:"The payloads, in order; - for standard input. None with --ping."`

	Partner      string   `placeholder:"ID" help:"Send to this partner as its settings say, with our keys; the flags from --from to --signer are for a message without it."`
	AllowTargets []string `setting:"" placeholder:"HOST,…" help:"With --partner: hosts, addresses and networks inside your own network that may be sent to, like as4.south.example,10.1.0.0/16."`

	URL         string `placeholder:"URL" help:"Where to send to, like https://edi.example/as4; with --partner as4.url if left out."`
	From        string `placeholder:"ID" help:"eb:PartyId of who sends."`
	FromType    string `placeholder:"TYPE" help:"Its type."`
	FromRole    string `placeholder:"ROLE" help:"eb:Role of who sends; that of an initiator if left out."`
	To          string `placeholder:"ID" help:"eb:PartyId of who receives."`
	ToType      string `placeholder:"TYPE" help:"Its type."`
	ToRole      string `placeholder:"ROLE" help:"eb:Role of who receives; that of a responder if left out."`
	Service     string `placeholder:"SERVICE" help:"eb:Service; needed without --ping; with --partner that of as4.reply if left out."`
	ServiceType string `placeholder:"TYPE" help:"Its type."`
	Action      string `placeholder:"ACTION" help:"eb:Action, likewise."`
	Agreement   string `placeholder:"AGREEMENT" help:"eb:AgreementRef."`
	Ping        bool   `help:"Send to the test service: it is answered, and never delivered."`

	MessageID    string `name:"message-id" placeholder:"ID" help:"eb:MessageId; made if left out. The same again is a retry."`
	Conversation string `placeholder:"ID" help:"eb:ConversationId; empty if left out."`
	MimeType     string `placeholder:"TYPE" default:"application/edifact" help:"The payloads' media type."`
	Compress     bool   `default:"true" negatable:"" help:"Compress the payloads."`

	Key       string `placeholder:"FILE" help:"Sign with this key: PEM or PKCS#12 with its certificate."`
	KeyPass   string `name:"key-password-file" placeholder:"FILE" help:"File with the password of PKCS#12."`
	Token     string `name:"token-reference" placeholder:"WORD" help:"How the certificate is named: bst, which it is if left out, pkipath, ski or issuer-serial."`
	EncryptTo string `placeholder:"FILE" help:"Encrypt to this certificate."`
	Signer    string `placeholder:"FILE" help:"Certificate that the receipt has to be signed by; without it its signature is not looked at."`

	Patience time.Duration `default:"2m" placeholder:"TIME" help:"How long the answer may take once the message is sent."`
	Retries  int           `default:"3" help:"How often to send again where no answer says what became of it."`
	Output   string        `short:"o" enum:"table,json" default:"table" help:"table or json."`
	keyFlags
}

// as4Prepared is a message that is ready to be sent.
type as4Prepared struct {
	url      string
	composed *as4.Composed
	signers  []*x509.Certificate // that may have signed the receipt
	sender   as4.Sender
}

// as4Told is what came of a message.
type as4Told struct {
	MessageID  string   `json:"message_id"`
	Outcome    string   `json:"outcome"` // received, refused, unknown
	Status     int      `json:"status,omitempty"`
	References int      `json:"references"`       // that the receipt names
	Signer     string   `json:"signer,omitempty"` // SHA-256 of the certificate that signed the receipt
	Errors     []string `json:"errors,omitempty"`
	Attempts   int      `json:"attempts"`
}

// Run sends, and again under the same MessageId while there is no answer.
func (c *as4Send) Run(a *app) error {
	prepare := c.byFlags
	if c.Partner != "" {
		prepare = c.toPartner
	}
	m, err := prepare(a)
	if err != nil {
		return err
	}
	told := as4Told{MessageID: m.composed.MessageID}
	var answered *as4.Answered
	for {
		told.Attempts++
		answered, err = m.sender.Send(a.ctx, m.url, m.composed, m.signers)
		refused := (*as4.Refused)(nil)
		if err == nil || errors.As(err, &refused) && !refused.Again || errors.Is(err, as4.ErrInvalidReceipt) || told.Attempts > c.Retries || a.ctx.Err() != nil {
			break
		}
		a.progress("no receipt: %v; sending %s again", err, m.composed.MessageID)
		select {
		case <-a.ctx.Done():
		case <-time.After(time.Duration(told.Attempts) * time.Second):
		}
	}
	if answered != nil {
		told.Status = answered.Status
	}
	var refused *as4.Refused
	switch {
	case err == nil:
		told.Outcome, told.References = "received", len(answered.Signal.Receipt.References)
		if answered.Signer != nil {
			told.Signer = partners.Fingerprint(answered.Signer)
		}
	case errors.As(err, &refused):
		told.Outcome = "refused"
		for _, e := range refused.Errors {
			told.Errors = append(told.Errors, strings.TrimSpace(e.Code+" "+e.Short+": "+e.Detail))
		}
	default:
		told.Outcome, told.Errors = "unknown", []string{err.Error()}
	}
	if err := c.tell(a, told); err != nil {
		return err
	}
	if told.Outcome != "received" {
		return &exit{exitFailed, nil}
	}
	return nil
}

func (c *as4Send) tell(a *app, told as4Told) error {
	if c.Output == "json" {
		return a.json(told)
	}
	say := func(format string, args ...any) error {
		_, err := fmt.Fprintf(a.stdout, format+"\n", args...)
		return err
	}
	if told.Outcome == "received" {
		by := "its signature was not looked at: name the certificate with --signer"
		if c.Partner != "" {
			by = "its signature was not looked at: the partner has no certificate for as4_sign"
		}
		if told.Signer != "" {
			by = "signed by " + told.Signer
		}
		return say("%s was received: a receipt that names %d references, %s", printable(told.MessageID), told.References, by)
	}
	for _, e := range told.Errors {
		if err := say("%s: %s: %s", printable(told.MessageID), told.Outcome, printable(e)); err != nil {
			return err
		}
	}
	return nil
}

// ids checks what both ways of sending need, and gives the message its id.
func (c *as4Send) ids() error {
	switch {
	case c.Ping && (c.Service != "" || c.Action != ""):
		return usage("--ping has a service and an action of its own; leave --service and --action out")
	case (c.Service == "") != (c.Action == ""):
		return usage("--service and --action belong together")
	case c.ServiceType != "" && c.Service == "":
		return usage("--service-type is that of --service; name both")
	case !c.Ping && len(c.Files) == 0:
		return usage("name the files to send, or --ping")
	}
	if c.MessageID == "" {
		c.MessageID = uuid.NewString() + "@edigw"
	}
	return nil
}

// payloads opens what the files hold.
func (c *as4Send) payloads(a *app, compress bool) ([]as4.Payload, error) {
	var payloads []as4.Payload
	for _, file := range c.Files {
		p := as4.Payload{MimeType: c.MimeType, Compress: compress, Open: func() (io.ReadCloser, error) { return os.Open(file) }}
		if file == "-" {
			text, err := a.whole(file)
			if err != nil {
				return nil, err
			}
			p = as4.Bytes(text, c.MimeType)
			p.Compress = compress
		}
		payloads = append(payloads, p)
	}
	return payloads, nil
}

// byFlags reads what the flags name and builds the message.
func (c *as4Send) byFlags(a *app) (*as4Prepared, error) {
	switch {
	case c.URL == "" || c.From == "" || c.To == "":
		return nil, usage("--url, --from and --to are needed; or --partner, whose settings have them")
	case !c.Ping && c.Service == "":
		return nil, usage("--service and --action are needed, or --ping")
	case c.Key == "" && (c.KeyPass != "" || c.Token != ""):
		return nil, usage("--key-password-file and --token-reference are of --key; name that too")
	case c.Token != "" && !slices.Contains(partners.AS4Tokens, c.Token):
		return nil, usage("--token-reference is %s, not %q", strings.Join(partners.AS4Tokens, ", "), c.Token)
	}
	if err := c.ids(); err != nil {
		return nil, err
	}
	u := &as4.UserMessage{
		MessageInfo: as4.MessageInfo{Timestamp: time.Now(), MessageID: c.MessageID},
		From:        as4.Party{ID: c.From, Type: c.FromType, Role: cmp.Or(c.FromRole, as4.InitiatorRole)},
		To:          as4.Party{ID: c.To, Type: c.ToType, Role: cmp.Or(c.ToRole, as4.ResponderRole)},
		Collaboration: as4.CollaborationInfo{Agreement: as4.Agreement{Value: c.Agreement}, Service: c.Service, ServiceType: c.ServiceType,
			Action: c.Action, ConversationID: c.Conversation},
	}
	if c.Ping {
		u.Collaboration.Service, u.Collaboration.Action = as4.TestService, as4.TestAction
	}
	payloads, err := c.payloads(a, c.Compress)
	if err != nil {
		return nil, err
	}
	signing, err := c.signing()
	if err != nil {
		return nil, err
	}
	var encrypting *wssec.Encrypting
	if c.EncryptTo != "" {
		to, err := oneCertificate(c.EncryptTo)
		if err != nil {
			return nil, err
		}
		encrypting = &wssec.Encrypting{Recipient: to}
	}
	var signers []*x509.Certificate
	if c.Signer != "" {
		by, err := oneCertificate(c.Signer)
		if err != nil {
			return nil, err
		}
		signers = append(signers, by)
	}
	composed, err := as4.Compose(u, payloads, signing, encrypting)
	return &as4Prepared{c.URL, composed, signers, as4.Sender{HTTP: c.patient(http.DefaultTransport.(*http.Transport))}}, err
}

// patient is a client that waits for an answer as long as it is told to.
func (c *as4Send) patient(by *http.Transport) *http.Client {
	transport := by.Clone()
	transport.ResponseHeaderTimeout = c.Patience // behind the last byte
	return &http.Client{Transport: transport}
}

func (c *as4Send) signing() (*wssec.Signing, error) {
	if c.Key == "" {
		return nil, nil
	}
	text, err := os.ReadFile(c.Key)
	if err != nil {
		return nil, err
	}
	password := ""
	if c.KeyPass != "" {
		b, err := os.ReadFile(c.KeyPass)
		if err != nil {
			return nil, err
		}
		password = strings.TrimRight(string(b), "\r\n")
	}
	key, chain, err := keys.Read(text, password)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Key, err)
	}
	if len(chain) == 0 {
		return nil, fmt.Errorf("%s: the certificate of the key is not in the same file; put it there: cat key.pem certificate.pem", c.Key)
	}
	return &wssec.Signing{Key: key, Certificate: chain[0], Chain: chain[1:], Token: as4.TokenForm(cmp.Or(c.Token, "bst"))}, nil
}

func oneCertificate(file string) (*x509.Certificate, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	c, err := partners.ParseCertificate(text)
	if err != nil {
		return nil, fmt.Errorf("%s %w", file, err)
	}
	return c, nil
}
