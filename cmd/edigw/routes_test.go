package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/edigw/edigw/web"
)

// commandOf names the command that asks for each route of the API; behind a dash why
// there is none.
var commandOf = map[string]string{
	"GET /openapi.json":          "- it describes the API to programs",
	"GET /schemas/document.json": "documents schema",

	"GET /partners":                                         "partners list",
	"PUT /partners":                                         "partners apply",
	"GET /partners/{partner}":                               "partners show",
	"PATCH /partners/{partner}":                             "partners set",
	"GET /partners/{partner}/sheet":                         "partners sheet",
	"POST /partners/{partner}/test":                         "partners test",
	"GET /partners/{partner}/revisions":                     "partners history",
	"GET /partners/{partner}/revisions/{revision}":          "partners history",
	"POST /partners/{partner}/revisions/{revision}/restore": "partners restore",
	"GET /organisations/{organisation}/revisions":           "partners history",
	"GET /configuration":                                    "partners export",
	"POST /configuration/diff":                              "partners diff",
	"POST /partners/{partner}/tokens":                       "partners token",
	"DELETE /partners/{partner}/tokens/{label}":             "partners revoke",

	"GET /messages":                                 "messages list",
	"GET /messages/{partner}/{message_id}":          "messages show",
	"GET /messages/{partner}/{message_id}/raw":      "messages raw",
	"GET /deliveries/{partner}/{delivery_id}/raw":   "messages raw",
	"GET /messages/{partner}/{message_id}/evidence": "evidence",
	"GET /messages/refused":                         "messages re-evaluate",
	"POST /messages/re-evaluate":                    "messages re-evaluate",

	"GET /drift":                      "drift list",
	"GET /drift/{alert_id}":           "drift show",
	"POST /drift/{alert_id}/assign":   "drift assign",
	"POST /drift/{alert_id}/decide":   "drift decide",
	"POST /drift/{alert_id}/approve":  "drift approve",
	"POST /drift/{alert_id}/withdraw": "drift withdraw",

	"GET /deadletters":                      "deadletters list",
	"POST /deadletters/replay":              "deadletters replay",
	"POST /deadletters/discard":             "deadletters discard",
	"GET /gaps":                             "gaps list",
	"POST /gaps/{partner}/{gap_id}/dismiss": "gaps dismiss",
	"GET /partners/{partner}/habits":        "partners habits",
	"GET /effects":                          "effects list",
	"POST /effects/resolve":                 "effects resolve",
	"GET /outgoing":                         "outgoing show",
	"POST /outgoing/hold":                   "outgoing hold",
	"POST /outgoing/confirm":                "outgoing confirm",
	"GET /acknowledgements":                 "acknowledgements list",

	"GET /retention/status":         "retention status",
	"GET /retention/runs":           "retention runs",
	"GET /retention/runs/{run_id}":  "retention runs",
	"GET /retention/preview":        "retention preview",
	"POST /retention/purge":         "retention purge",
	"POST /retention/pause":         "retention pause",
	"POST /retention/resume":        "retention resume",
	"POST /retention/confirm-clock": "retention confirm-clock",
	"GET /retention/holds":          "retention holds",
	"POST /retention/holds":         "retention hold",
	"POST /retention/holds/end":     "retention release",

	"GET /partners/{partner}/retention":          "retention show",
	"POST /partners/{partner}/retention/preview": "retention show",

	"GET /events":                                 "events list",
	"GET /events/{partner}/{event_id}":            "events show",
	"GET /subscriptions":                          "subscriptions list",
	"GET /subscriptions/{subscription}":           "subscriptions show",
	"PUT /subscriptions/{subscription}":           "subscriptions apply",
	"DELETE /subscriptions/{subscription}":        "subscriptions delete",
	"GET /subscriptions/{subscription}/set-aside": "subscriptions aside",
	"POST /subscriptions/{subscription}/pause":    "subscriptions pause",
	"POST /subscriptions/{subscription}/resume":   "subscriptions resume",
	"POST /subscriptions/{subscription}/resend":   "subscriptions resend",
	"POST /subscriptions/{subscription}/dismiss":  "subscriptions dismiss",
	"GET /documents":                              "documents list",
	"GET /documents/export":                       "documents export",
	"GET /documents/{document_id}":                "documents show",
	"POST /documents/{document_id}/report":        "documents report",
	"GET /imports":                                "import list",
	"POST /imports":                               "import keys",
	"GET /imports/{import_id}":                    "import keys",
	"POST /imports/{import_id}/rows":              "import keys",
	"GET /audit":                                  "audit list",
	"GET /users":                                  "users list",
	"POST /users":                                 "users add",
	"POST /users/{person}/role":                   "users role",
	"POST /users/{person}/disable":                "users disable",
	"POST /users/{person}/enable":                 "users enable",
	"GET /tokens":                                 "tokens list",
	"POST /tokens":                                "tokens create",
	"DELETE /tokens/{token_id}":                   "tokens revoke",
}

func TestEveryRouteHasItsCommand(t *testing.T) {
	a := &app{env: lookup(nil), stdout: os.Stdout, stderr: os.Stderr, grammar: &grammar{}}
	parser, err := a.parser(&settings{env: a.env})
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for _, leaf := range parser.Model.Leaves(false) {
		commands = append(commands, leaf.Path())
	}
	routes := map[string]bool{}
	for _, rt := range web.Routes {
		name := rt.Method + " " + rt.Path
		routes[name] = true
		command := commandOf[name]
		switch {
		case command == "":
			t.Errorf("%s has no command; if it is to have none, say why", name)
		case !strings.HasPrefix(command, "- ") && !slices.Contains(commands, command):
			t.Errorf("%s: there is no command %q", name, command)
		}
	}
	for name := range commandOf {
		if !routes[name] {
			t.Errorf("%s is no route", name)
		}
	}
}
