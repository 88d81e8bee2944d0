package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/edigw/edigw/partners"
)

// configured is what the API says of a change of the configuration.
type configured struct {
	Changes partners.Changes `json:"changes"`
	partners.Left
	body []byte
	tag  string // entity tag of the configuration that it was judged on; "" of an older gateway
}

// partnersOf reads YAML files, and gives who is to be sent what they say.
func (a *app) partnersOf(to connection, files []string) (*client, []partners.Spec, error) {
	specs, err := a.readPartners(files)
	if err != nil {
		return nil, nil, err
	}
	if len(specs) == 0 {
		return nil, nil, usage("there is no partner in %s", strings.Join(files, ", "))
	}
	api, err := a.client(to)
	return api, specs, err
}

// sendPartners sends specs, on the configuration of an entity tag if that is not
// empty.
func (c *client) sendPartners(a *app, specs []partners.Spec, method, path, tag string) (answer configured, err error) {
	text, err := partners.Write(specs)
	if err != nil {
		return answer, err
	}
	var headers []string
	if tag != "" {
		headers = []string{"If-Match", tag}
	}
	resp, err := c.do(a, method, path, nil, "application/yaml", bytes.NewReader(text), headers...)
	if p := (*problem)(nil); errors.As(err, &p) && p.is("changed-meanwhile") {
		return answer, changedMeanwhile(p)
	} else if errors.As(err, &p) && len(p.Errors) > 0 {
		return answer, faultsInFiles(p, specs)
	}
	if err != nil {
		return answer, err
	}
	answer.tag = resp.Header.Get("ETag")
	answer.body, err = io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return answer, fmt.Errorf("read the answer: %w", err)
	}
	if err := json.Unmarshal(answer.body, &answer); err != nil {
		return answer, fmt.Errorf("the answer to %s is not what this version expects: %w; are client and gateway of the same version?", path, err)
	}
	return answer, nil
}

// changedMeanwhile tells what came between.
func changedMeanwhile(p *problem) error {
	text := "nothing was changed: somebody else changed the configuration meanwhile; look at it, and apply again"
	for _, f := range p.Errors {
		text += "\n  " + printable(f.Key+": "+f.Detail)
	}
	return errors.New(text)
}

// tell shows what changed, or says on standard error that nothing did.
func (c configured) tell(a *app, output, nothing string) error {
	if output == "json" {
		return a.rawJSON(c.body)
	}
	for _, ch := range c.Changes {
		if _, err := fmt.Fprintln(a.stdout, printable(ch.String())); err != nil {
			return err
		}
		for _, f := range ch.Fields {
			if _, err := fmt.Fprintln(a.stdout, "  "+printable(f.String())); err != nil {
				return err
			}
		}
	}
	if len(c.Changes) == 0 {
		a.progress("%s", nothing)
	}
	return nil
}

type partnersDiff struct {
	File   []string `short:"f" required:"" placeholder:"FILE" help:"A YAML file, a folder of them, or - for standard input; may be given several times."`
	Output string   `short:"o" enum:"table,json" default:"table" help:"table or json."`
	connection
}

func (c *partnersDiff) Run(a *app) error {
	api, specs, err := a.partnersOf(c.connection, c.File)
	if err != nil {
		return err
	}
	answer, err := api.sendPartners(a, specs, http.MethodPost, "/configuration/diff", "")
	if err != nil {
		return err
	}
	if err := answer.tell(a, c.Output, "no difference"); err != nil {
		return err
	}
	if len(answer.Changes) > 0 {
		return findings()
	}
	return nil
}

type partnersExport struct {
	Partner string `arg:"" optional:"" help:"The partner's id; all partners and organisations if left out."`
	connection
}

func (c *partnersExport) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	text, err := api.ask(a, http.MethodGet, "/configuration", filters("partner", c.Partner), nil, nil)
	if err != nil {
		return err
	}
	_, err = a.stdout.Write(text)
	return err
}

type partnersSet struct {
	Partner  string   `arg:"" help:"The partner's id."`
	Settings []string `arg:"" placeholder:"KEY=VALUE" help:"Keys of the YAML with dots, like retention.payloads=60d or types=[INVOIC]; KEY= is the default again."`
	Output   string   `short:"o" enum:"table,json" default:"table" help:"table or json."`
	connection
}

