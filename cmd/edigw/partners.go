package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/targets"
)

type partnersCommand struct {
	Apply  partnersApply  `cmd:"" help:"Bring partners and organisations to what YAML files say."`
	Diff   partnersDiff   `cmd:"" help:"Say what it would change to apply YAML files."`
	Export partnersExport `cmd:"" help:"Write partners and organisations as YAML that changes nothing when it is applied."`
	Set    partnersSet    `cmd:"" help:"Change single settings of a partner."`

	History partnersHistory `cmd:"" help:"What a partner's configuration was: who changed what, and when."`
	Restore partnersRestore `cmd:"" help:"Make a partner's configuration what it was under a revision."`

	Sheet partnersSheet `cmd:"" help:"Write the page that a partner needs to connect: address, ids, certificates, answers, limits."`
	Test  partnersTest  `cmd:"" help:"Say what would happen with a file, or a certificate, of a partner."`

	Habits partnersHabits `cmd:"" help:"What a partner usually does, and which settings that speaks for or against."`

	List  partnersList  `cmd:"" help:"Partners, by id."`
	Show  partnersShow  `cmd:"" help:"One partner with all its settings and its tokens."`
	Token partnersToken `cmd:"" help:"Make a token that a partner shows on plain HTTP; its text is shown this once."`

	Revoke partnersRevoke `cmd:"" help:"End a partner's token for good; a file that still declares it is refused afterwards."`
}

type partnersApply struct {
	File      []string `short:"f" required:"" placeholder:"FILE" help:"A YAML file, a folder of them, or - for standard input; may be given several times."`
	Overwrite bool     `help:"Undo what others have changed since the file was exported."`
	Output    string   `short:"o" enum:"table,json" default:"table" help:"table or json."`
	connection
}

// Run reads the files here, where env: and file: references mean something, and
// sends what they come to. What was judged is what is applied: where somebody
// changes the configuration in between, nothing is.
func (c *partnersApply) Run(a *app) error {
	api, specs, err := a.partnersOf(c.connection, c.File)
	if err != nil {
		return err
	}
	found, err := api.sendPartners(a, specs, http.MethodPost, "/configuration/diff", "")
	if err != nil {
		return err
	}
	if err := api.undone(a, specs, found.Changes, c.Overwrite); err != nil {
		return err
	}
	answer, err := api.sendPartners(a, specs, http.MethodPut, "/partners", found.tag)
	if err != nil {
		return err
	}
	if err := answer.tell(a, c.Output, "nothing changed: it is all so already"); err != nil || c.Output == "json" {
		return err
	}
	if slices.ContainsFunc(specs, func(s partners.Spec) bool { return s.Partner != nil && s.Partner.HandOver == targets.FolderName }) {
		a.progress("hand_over: folder needs a gateway that runs with --hand-over-dir; `edigw doctor` says when documents wait for one")
	}
	return nil
}

// readPartners reads files, folders (their *.yaml and *.yml) and standard input.
// Every fault of all of them is told at once.
func (a *app) readPartners(names []string) ([]partners.Spec, error) {
	files, err := yamlFiles(names)
	if err != nil {
		return nil, err
	}
	reader := partners.Reader{Getenv: a.env, ReadFile: os.ReadFile}
	var specs []partners.Spec
	var faults partners.Faults
	for _, name := range files {
		var text []byte
		if name == "-" {
			text, err = io.ReadAll(a.stdin)
		} else {
			text, err = os.ReadFile(name)
		}
		if err != nil {
			return nil, err
		}
		read, err := reader.Read(name, text)
		if wrong := (partners.Faults)(nil); errors.As(err, &wrong) {
			faults = append(faults, wrong...)
		} else if err != nil {
			return nil, err
		}
		specs = append(specs, read...)
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("nothing was changed:\n%w", faults)
	}
	return specs, nil
}

