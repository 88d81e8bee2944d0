package main

import (
	"log/slog"
)

// logFlags say how the gateway writes its log, on standard error.
type logFlags struct {
	LogFormat string `setting:"" enum:"text,json" default:"text" help:"text or json."`
	LogLevel  string `setting:"" enum:"debug,info,warn,error" default:"info" help:"debug, info, warn or error."`
}

// logger writes to standard error: standard output is for data.
func (a *app) logger(format, level string) *slog.Logger {
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		least = slog.LevelInfo // the grammar lets no other word through
	}
	o := &slog.HandlerOptions{Level: least}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(a.stderr, o))
	}
	return slog.New(slog.NewTextHandler(a.stderr, o))
}