// Run changes what the partner is now: where somebody else changes it between
// reading and writing, it is refused and says so.
func (c *partnersSet) Run(a *app) error {
	patch := map[string]any{}
	for _, s := range c.Settings {
		key, value, ok := strings.Cut(s, "=")
		if !ok || key == "" {
			return usage("%q is no setting; write it like on_drift=hold", s)
		}
		if err := put(patch, strings.Split(key, "."), value); err != nil {
			return usage("%s: %w", key, err)
		}
	}
	text, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	path := "/partners/" + url.PathEscape(c.Partner)
	var now struct {
		Revision int32 `json:"revision"`
	}
	if _, err := api.ask(a, http.MethodGet, path, nil, nil, &now); err != nil {
		return err
	}
	var answer configured
	answer.body, err = api.answer(a, http.MethodPatch, path, nil, "application/merge-patch+json", bytes.NewReader(text), &answer,
		"If-Match", strconv.Quote(strconv.Itoa(int(now.Revision))))
	if err != nil {
		return err
	}
	return answer.tell(a, c.Output, "nothing changed: it is so already")
}

// put sets one value of a merge patch. A list is written as in YAML's brackets.
func put(into map[string]any, path []string, value string) error {
	for _, key := range path[:len(path)-1] {
		below, ok := into[key].(map[string]any)
		if !ok {
			if _, taken := into[key]; taken {
				return fmt.Errorf("%s is given both as a whole and in part", key)
			}
			below = map[string]any{}
			into[key] = below
		}
		into = below
	}
	last := path[len(path)-1]
	if _, taken := into[last]; taken {
		return errors.New("is given twice")
	}
	switch inner, isList := strings.CutPrefix(value, "["); {
	case value == "":
		into[last] = nil
	case isList:
		inner, closed := strings.CutSuffix(inner, "]")
		if !closed {
			return errors.New("a list ends with ]")
		}
		list := []string{}
		for word := range strings.SplitSeq(inner, ",") {
			if word = strings.TrimSpace(word); word != "" {
				list = append(list, word)
			}
		}
		into[last] = list
	default:
		into[last] = value
	}
	return nil
}

type partnersHistory struct {
	ID           string `arg:"" help:"The partner's id."`
	Organisation bool   `help:"It is an organisation's id."`
	Revision     int    `placeholder:"N" help:"Show the partner's configuration under this revision."`
	wholeListing
}

func (c *partnersHistory) Run(a *app) error {
	if c.Revision != 0 {
		if c.Organisation {
			return usage("--revision is of partners; leave --organisation out")
		}
		output := "yaml"
		if c.Output == "json" {
			output = "json"
		}
		return a.show(c.connection, "/partners/"+url.PathEscape(c.ID)+"/revisions/"+strconv.Itoa(c.Revision), output)
	}
	path := "/partners/"
	if c.Organisation {
		path = "/organisations/"
	}
	type revision struct {
		Number  int32                  `json:"revision"`
		Cause   string                 `json:"cause"`
		By      string                 `json:"applied_by"`
		Applied time.Time              `json:"applied_at"`
		Fields  []partners.FieldChange `json:"fields"`
	}
	titles := []string{"REVISION", "APPLIED", "BY", "WHY", "WHAT"}
	return list(a, c.listing(), path+url.PathEscape(c.ID)+"/revisions", nil, titles, func(r revision) []string {
		var what []string
		for _, f := range r.Fields {
			if r.Cause != "created" {
				what = append(what, f.String())
			}
		}
		return []string{strconv.Itoa(int(r.Number)), clock(r.Applied), r.By, r.Cause, shorten(strings.Join(what, "; "), 120)}
	})
}

type partnersRestore struct {
	Partner         string `arg:"" help:"The partner's id."`
	Revision        int    `arg:"" help:"The revision, as history shows it."`
	WithCredentials bool   `help:"Make its tokens and certificates what they were, too; without it they stay as they are now."`
	Output          string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	connection
}

func (c *partnersRestore) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	var answer configured
	var choice url.Values
	if c.WithCredentials {
		choice = filters("credentials", "true")
	}
	path := "/partners/" + url.PathEscape(c.Partner) + "/revisions/" + strconv.Itoa(c.Revision) + "/restore"
	if answer.body, err = api.ask(a, http.MethodPost, path, choice, nil, &answer); err != nil {
		return err
	}
	why := "it is not the partner's now, which --with-credentials would change"
	if c.WithCredentials {
		why = "it was revoked since, or is another's"
	}
	for _, label := range answer.Tokens {
		a.progress("token %s stays away: %s", printable(label), why)
	}
	for _, label := range answer.Certificates {
		a.progress("certificate %s stays away: %s", printable(label), why)
	}
	return answer.tell(a, c.Output, "nothing changed: it is so already")
}
