package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the linker: -X main.version=….
var version = ""

type versionCommand struct{}

// Run prints version, commit and Go release on one line.
func (versionCommand) Run(a *app) error {
	_, err := fmt.Fprintf(a.stdout, "edigw %s %s %s/%s\n", programVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// programVersion is what the linker said, else what Go noted of the source.
func programVersion() string {
	if version != "" {
		return version
	}
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range b.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(12, len(s.Value))]
		}
	}
	return b.Main.Version
}