func yamlFiles(names []string) ([]string, error) {
	var files []string
	for _, name := range names {
		st, err := os.Stat(name)
		if name == "-" || err == nil && !st.IsDir() {
			files = append(files, name)
			continue
		}
		if err != nil {
			return nil, err
		}
		// The walk follows no link, of which the folder itself may be one.
		folder, err := filepath.EvalSymlinks(name)
		if err != nil {
			return nil, err
		}
		err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			// QUIRK: Kubernetes mounts the files of a ConfigMap as links into a hidden
			// folder beside them, in which each would be found a second time.
			if err == nil && d.IsDir() && path != folder && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			if ext := filepath.Ext(path); err == nil && !d.IsDir() && (ext == ".yaml" || ext == ".yml") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// faultsInFiles tells what the gateway refused under the files' own names: it
// saw one text that was made of all of them.
func faultsInFiles(p *problem, specs []partners.Spec) error {
	var starts []int // line of the sent text in which each spec begins
	line := 1
	for _, s := range specs {
		text, err := partners.Write([]partners.Spec{s})
		if err != nil {
			return p
		}
		starts = append(starts, line)
		line += bytes.Count(text, []byte("\n")) + 1 // and the marker between documents
	}
	var faults partners.Faults
	for _, f := range p.Errors {
		out := partners.Fault{Key: f.Key, Text: f.Detail}
		if i, exact := slices.BinarySearch(starts, f.Line); f.Line > 0 {
			if !exact {
				i--
			}
			out.File, out.Line, out.Column = specs[max(i, 0)].File, specs[max(i, 0)].Line, 1
		}
		faults = append(faults, out)
	}
	return fmt.Errorf("nothing was changed:\n%w", faults)
}

type partnersList struct {
	Organisation string `placeholder:"ID" help:"Only those of this organisation of ours."`
	State        string `placeholder:"WORD" help:"active or paused."`
	Identifier   string `placeholder:"ID" help:"Only whose this is, with its qualifier (14:9520001000010) or without."`
	Type         string `placeholder:"TYPE" help:"Only those that may send this message type."`
	wholeListing
}

func (c *partnersList) Run(a *app) error {
	type partner struct {
		ID           string                `json:"id"`
		Name         string                `json:"name"`
		State        string                `json:"state"`
		Organisation string                `json:"organisation"`
		Revision     int                   `json:"revision"`
		Connected    string                `json:"connected_on"`
		Identifiers  []partners.Identifier `json:"identifiers"`
		Types        []string              `json:"types"`
	}
	titles := []string{"PARTNER", "NAME", "STATE", "ORGANISATION", "REVISION", "CONNECTED", "IDENTIFIERS", "TYPES"}
	l := c.listing()
	return list(a, l, "/partners", l.filters("organisation", c.Organisation, "state", c.State, "identifier", c.Identifier, "type", c.Type), titles, func(p partner) []string {
		var ids []string
		for _, id := range p.Identifiers {
			ids = append(ids, id.String())
		}
		return []string{p.ID, p.Name, p.State, p.Organisation, strconv.Itoa(p.Revision), p.Connected, strings.Join(ids, " "), strings.Join(p.Types, " ")}
	})
}

type partnersShow struct {
	Partner string `arg:"" help:"The partner's id."`
	Output  string `short:"o" enum:"yaml,json" default:"yaml" help:"yaml or json."`
	connection
}

func (c *partnersShow) Run(a *app) error {
	return a.show(c.connection, "/partners/"+url.PathEscape(c.Partner), c.Output)
}

type partnersToken struct {
	Partner string        `arg:"" help:"The partner's id."`
	Label   string        `required:"" help:"Tells the partner's tokens apart."`
	Expires time.Duration `placeholder:"DURATION" help:"For how long it holds, like 2160h; for ever if left out."`
	Output  string        `short:"o" enum:"table,json" default:"table" help:"table or json."`
	connection
}

func (c *partnersToken) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	body, token, err := api.partnerToken(a, c.Partner, c.Label, c.Expires)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return a.rawJSON(body)
	}
	_, err = fmt.Fprintln(a.stdout, token)
	return err
}

// partnerToken has a token made that a partner shows on plain HTTP.
func (c *client) partnerToken(a *app, partner, label string, holds time.Duration) (body []byte, token string, err error) {
	send := map[string]any{"label": label}
	expires, err := expiry(holds)
	if err != nil {
		return nil, "", err
	}
	if !expires.IsZero() {
		send["expires_at"] = expires
	}
	var made struct {
		Token string `json:"token"`
	}
	body, err = c.ask(a, http.MethodPost, "/partners/"+url.PathEscape(partner)+"/tokens", nil, send, &made)
	return body, made.Token, err
}

type partnersRevoke struct {
	Partner string `arg:"" help:"The partner's id."`
	Label   string `arg:"" help:"The token's label, as partners show tells it."`
	connection
}

func (c *partnersRevoke) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	path := "/partners/" + url.PathEscape(c.Partner) + "/tokens/" + url.PathEscape(c.Label)
	if _, err := api.ask(a, http.MethodDelete, path, nil, nil, nil); err != nil {
		return err
	}
	a.progress("token %s of %s is revoked", printable(c.Label), printable(c.Partner))
	return nil
}
