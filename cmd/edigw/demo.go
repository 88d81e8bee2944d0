package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/edigw/edigw/accounts"
)

//go:embed demo
var demoFiles embed.FS

// demoCommand shows in a minute what the gateway is for.
type demoCommand struct {
	Once     bool   `help:"End after the interchanges; exit 0 only if every answer was right."`
	Color    string `enum:"auto,always,never" default:"auto" help:"auto, always or never; NO_COLOR turns auto off."`
	LogLevel string `enum:"debug,info,warn,error" default:"error" help:"debug, info, warn or error: of the gateway's log on standard error."`
	listenFlags
}

// demoPartner is the partner who sends the invoice, demoOther the one who sends
// the despatch advice, and demoX12 sends both in X12; they stand in
// demo/partners.yaml. demoAS2 and demoAS4 do so over AS2 and AS4: demo/secured.yaml.
const (
	demoPartner = "muster-kaffee"
	demoOther   = "papierwerk"
	demoX12     = "cedar-mill"
	demoAS2     = "lindenroesterei"
	demoAS4     = "papierhof"
)

// Run starts a gateway in a folder of its own, which goes with it, and sends to
// it over its own HTTP ingress.
func (c *demoCommand) Run(a *app) (err error) {
	if a.grammar.dataDirDefault {
		dir, err := demoDir()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		a.grammar.DataDir = dir
	}
	flags := listenFlags{Listen: freeAddress(c.Listen), OpsListen: freeAddress(c.OpsListen)}
	master, err := demoMaster(a.grammar.DataDir)
	if err != nil {
		return err
	}
	s, err := a.start(&serveCommand{listenFlags: flags, masterFlags: masterFlags{MasterKey: master}, databaseFlags: databaseFlags{DatabaseConnections: 20},
		intakeFlags: intakeFlags{MaxBody: 64 << 20, SpoolCap: 1 << 30}, workFlags: workFlags{Workers: 1}}, a.logger("text", c.LogLevel))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop(10*time.Second)) }()
	d := &demo{app: a, started: s, color: a.color(c.Color), run: time.Now().UTC().Format("060102150405")}
	if err := d.prepare(); err != nil {
		return err
	}
	if err := d.show(); err != nil {
		return err
	}
	if c.Once {
		if d.wrong > 0 {
			return fmt.Errorf("%s of the demonstration was not what it has to be", plural(d.wrong, "answer"))
		}
		return nil
	}
	d.farewell()
	select {
	case <-a.ctx.Done():
		return nil
	case err := <-s.failed:
		return err
	}
}

// demoDir makes a folder that PostgreSQL's own user can pass through.
func demoDir() (string, error) {
	dir, err := os.MkdirTemp("", "edigw-demo-")
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o711)
}

// freeAddress is the address itself, or one that the system chooses where that
// is taken.
func freeAddress(address string) string {
	ln, err := net.Listen("tcp", address)
	if err == nil {
		err = ln.Close()
	}
	if err == nil {
		return address
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address // listening on it will say what is wrong
	}
	return net.JoinHostPort(host, "0")
}

// demo is a demonstration on its way.
type demo struct {
	*app
	*started
	color  bool
	run    string            // makes references and numbers of this run its own
	tokens map[string]string // by partner
	wrong  int
	secured
}

// prepare applies the partners as `partners apply` does, and has a token
// issued to each.
func (d *demo) prepare() error {
	by := accounts.Identity{Person: "edigw demo", Role: accounts.Admin}
	text, err := demoFiles.ReadFile("demo/partners.yaml")
	if err != nil {
		return err
	}
	if _, err := d.admin.apply(d.ctx, by, text, nil); err != nil {
		return err
	}
	d.tokens = map[string]string{}
	for _, partner := range []string{demoPartner, demoOther, demoX12} {
		if d.tokens[partner], err = d.admin.issueToken(d.ctx, by, partner, "demo "+d.run, time.Now().UTC().Add(24*time.Hour)); err != nil {
			return err
		}
	}
	return d.prepareSecured(by)
}

