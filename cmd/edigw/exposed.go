package main

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
)

// plain is a listener whose traffic can be read on its way.
type plain struct{ flag, address, do string }

// inTheClear gives the listeners that speak plain HTTP to more than this machine
// with no proxy in front that could end TLS: tokens and invoices go there as they
// are.
func (f listenFlags) inTheClear() (list []plain) {
	for _, l := range []struct{ flag, address, cert, certFlag string }{
		{"--listen", f.Listen, f.TLSCert, "--tls-cert and --tls-key"}, {"--ops-listen", f.OpsListen, f.OpsTLSCert, "--ops-tls-cert and --ops-tls-key"},
	} {
		if l.cert == "" && len(f.TrustedProxies) == 0 && !loopback(l.address) {
			list = append(list, plain{l.flag, l.address, "give " + l.certFlag + ", listen on 127.0.0.1, or name the proxy in front with --trusted-proxies"})
		}
	}
	return list
}

// loopback reports whether an address to listen on is of this machine alone.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.Unmap().IsLoopback()
}

func (d *doctor) inTheClear(f listenFlags) {
	for _, c := range f.inTheClear() {
		d.ill("plain HTTP", c.do, "%s %s: what is sent there, tokens too, can be read on the way", c.flag, c.address)
	}
}

// exposedSecrets says which files that secrets are read from may be read or
// changed by others than their owner.
//
// QUIRK: Docker and Kubernetes mount secrets with modes of their own, 0444 and
// 0644 if nothing else is said, so it is told and not refused.
func (a *app) exposedSecrets() (told []string) {
	if runtime.GOOS == "windows" || a.known == nil || a.parsed == nil {
		return nil // modes say nothing there
	}
	seen := map[string]bool{}
	known := settingsOf(a.parsed.Model)
	for _, key := range slices.Sorted(maps.Keys(known)) {
		f := known[key]
		if !f.Tag.Has("secret") {
			continue
		}
		_, origin, err := a.known.find(f)
		if err != nil {
			continue // it is told where the setting is read
		}
		file := origin
		if _, name, ok := strings.Cut(origin, "_FILE, "); ok {
			file = name
		} else if origin != a.known.file || a.known.keys == nil {
			continue
		}
		st, err := os.Stat(file)
		if err != nil || st.Mode().Perm()&0o077 == 0 || seen[file] {
			continue
		}
		seen[file] = true
		told = append(told, fmt.Sprintf("%s has mode %04o and holds %s: chmod 600 %s", file, st.Mode().Perm(), key, file))
	}
	return told
}

func (d *doctor) secrets() {
	for _, e := range d.exposedSecrets() {
		what, do, _ := strings.Cut(e, ": ")
		d.ill("secrets", do, "%s", what)
	}
}
