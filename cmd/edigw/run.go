package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"
)

// grammar is the whole command line.
type grammar struct {
	Config  string `placeholder:"FILE" help:"Settings as YAML; keys are the flags' names with _ for -."`
	DataDir string `setting:"" placeholder:"DIR" help:"Where the gateway keeps the embedded PostgreSQL and the address and token for its own command line (default: ${data_dir})."`

	Tables string `setting:"" placeholder:"PATH" help:"A file, or a folder of *.txt, with tables of messages beside the built-in ones, for serve, inspect and validate."`

	dataDirDefault bool // nothing was said

	Serve serveCommand `cmd:"" default:"withargs" help:"Run the gateway (default)."`
	Demo  demoCommand  `cmd:"" help:"Run the gateway with two partners, send four interchanges and show each answer."`

	Inspect  inspectCommand  `cmd:"" help:"Read an interchange and say what is in it and what is wrong with it. Needs no server."`
	Validate validateCommand `cmd:"" help:"Say what is wrong with files, as a partner's checks want it. Needs no server."`
	Diff     diffCommand     `cmd:"" help:"Compare two interchanges segment by segment. Needs no server."`

	Ingest   ingestCommand   `cmd:"" help:"Send files to the gateway over its HTTP ingress."`
	Watch    watchCommand    `cmd:"" help:"Send the files that are dropped into a folder."`
	AS4      as4Command      `cmd:"" name:"as4" help:"Send AS4 messages."`
	Import   importCommand   `cmd:"" help:"Take over what a former gateway has processed."`
	Partners partnersCommand `cmd:"" help:"Who may send."`
	As2      as2Command      `cmd:"" name:"as2" help:"Send over AS2. Works on the database, with the master key."`
	Keys     keysCommand     `cmd:"" help:"Our own private keys. Works on the database, with the master key."`
	Messages messagesCommand `cmd:"" help:"What came in, and its outcome."`
	Evidence evidenceCommand `cmd:"" help:"All that is kept of one message, as a zip that openssl can verify."`
	Drift    driftCommand    `cmd:"" help:"Known ids that came with other content."`

	Deadletters      deadlettersCommand      `cmd:"" help:"Messages that our processing failed on."`
	Documents        documentsCommand        `cmd:"" help:"Invoices and despatch advices."`
	Acknowledgements acknowledgementsCommand `cmd:"" help:"CONTRL, TA1, 997 and 999 that leave by another way than the response, APERAK and 824."`
	Gaps             gapsCommand             `cmd:"" help:"Control references that did not come: lost files."`
	Effects          effectsCommand          `cmd:"" help:"What events cause outside the database."`
	Outgoing         outgoingCommand         `cmd:"" help:"Whether anything may leave: it is held after a restore."`
	Retention        retentionCommand        `cmd:"" help:"What is purged when its retention has passed."`
	Events           eventsCommand           `cmd:"" help:"What happened, for programs that ask."`
	Subscriptions    subscriptionsCommand    `cmd:"" help:"Who is told of events: webhooks, Kafka, mail."`
	Audit            auditCommand            `cmd:"" help:"Who did what."`
	Users            usersCommand            `cmd:"" help:"People who may act, and their roles."`
	Tokens           tokensCommand           `cmd:"" help:"Tokens for the API."`

	Settings   configCommand     `cmd:"" name:"config" help:"The settings, and where each comes from."`
	Completion completionCommand `cmd:"" help:"Write what makes a shell complete edigw's commands."`

	Migrate migrateCommand `cmd:"" help:"Bring the database's schema up to date."`
	Doctor  doctorCommand  `cmd:"" help:"Look at everything the gateway needs, and say what to do."`
	Health  healthCommand  `cmd:"" help:"Ask the gateway of this machine whether it is well; exit 1 if not."`
	Version versionCommand `cmd:"" help:"Say which version this is."`
}

// app is what a command works with.
type app struct {
	ctx            context.Context
	stdin          io.Reader
	stdout, stderr io.Writer
	env            func(string) (string, bool)
	hangup         func() <-chan os.Signal // has SIGHUP told instead of ending the process; nil where nobody sends it
	grammar        *grammar

	environ func() []string // names and values of the whole environment; nil where it is not known
	parsed  *kong.Context   // the command line, for who tells where a value comes from
	known   *settings       // environment and file
}

// The exit codes of design §9.
const (
	exitOK       = 0
	exitFailed   = 1
	exitUsage    = 2
	exitFindings = 3
	exitPartly   = 5
)

// exit is an error with the exit code it ends in. An empty err has been told.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// usage is an error of whoever typed the command.
func usage(format string, args ...any) error {
	return &exit{exitUsage, fmt.Errorf(format, args...)}
}

// findings ends a command that did its work and found something.
func findings() error { return &exit{exitFindings, nil} }

// Run runs one command and gives its exit code. It touches nothing of the
// process but what it is given, so that tests run whole commands.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env func(string) (string, bool)) int {
	return (&app{ctx: ctx, stdin: stdin, stdout: stdout, stderr: stderr, env: env}).end(args)
}

// end runs one command, tells its error and gives its exit code.
func (a *app) end(args []string) int {
	a.grammar = &grammar{}
	err := a.run(args)
	if err == nil {
		return exitOK
	}
	code := exitFailed
	var e *exit
	if errors.As(err, &e) {
		code = e.code
	}
	if e == nil || e.err != nil {
		fmt.Fprintf(a.stderr, "edigw: %v\n", err)
	}
	return code
}

// ended is what kong's exit becomes: after --help there is nothing more to do.
type ended int

func (a *app) run(args []string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			code, ok := r.(ended)
			if !ok {
				panic(r)
			}
			if err = nil; code != 0 {
				err = &exit{int(code), nil}
			}
		}
	}()
	settings, err := a.settings(args)
	if err != nil {
		return &exit{exitUsage, err}
	}
	parser, err := a.parser(settings)
	if err != nil {
		return fmt.Errorf("the command line is built wrong: %w", err)
	}
	if err := knownCommand(parser.Model, args); err != nil {
		return err
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return &exit{exitUsage, fmt.Errorf("%w; see edigw --help", err)}
	}
	if err := hollowFlag(parsed); err != nil {
		return err
	}
	if a.grammar.DataDir == "" {
		a.grammar.DataDir, a.grammar.dataDirDefault = a.defaultDataDir(), true
	}
	a.parsed, a.known = parsed, settings
	return parsed.Run(a)
}

// knownCommand refuses a word that is no command: to the parser it would be an
// argument too many of serve, which needs no name.
func knownCommand(model *kong.Application, args []string) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return nil
	}
	var names []string
	for _, c := range model.Children {
		if c.Name == args[0] {
			return nil
		}
		names = append(names, c.Name)
	}
	return usage("there is no command %q; there are: %s", args[0], strings.Join(names, ", "))
}

func (a *app) parser(settings *settings) (*kong.Kong, error) {
	return kong.New(a.grammar,
		kong.Name("edigw"),
		kong.Description("An EDI interchange gateway: every message has its effect once, and a repeat gets the first answer.\n\n"+
			"Settings are taken from flags, then from the environment, then from the file.\n\n"+
			"Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done with findings, 5 partly done."),
		kong.Writers(a.stdout, a.stderr),
		kong.Exit(func(code int) { panic(ended(code)) }),
		kong.Vars{"data_dir": a.defaultDataDir()},
		kong.Resolvers(settings),
		kong.ValueFormatter(helpOf),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, Summary: true, WrapUpperBound: 100}),
	)
}