// file gives an interchange with references and numbers of this run.
func (d *demo) file(name, reference string) ([]byte, error) {
	text, err := demoFiles.ReadFile("demo/" + name)
	if err != nil {
		return nil, err
	}
	text = bytes.ReplaceAll(text, []byte("@REFERENCE@"), []byte(reference))
	return bytes.ReplaceAll(text, []byte("@NUMBER@"), []byte(d.run)), nil
}

// show sends the interchanges and holds each answer against what it has to
// be.
func (d *demo) show() error {
	invoice, err := d.file("invoice.edi", d.run)
	if err != nil {
		return err
	}
	d.heading("1  %s sends invoice RE-%s over 2536.60 EUR", demoPartner, d.run)
	first, err := d.send(demoPartner, invoice)
	if err != nil {
		return err
	}
	d.check(first.status == http.StatusCreated && first.verdict == "first", "201 first: taken, and in the tables")
	if err := d.documents(demoPartner, "invoice", d.run); err != nil {
		return err
	}

	d.heading("2  The acknowledgement was lost, say: %s sends the same bytes again", demoPartner)
	again, err := d.send(demoPartner, invoice)
	if err != nil {
		return err
	}
	d.check(again.status == http.StatusOK && again.verdict == "duplicate" && bytes.Equal(again.body, first.body),
		"200 duplicate: no second effect, and the first answer byte for byte (%d bytes)", len(again.body))

	d.heading("3  The same reference again, with a line of 130 instead of 120 packs")
	other, err := d.send(demoPartner, demoChange(invoice))
	if err != nil {
		return err
	}
	d.check(other.status == http.StatusUnprocessableEntity && other.verdict == "drift" && strings.HasSuffix(other.problem.Type, "/payload-drift"),
		"422 payload-drift: not processed silently, kept for an operator")
	if err := d.drift(); err != nil {
		return err
	}

	despatch, err := d.file("despatch.edi", d.run)
	if err != nil {
		return err
	}
	d.heading("4  %s sends a despatch advice", demoOther)
	advice, err := d.send(demoOther, despatch)
	if err != nil {
		return err
	}
	d.check(advice.status == http.StatusCreated && advice.verdict == "first", "201 first: the same reference from another sender is another interchange")
	if err := d.documents(demoOther, "despatch", d.run); err != nil {
		return err
	}
	for _, part := range []func() error{d.x12, d.overAS2, d.overAS4} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// demoChange makes the quantity of the first line 130 and every amount that
// follows from it what it then is.
func demoChange(invoice []byte) []byte {
	return []byte(strings.NewReplacer(
		"QTY+47:120:PCE", "QTY+47:130:PCE",
		"MOA+203:1488.00", "MOA+203:1612.00",
		":2131.60'", ":2255.60'", // sum of lines, basis of the tax
		":405.00'", ":428.56'", // tax
		":2536.60'", ":2684.16'",
	).Replace(string(invoice)))
}

// demoAnswer is what the partner was answered.
type demoAnswer struct {
	status  int
	verdict string
	body    []byte
	problem problem
}

func (d *demo) send(partner string, text []byte) (answer demoAnswer, err error) {
	ctx, cancel := context.WithTimeout(d.ctx, 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.access.Ingress+"/in/"+partner, bytes.NewReader(text))
	if err != nil {
		return answer, err
	}
	r.Header.Set("Authorization", "Bearer "+d.tokens[partner])
	c, err := httpClient(d.access.IngressCertificate)
	if err != nil {
		return answer, err
	}
	resp, err := c.Do(r)
	if err != nil {
		return answer, err
	}
	answer.status, answer.verdict = resp.StatusCode, resp.Header.Get("Edigw-Verdict")
	answer.body, err = io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return answer, err
	}
	d.line("   POST /in/%s  %d bytes  →  %s  Edigw-Verdict: %s", partner, len(text), resp.Status, answer.verdict)
	if resp.StatusCode >= 400 {
		if err := json.Unmarshal(answer.body, &answer.problem); err != nil {
			return answer, fmt.Errorf("the answer is no problem+json: %w", err)
		}
		d.line("   %s", answer.problem.Title)
	}
	return answer, nil
}

