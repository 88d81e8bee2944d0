package embeddedpg

import (
	"maps"
	"slices"
)

// settings are the command-line arguments that configure the server. They are
// given at every start instead of being written into postgresql.conf, so that
// a new version of the gateway changes them for a cluster that is there.
func settings(opts Options) []string {
	s := map[string]string{
		"listen_addresses":        "",
		"unix_socket_permissions": "0700",
		"cluster_name":            "edigw",

		// No acknowledgement leaves before its row is durable.
		"fsync":              "on",
		"full_page_writes":   "on",
		"synchronous_commit": "on",

		// A gateway's load: short transactions that write, payloads in TOAST.
		"shared_buffers":                  "128MB",
		"max_connections":                 "100",
		"max_wal_size":                    "2GB",
		"checkpoint_timeout":              "15min",
		"wal_compression":                 "lz4",
		"default_toast_compression":       "lz4",
		"jit":                             "off", // costs more than it gives on short statements
		"max_parallel_workers_per_gather": "0",   // needs shared memory that containers do not have
		"track_io_timing":                 "on",

		// The statement of a gateway that is gone ends, also when the
		// postmaster was killed: until it does no other one can start.
		"client_connection_check_interval": "1s",

		// Times are UTC; the log carries no values and no statements.
		"timezone":                "UTC",
		"log_timezone":            "UTC",
		"lc_messages":             "C",
		"logging_collector":       "off",
		"log_destination":         "stderr",
		"log_line_prefix":         "",
		"log_error_verbosity":     "terse",
		"log_min_error_statement": "panic",
	}
	if opts.Unsafe {
		maps.Copy(s, map[string]string{
			"fsync":              "off",
			"full_page_writes":   "off",
			"synchronous_commit": "off",
			"max_connections":    "200",
			"autovacuum":         "off",
		})
	}
	maps.Copy(s, opts.Settings)
	var args []string
	for _, name := range slices.Sorted(maps.Keys(s)) {
		args = append(args, "-c", name+"="+s[name])
	}
	return args
}
