package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCommand struct {
	Bash  completionScript `cmd:"" help:"For bash: source <(edigw completion bash)."`
	Zsh   completionScript `cmd:"" help:"For zsh: source <(edigw completion zsh)."`
	Fish  completionScript `cmd:"" help:"For fish: edigw completion fish | source."`
	Words completionWords  `cmd:"" help:"Write what may stand in the place of the last word; the scripts ask for it."`
}

// scripts ask the program itself, so that they fit whichever version there is.
// Where it has nothing to say a file is completed.
var scripts = map[string]string{
	//
	// QUIRK: bash cuts --output=json into three words, and completes the last alone:
	// they are put together again, and of the answer what stands before = is left out.
	"bash": `_edigw() {
	local IFS=$'\n' i n=0 before= word words=()
	for ((i = 1; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if ((n > 0)) && [[ $word == = && ${words[n-1]} == --* && ${words[n-1]} != *=* ]]; then
			words[n-1]+='='
			before=${words[n-1]}
		elif [[ -n $before ]]; then
			words[n-1]+=$word
			if ((i < COMP_CWORD)); then before=; fi
		else
			words[n++]=$word
		fi
	done
	COMPREPLY=($(edigw completion words -- "${words[@]}" 2>/dev/null))
	if [[ -n $before ]]; then COMPREPLY=("${COMPREPLY[@]#"$before"}"); fi
}
complete -o default -F _edigw edigw
`,
	"zsh": `_edigw() {
	local -a candidates
	candidates=("${(@f)$(edigw completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	if [[ -n "${candidates[1]}" ]]; then compadd -- "${candidates[@]}"; else _files; fi
}
compdef _edigw edigw
`,
	"fish": `function __edigw
	edigw completion words -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null
end
complete -c edigw -a '(__edigw)'
`,
}

type completionScript struct{}

func (c *completionScript) Run(a *app) error {
	_, err := fmt.Fprint(a.stdout, scripts[a.parsed.Selected().Name])
	return err
}

type completionWords struct {
	Typed []string `arg:"" optional:"" passthrough:"" help:"The words behind edigw, the last one as far as it is typed."`
}

func (c *completionWords) Run(a *app) error {
	typed := c.Typed
	if len(typed) > 0 && typed[0] == "--" {
		typed = typed[1:]
	}
	for _, word := range candidates(a.parsed.Model, typed) {
		if _, err := fmt.Fprintln(a.stdout, word); err != nil {
			return err
		}
	}
	return nil
}

// candidates are the commands, flags or values that may stand where the last
// word is being typed; none where only the user can know.
func candidates(model *kong.Application, typed []string) []string {
	if len(typed) == 0 {
		typed = []string{""}
	}
	node, before, last := model.Node, typed[:len(typed)-1], typed[len(typed)-1]
	var waiting *kong.Flag // for its value
	for _, word := range before {
		switch {
		case waiting != nil:
			waiting = nil
		case strings.HasPrefix(word, "-"):
			name, _, whole := strings.Cut(word, "=")
			if f := flagNamed(node, name); f != nil && !whole && !f.IsBool() {
				waiting = f
			}
		default:
			if i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == word }); i >= 0 {
				node = node.Children[i]
			}
		}
	}
	var words []string
	switch name, _, assigned := strings.Cut(last, "="); {
	case waiting != nil:
		words = valuesOf(waiting)
	case strings.HasPrefix(last, "--") && assigned:
		if f := flagNamed(node, name); f != nil {
			for _, v := range valuesOf(f) {
				words = append(words, name+"="+v)
			}
		}
	case strings.HasPrefix(last, "-"):
		for _, group := range node.AllFlags(true) {
			for _, f := range group {
				words = append(words, "--"+f.Name)
			}
		}
	default:
		for _, n := range node.Children {
			if !n.Hidden {
				words = append(words, n.Name)
			}
		}
	}
	words = slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, last) })
	slices.Sort(words)
	return slices.Compact(words)
}

func flagNamed(node *kong.Node, word string) *kong.Flag {
	for _, group := range node.AllFlags(false) {
		for _, f := range group {
			if word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short) {
				return f
			}
		}
	}
	return nil
}

func valuesOf(f *kong.Flag) []string {
	if f.Enum == "" {
		return nil
	}
	return f.EnumSlice()
}