// documents shows what the ERP would read of a class, under numbers that end in this.
func (d *demo) documents(partner, class, number string) error {
	c, err := d.client(connection{})
	if err != nil {
		return err
	}
	var page struct {
		Items []document `json:"items"`
	}
	if _, err := c.ask(d.app, http.MethodGet, "/documents", filters("partner", partner), nil, &page); err != nil {
		return err
	}
	found := 0
	for _, doc := range page.Items {
		if doc.Class != class || !strings.HasSuffix(doc.Number, number) {
			continue
		}
		found++
		amount := ""
		if doc.Amount != "" {
			amount = ", " + doc.Amount + " " + doc.Currency
		}
		d.line("   in the tables: %s %s of %s, %s%s", doc.Class, doc.Number, doc.IssueDate, plural(doc.Lines, "line"), amount)
	}
	d.check(found == 1, "its effect is there once")
	return nil
}

// drift shows what an operator sees.
func (d *demo) drift() error {
	c, err := d.client(connection{})
	if err != nil {
		return err
	}
	var page struct {
		Items []driftAlert `json:"items"`
	}
	if _, err := c.ask(d.app, http.MethodGet, "/drift", filters("partner", demoPartner, "state", "open", "limit", "1"), nil, &page); err != nil {
		return err
	}
	if len(page.Items) == 0 {
		d.check(false, "an alert is open")
		return nil
	}
	alert := page.Items[0]
	d.line("   operator: %s, %s: %s", alert.Severity, alert.Class, alert.Headline)
	var detail driftDetail
	if _, err := c.ask(d.app, http.MethodGet, "/drift/"+url.PathEscape(alert.ID), nil, nil, &detail); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := detail.comparison(&text, d.color); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		d.line("   │ %s", strings.TrimRight(line, "\n"))
	}
	words := strings.Map(func(r rune) rune { // amounts are grouped by spaces
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, alert.Headline)
	d.check(alert.Severity == "critical" && strings.Contains(words, "total2536.60→2684.16EUR"), "the difference in words: the total changed")
	return nil
}

func (d *demo) heading(format string, args ...any) { d.line("\n"+format, args...) }

func (d *demo) line(format string, args ...any) { fmt.Fprintf(d.stdout, format+"\n", args...) }

// check says whether an answer was right.
func (d *demo) check(right bool, format string, args ...any) {
	mark, code := "✓", "32"
	if !right {
		d.wrong++
		mark, code = "✗ NOT SO:", "31"
	}
	if d.color {
		mark = "\x1b[" + code + "m" + mark + "\x1b[0m"
	}
	d.line("   "+mark+" "+format, args...)
}

// farewell says how to go on by hand.
func (d *demo) farewell() {
	sample := filepath.Join(d.grammar.DataDir, "invoice.edi")
	reference := d.run + "A"
	text, err := d.file("invoice.edi", reference)
	if err == nil {
		text = bytes.ReplaceAll(text, []byte("RE-"+d.run), []byte("RE-"+reference))
		err = os.WriteFile(sample, text, 0o600)
	}
	if err != nil {
		d.progress("the sample for a try by hand was not written: %v", err)
		return
	}
	ingress := d.access.Ingress + "/in/" + demoPartner
	d.line("\nThe gateway keeps running; Ctrl-C ends it.")
	d.line("  ingress     %s", ingress)
	d.line("  operations  %s", d.access.URL)
	d.line("\nTry by hand in another terminal (curl twice, then with a changed byte):")
	d.line("  export EDIGW_DATA_DIR=%s INGRESS=%s TOKEN=%s", quoted(d.grammar.DataDir), ingress, d.tokens[demoPartner])
	d.line("  curl -i -H \"Authorization: Bearer $TOKEN\" --data-binary @%s $INGRESS", quoted(sample))
	d.line("  edigw drift list")
}

// quoted is a path as a shell takes it.
func quoted(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }
